// Files of one variable a line: `.env` files, and the start files of shells.

import type { ShellFormat } from '../../clients/client-settings.ts';
import { writeDotenv, writeExport } from '../../clients/write-settings.ts';
import { appendLines, type Change, eolOf, type Tree } from './settings-tree.ts';

const DOTENV_LINE = /^\s*(?:export\s+)?([\w.-]+)\s*=\s*(.*?)\s*$/;

/** Every variable; of several lines of one name the last one counts. */
export function readDotenv(text: string): Tree {
  return readLines(text, DOTENV_LINE, unquoteDotenv);
}

function readLines(text: string, form: RegExp, unquote: (word: string) => string): Tree {
  const found = text.split('\n').map((line) => form.exec(line) ?? []);
  return Object.fromEntries(
    found.flatMap(([, name, value = '']) => (name === undefined ? [] : [[name, unquote(value)]])),
  );
}

function unquoteDotenv(text: string): string {
  const quoted = /^(["'`])(.*)\1/.exec(text);
  if (quoted === null) return text.replace(/\s#.*$/, '');
  const [, quote, inner = ''] = quoted;
  return quote === '"'
    ? inner.replace(/\\(.)/g, (_, letter) => (letter === 'n' ? '\n' : letter))
    : inner;
}

export function changeDotenv(text: string, change: Change): string {
  const name = String(change.path[0]);
  const isName = (line: string): boolean => DOTENV_LINE.exec(line.trimEnd())?.[1] === name;
  return changeLine(text, change, { isName, write: (value) => writeDotenv([name, value]) });
}

/** Lines that end so are those of `connect`: no other line of a start file is read or touched. */
const MARK = ' # isthmus';

const SHELL_LINE = /^(?:export |set -gx |\$env:)(\w+)(?:=| = | )(.*) # isthmus\s*$/;

export function readShell(text: string): Tree {
  return readLines(text, SHELL_LINE, unquoteWord);
}

function unquoteWord(word: string): string {
  if (!word.startsWith("'")) return word;
  return word
    .slice(1, -1)
    .replaceAll("'\\''", "'")
    .replaceAll("''", "'")
    .replace(/\\([\\'])/g, '$1');
}

export function changeShell(text: string, shell: ShellFormat, change: Change): string {
  const name = String(change.path[0]);
  const isName = (line: string): boolean => SHELL_LINE.exec(line)?.[1] === name;
  return changeLine(text, change, {
    isName,
    write: (value) => writeExport([name, value], shell) + MARK,
  });
}

interface LineOfVariable {
  isName(line: string): boolean;
  write(value: string): string;
}

function changeLine(text: string, { value }: Change, { isName, write }: LineOfVariable): string {
  const lines = text.split(/(?<=\n)/);
  const index = lines.findLastIndex(isName);
  if (index === -1) return value === undefined ? text : appendLines(text, [write(String(value))]);
  if (value === undefined) return lines.toSpliced(index, 1).join('');
  const end =
    /\r?\n$/.exec(lines[index] ?? '')?.[0] ?? (index === lines.length - 1 ? '' : eolOf(text));
  return lines.with(index, write(String(value)) + end).join('');
}
