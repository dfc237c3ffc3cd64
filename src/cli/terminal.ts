// Terminal of commands: input, secrets, tables, and readers of response fields.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { readSentence } from '../lib/localized-message.ts';
import type { AdminClient } from './admin-client.ts';

export interface Terminal {
  /** True when a person can be asked. */
  readonly isInteractive: boolean;
  print(text: string): void;
  /** For people only: hints and progress, kept apart from what is asked for. */
  note(text: string): void;
  /** One line; '' when the input ends before. @throws the signal's reason when it aborts first */
  ask(question: string, signal?: AbortSignal): Promise<string>;
  /** One line that is not shown. */
  askSecret(question: string): Promise<string>;
  /** All of the standard input. */
  readInput(): Promise<string>;
  /** The command did its work, and the answer is no. */
  setFailed(): void;
}

export function createTerminal(): Terminal {
  return {
    isInteractive: process.stdin.isTTY === true,
    print: (text) => console.log(text),
    note: (text) => console.error(text),
    ask: (question, signal) => askLine(question, { output: process.stderr, signal }),
    async askSecret(question) {
      process.stderr.write(question);
      // Takes the echo of what is typed.
      const output = new Writable({ write: (_chunk, _encoding, done) => done() });
      const answer = await askLine('', { output, signal: undefined });
      process.stderr.write('\n');
      return answer;
    },
    readInput: () => readAll(process.stdin),
    setFailed: () => {
      process.exitCode = 1;
    },
  };
}

async function askLine(
  question: string,
  { output, signal }: { readonly output: Writable; readonly signal: AbortSignal | undefined },
): Promise<string> {
  const lines = createInterface({
    input: process.stdin,
    output,
    terminal: process.stdin.isTTY === true,
  });
  // The input may end before a line did: readline then never answers a question, and emits what came.
  let unended = '';
  lines.once('line', (line) => {
    unended = line;
  });
  const ended = once(lines, 'close').then(() => unended);
  try {
    const asked =
      signal === undefined ? lines.question(question) : lines.question(question, { signal });
    return await Promise.race([asked, ended]);
  } finally {
    lines.close();
  }
}

/** Columns as wide as their widest cell; the head in capitals. */
export function writeTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head.map((title) => title.toUpperCase()), ...rows.map((row) => row.map(plain))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column]))));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Without what a terminal would obey: control characters, and marks that turn the writing around. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

function widthOf(cell: string | undefined): number {
  return [...(cell ?? '')].length;
}

/** A file, the standard input or a hidden prompt, never an argument. */
export interface SecretSource {
  /** A path; `-` is the standard input. */
  readonly file: string | undefined;
  readonly question: string;
  /** Named when there is nobody to ask. */
  readonly flag: string;
}

/** A secret in one line. @throws Error when nothing was given */
export async function readSecretLine(
  terminal: Terminal,
  { file, question, flag }: SecretSource,
): Promise<string> {
  const ask = () => (terminal.isInteractive ? terminal.askSecret(question) : terminal.readInput());
  const text = file === undefined ? await ask() : await readFileOrInput(terminal, file);
  if (text.trim() === '') throw new Error(`Nothing was given. Name a file with ${flag}.`);
  return text.trim();
}

/** A file, or the standard input for `-`. @throws Error in words for people */
export async function readFileOrInput(terminal: Terminal, path: string): Promise<string> {
  if (path === '-') return terminal.readInput();
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The file cannot be read: ${why}`, { cause: error });
  }
}

/** '' for a missing field. */
export function textOf(object: JsonObject, field: string): string {
  const value = object[field];
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  return readSentence(value)?.text ?? JSON.stringify(value);
}

export function objectOf(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? value : {};
}

export function objectsOf(object: JsonObject, field: string): readonly JsonObject[] {
  const value = object[field];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textsOf(object: JsonObject, field: string): readonly string[] {
  const value = object[field];
  return Array.isArray(value) ? value.map(String) : [];
}

export interface CommandContext {
  readonly client: AdminClient;
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** The answer as JSON instead of words. */
  readonly isJson: boolean;
}
