// Terminal of commands: input, secrets, tables, and readers of response fields.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { codeOf, messageOf, readSentence } from '../lib/localized-message.ts';
import { CommandError, EXIT_CODES } from './exit-codes.ts';

export type Terminal = ReturnType<typeof createTerminal>;

export function createTerminal() {
  return {
    isInteractive: process.stdin.isTTY === true,
    print: (text: string): void => console.log(text),
    /** For people only: hints and progress, kept apart from what is asked for. */
    note: (text: string): void => console.error(text),
    /** One line; '' when the input ends before. @throws the signal's reason when it aborts first */
    ask: (question: string, signal?: AbortSignal): Promise<string> =>
      askLine(question, { output: process.stderr, signal }),
    async askSecret(question: string): Promise<string> {
      process.stderr.write(question);
      // Takes the echo of what is typed.
      const output = new Writable({ write: (_chunk, _encoding, done) => done() });
      const answer = await askLine('', { output, signal: undefined });
      process.stderr.write('\n');
      return answer;
    },
    async readInput(): Promise<string> {
      const { text } = await import('node:stream/consumers');
      return text(process.stdin);
    },
    /** The command did its work, and the answer is no. */
    setFailed: (): void => {
      process.exitCode = EXIT_CODES.failed.code;
    },
    /** The command did its work, and something needs attention. */
    setAttention: (): void => {
      process.exitCode = EXIT_CODES.attention.code;
    },
  };
}

export function createAnswer(terminal: Pick<Terminal, 'print'>, json: boolean) {
  return (body: JsonObject, sayInWords: () => void): void =>
    json ? terminal.print(JSON.stringify(body, null, 2)) : sayInWords();
}

async function askLine(
  question: string,
  { output, signal }: { readonly output: Writable; readonly signal: AbortSignal | undefined },
): Promise<string> {
  // Few commands ask.
  const { createInterface } = await import('node:readline/promises');
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
  } catch (error) {
    if (signal?.aborted || codeOf(error) !== 'ABORT_ERR') throw error;
    throw new CommandError('interrupted', 'Interrupted: nothing was answered.', error);
  } finally {
    lines.close();
  }
}

/** The title of each column, and the field it shows or what is said of an object there. */
type Columns = Readonly<Record<string, string | ((object: JsonObject) => string)>>;

/** Asks before something is removed. @throws Error when the answer is no, or without a terminal and without `yes` */
export async function confirm(
  terminal: Terminal,
  { question, yes = false }: { readonly question: string; readonly yes?: boolean | undefined },
): Promise<void> {
  if (yes) return;
  if (!terminal.isInteractive) {
    throw new CommandError('usage', 'There is no terminal to ask at: add --yes to continue.');
  }
  const agreed = await terminal.ask(`${question} [y/N] `);
  if (!/^y(?:es)?$/i.test(agreed.trim())) throw new Error('Nothing was changed.');
}

/** Columns as wide as their widest cell; the titles in capitals. */
export function writeTable(columns: Columns, objects: readonly JsonObject[]): string {
  const cells = Object.values(columns);
  const rows = objects.map((object) =>
    cells.map((cell) => plain(typeof cell === 'string' ? textOf(object, cell) : cell(object))),
  );
  const lines = [Object.keys(columns).map((title) => title.toUpperCase()), ...rows];
  const widths = cells.map((_, at) => Math.max(...lines.map((line) => widthOf(line[at]))));
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)))
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

/** A file (`-` is the standard input) or a hidden prompt, never an argument; the flag is named where there is no terminal. */
interface SecretSource extends Readonly<Record<'question' | 'flag', string>> {
  readonly file: string | undefined;
}

/** A secret in one line. @throws Error when nothing was given: without a file and a terminal a flag is missing */
export async function readSecretLine(
  terminal: Terminal,
  { file, question, flag }: SecretSource,
): Promise<string> {
  const ask = () => (terminal.isInteractive ? terminal.askSecret(question) : terminal.readInput());
  const text = file === undefined ? await ask() : await readFileOrInput(terminal, file);
  if (text.trim() === '') {
    const reason = file === undefined && !terminal.isInteractive ? 'usage' : 'failed';
    throw new CommandError(reason, `Nothing was given. Name a file with ${flag}.`);
  }
  return text.trim();
}

/** Asked twice: a typing error would lock away what it seals. @throws Error when the two differ */
export async function readNewPassphrase(
  terminal: Terminal,
  file: string | undefined,
): Promise<string> {
  const question = 'New passphrase, at least 12 characters: ';
  const passphrase = await readSecretLine(terminal, { file, question, flag: '--passphrase-file' });
  if (file !== undefined || !terminal.isInteractive) return passphrase;
  const again = await terminal.askSecret('The same again: ');
  if (again.trim() === passphrase) return passphrase;
  throw new Error('The two are not the same. Nothing was written.');
}

/** A file, or the standard input for `-`. @throws Error in words for people */
export async function readFileOrInput(terminal: Terminal, path: string): Promise<string> {
  // Windows marks the encoding at the beginning.
  const unmarked = (text: string): string => text.replace(/^\ufeff/, '');
  if (path === '-') return unmarked(await terminal.readInput());
  try {
    return unmarked(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`The file cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

export function unwritable(path: string, error: unknown): Error {
  return new Error(`${path} cannot be written: ${messageOf(error)}`, { cause: error });
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

/** The one of an id, else of a name in any case. @throws Error where there is none, or several of that name */
export function pickNamed(
  objects: readonly JsonObject[],
  name: string,
  { noun, field }: Readonly<Record<'noun' | 'field', string>>,
): JsonObject {
  const byId = objects.find(({ id }) => id === name);
  if (byId !== undefined) return byId;
  const lower = name.toLowerCase();
  const fitting = objects.filter((object) => textOf(object, field).toLowerCase() === lower);
  const [found, ...more] = fitting;
  if (found === undefined) {
    throw new Error(`There is no ${noun} ${plain(name)}. "isthmus ${noun}s list" shows them.`);
  }
  if (more.length === 0) return found;
  const ids = fitting.map((object) => textOf(object, 'id')).join(', ');
  throw new Error(`Several ${noun}s are called ${plain(name)}; name one by its id: ${plain(ids)}`);
}

/** Flags of a command that may have been said. */
export type Said<Names extends string, Value> = { readonly [Name in Names]?: Value | undefined };
