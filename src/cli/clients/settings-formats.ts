// Reads settings files of other programs (JSON, TOML, YAML, variables) as trees, and edits their text.

import { isDeepStrictEqual } from 'node:util';
import { parse, patch } from '@decimalturn/toml-patch';
import {
  applyEdits,
  type Edit,
  type FormattingOptions,
  findNodeAtLocation,
  format,
  modify,
  type ParseError,
  parse as parseJsonText,
  parseTree,
  printParseErrorCode,
  type Range,
  visit,
} from 'jsonc-parser';
import {
  type Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import type {
  PathStep,
  SettingEntry,
  SettingsFormat,
  SettingValue,
  ShellFormat,
} from '../../clients/client-settings.ts';
import {
  listTables,
  writeDotenv,
  writeExport,
  writeSettings,
  writeYaml,
  writeYamlItem,
} from '../../clients/write-settings.ts';

export type Tree = { [name: string]: unknown };

/** The value at a path is to be this; undefined: it is to be gone. */
export interface Change {
  readonly path: readonly PathStep[];
  readonly value: unknown;
}

export class SettingsError extends Error {}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isItem(item: unknown, { field, is }: Exclude<PathStep, string>): boolean {
  return isTree(item) && item[field] === is;
}

export function valueAt(tree: unknown, path: readonly PathStep[]): unknown {
  let value = tree;
  for (const step of path) {
    if (typeof step !== 'string') {
      value = Array.isArray(value) ? value.find((item) => isItem(item, step)) : undefined;
    } else {
      value = isTree(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    }
  }
  return value;
}

/** A copy of the tree with the change. A new item of a list comes first: that is the one a client starts with. */
function changeTree(tree: Tree, { path, value }: Change): Tree {
  const [step, ...rest] = path;
  if (typeof step !== 'string') throw new Error('A list has a name.');
  const copy = { ...tree };
  const [next] = rest;
  if (next === undefined) {
    if (value === undefined) delete copy[step];
    else copy[step] = value;
  } else if (typeof next === 'object') {
    copy[step] = changeList(copy[step], next, value);
  } else {
    const inner = copy[step];
    copy[step] = changeTree(isTree(inner) ? inner : {}, { path: rest, value });
  }
  return copy;
}

function changeList(list: unknown, step: Exclude<PathStep, string>, value: unknown): unknown[] {
  const items: unknown[] = Array.isArray(list) ? [...list] : [];
  const index = items.findIndex((item) => isItem(item, step));
  if (value === undefined) items.splice(index, index === -1 ? 0 : 1);
  else if (index === -1) items.unshift(value);
  else items[index] = value;
  return items;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

export function eolOf(text: string): '\r\n' | '\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function appendLines(text: string, lines: readonly string[]): string {
  const eol = eolOf(text);
  const gap = text === '' || text.endsWith('\n') ? '' : eol;
  return `${text}${gap}${lines.map((line) => line + eol).join('')}`;
}

// Settings in JSON, with the comments and trailing commas that many programs take there.

function readJson(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parseJsonText(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first === undefined || text.trim() === '') return value;
  const reason = printParseErrorCode(first.error);
  throw new SettingsError(`Line ${lineAt(text, first.offset)} is no JSON (${reason}).`);
}

function changeJson(text: string, tree: Tree, { path, value }: Change): string {
  const formattingOptions = isInOneLine(text, path) ? undefined : styleOf(text);
  const steps: (string | number)[] = [];
  for (const [depth, step] of path.entries()) {
    if (typeof step === 'string') {
      steps.push(step);
      continue;
    }
    const list = valueAt(tree, path.slice(0, depth));
    // Items are the last steps of their paths.
    if (!Array.isArray(list)) return applyJson(text, steps, [value], { formattingOptions });
    const index = list.findIndex((item) => isItem(item, step));
    const isArrayInsertion = index === -1;
    return applyJson(text, [...steps, Math.max(0, index)], value, {
      formattingOptions,
      isArrayInsertion,
    });
  }
  return applyJson(text, steps, value, { formattingOptions });
}

export function hasComments(text: string): boolean {
  let found = false;
  visit(text, {
    onComment: () => {
      found = true;
    },
  });
  return found;
}

function isInOneLine(text: string, path: Change['path']): boolean {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) return false;
  let inner = root;
  for (const step of path.slice(0, -1)) {
    const found = typeof step === 'string' ? findNodeAtLocation(inner, [step]) : undefined;
    if (found?.type !== 'object' && found?.type !== 'array') break;
    inner = found;
  }
  const written = text.slice(inner.offset, inner.offset + inner.length);
  return (inner.children ?? []).length > 0 && !written.includes('\n');
}

function applyJson(
  text: string,
  steps: (string | number)[],
  value: unknown,
  { formattingOptions, isArrayInsertion }: JsonStyle,
): string {
  const edits = modify(text, steps, value, isArrayInsertion === true ? { isArrayInsertion } : {});
  const next = applyEdits(text, edits);
  const [edit] = edits;
  if (formattingOptions === undefined || edit === undefined) return next;
  return applyEdits(next, format(next, rangeOfEdit(next, edit), formattingOptions));
}

/** What an edit put there; where nothing stood or stands there, with the space around it. The library would take whole lines. */
function rangeOfEdit(next: string, { offset, length, content }: Edit): Range {
  let [start, end] = [offset, offset + content.length];
  if (length > 0 && content !== '') return { offset: start, length: end - start };
  const isSpace = (at: number): boolean => /\s/.test(next[at] ?? '');
  while (isSpace(start - 1)) start -= 1;
  while (isSpace(end)) end += 1;
  return { offset: start - 1, length: end - start + 2 };
}

interface JsonStyle {
  readonly formattingOptions: FormattingOptions | undefined;
  readonly isArrayInsertion?: boolean;
}

/** New lines look as the old ones do. */
function styleOf(text: string): FormattingOptions {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? [];
  const insertSpaces = !indent.startsWith('\t');
  return { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol: eolOf(text) };
}

// Settings in TOML.

function readToml(text: string): Tree {
  try {
    // Copied: objects of the parser are of its own kinds.
    return structuredClone(parse(text)) as Tree;
  } catch (error) {
    const line = error instanceof Error && 'line' in error ? error.line : undefined;
    throw new SettingsError(line === undefined ? 'It is no TOML.' : `Line ${line} is no TOML.`);
  }
}

/** A table is added at the end and cut out whole, as people do; all else is the library's to place. */
function changeToml(text: string, tree: Tree, change: Change): string {
  const wanted = changeTree(tree, change);
  const names = change.path.map(String);
  const before = valueAt(tree, change.path);
  const whole =
    isTable(change.value) && before === undefined ? addTable(text, names, change.value) : undefined;
  const cut = change.value === undefined && isTree(before) ? cutTable(text, names) : undefined;
  const plain = whole ?? cut;
  if (plain !== undefined && isWanted(plain, wanted)) return plain;
  // The library would write all of them in one way.
  if (/\r\n/.test(text) && /(?<!\r)\n/.test(text)) {
    throw new SettingsError('Its lines end in two ways: let all end in one, and try again.');
  }
  return patch(text, wanted);
}

type Table = { [name: string]: SettingValue };

function isTable(value: unknown): value is Table {
  return isTree(value);
}

function isWanted(text: string, wanted: Tree): boolean {
  try {
    return isDeepStrictEqual(readToml(text), wanted);
  } catch {
    return false;
  }
}

function addTable(text: string, names: readonly string[], table: Table): string {
  const eol = eolOf(text);
  const gap = text.endsWith('\n') ? eol : eol + eol;
  const lines = listTables(names, table).join('\n\n').replaceAll('\n', eol);
  return `${text}${gap}${lines}${eol}`;
}

/** Without the table of that name: from the blank line before its head to the next head. */
function cutTable(text: string, names: readonly string[]): string | undefined {
  const lines = text.split(/(?<=\n)/);
  const start = lines.findIndex((line) => line.trim() === `[${names.join('.')}]`);
  if (start === -1) return undefined;
  const rest = lines.slice(start + 1);
  const length = rest.findIndex((line) => /^\s*(?:\[|$)/.test(line));
  const from = lines[start - 1]?.trim() === '' ? start - 1 : start;
  return [...lines.slice(0, from), ...(length === -1 ? [] : rest.slice(length))].join('');
}

// Settings in YAML.

function readYaml(text: string): unknown {
  return openYaml(text).toJS();
}

function openYaml(text: string): Document.Parsed {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  const [first] = document.errors;
  if (first === undefined) return document;
  const { line } = lineCounter.linePos(first.pos[0]);
  throw new SettingsError(`Line ${line} is no YAML (${first.code}).`);
}

/** Values on lines of their own are added and removed as lines; the library writes the rest, and may indent it anew. */
function changeYaml(text: string, tree: Tree, change: Change): string {
  const document = openYaml(text);
  const [name, item] = change.path;
  if (typeof name !== 'string') throw new Error('A list has a name.');
  if (item === undefined) return changeField(text, document, name, change.value);
  if (typeof item === 'string') return rewriteYaml(text, document, change);
  return changeItem(text, document, { name, item, tree, value: change.value });
}

function changeField(
  text: string,
  document: Document.Parsed,
  name: string,
  value: unknown,
): string {
  const pair = pairOf(document, name);
  if (pair === undefined && isBlock(document)) {
    return appendToYaml(text, document, writeYaml({ [name]: value as SettingValue }));
  }
  const range = pair !== undefined && isScalar(pair.value) ? pair.value.range : undefined;
  if (range && value !== undefined && typeof value === 'string') {
    const [, ...rest] = writeYaml({ x: value }).join('\n').split(': ');
    return text.slice(0, range[0]) + rest.join(': ') + text.slice(range[1]);
  }
  const start = pair !== undefined && isScalar(pair.key) ? pair.key.range?.[0] : undefined;
  if (range && start !== undefined && value === undefined && isBlock(document))
    return cutLines(text, start, range[1]);
  return rewriteYaml(text, document, { path: [name], value });
}

interface ItemChange {
  readonly name: string;
  readonly item: Exclude<PathStep, string>;
  readonly tree: Tree;
  readonly value: unknown;
}

function changeItem(
  text: string,
  document: Document.Parsed,
  { name, item, tree, value }: ItemChange,
): string {
  const pair = pairOf(document, name);
  const list = pair?.value;
  if (pair === undefined && value !== undefined && isBlock(document)) {
    return appendToYaml(text, document, writeYaml({ [name]: [value as SettingValue] }));
  }
  const items = valueAt(tree, [name]);
  const index = Array.isArray(items) ? items.findIndex((one) => isItem(one, item)) : -1;
  if (isSeq(list) && list.flow !== true && list.items.length > 0) {
    const [first] = list.items;
    if (index === -1 && value !== undefined)
      return insertBefore(text, first, value as SettingValue);
    const range = rangeOfNode(list.items[index]);
    if (value === undefined && range !== undefined && list.items.length > 1) {
      return cutLines(text, range[0], range[1]);
    }
  }
  const place = index === -1 ? 0 : index;
  if (value === undefined) document.deleteIn([name, place]);
  else if (isSeq(list) && index === -1) list.items.unshift(document.createNode(value));
  else if (isSeq(list)) document.setIn([name, place], document.createNode(value));
  else document.set(name, document.createNode([value]));
  return writeDocument(text, document);
}

/** In front of the mark that ends a document (`...`), where there is one. */
function appendToYaml(text: string, document: Document.Parsed, lines: readonly string[]): string {
  const { range, directives } = document;
  const isMarked = directives?.docEnd === true;
  const end = isMarked ? range[1] + text.slice(range[1]).search(/^\.{3}/m) : text.length;
  return appendLines(text.slice(0, end), lines) + text.slice(end);
}

/** The lines of the item with the indentation that the others have. */
function insertBefore(text: string, first: unknown, value: SettingValue): string {
  const start = text.lastIndexOf('\n', (rangeOfNode(first)?.[0] ?? 0) - 1) + 1;
  const indent = /^ */.exec(text.slice(start))?.[0] ?? '';
  const eol = eolOf(text);
  const lines = writeYamlItem(value).map((line) => indent + line.slice(2) + eol);
  return text.slice(0, start) + lines.join('') + text.slice(start);
}

/** From the line that holds the start to the end of the line that holds the end. */
function cutLines(text: string, start: number, end: number): string {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const isWhole = text[end - 1] === '\n';
  const next = text.indexOf('\n', end);
  const to = isWhole ? end : next === -1 ? text.length : next + 1;
  return text.slice(0, from) + text.slice(to);
}

function rangeOfNode(node: unknown): readonly [number, number] | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node)) return undefined;
  const range = node.range as readonly [number, number, number] | null | undefined;
  return range ? [range[0], range[1]] : undefined;
}

function pairOf(document: Document.Parsed, name: string) {
  if (!isMap(document.contents)) return undefined;
  const pairs = (document.contents as YAMLMap).items;
  return pairs.find((pair) => isPair(pair) && isScalar(pair.key) && pair.key.value === name);
}

/** Lines may be added at its end. */
function isBlock({ contents }: Document.Parsed): boolean {
  return contents === null || (isMap(contents) && contents.flow !== true);
}

function rewriteYaml(text: string, document: Document.Parsed, { path, value }: Change): string {
  const names = path.map(String);
  if (value === undefined) document.deleteIn(names);
  else document.setIn(names, document.createNode(value));
  return writeDocument(text, document);
}

function writeDocument(text: string, document: Document.Parsed): string {
  return document.toString({ lineWidth: 0 }).replaceAll('\n', eolOf(text));
}

// Files of one variable a line: `.env` files, and the start files of shells.

const DOTENV_LINE = /^\s*(?:export\s+)?([\w.-]+)\s*=\s*(.*)/;

/** Every variable; of several lines of one name the last one counts. */
function readDotenv(text: string): Tree {
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
  if (quoted === null) return text.replace(/\s#.*/, '').trimEnd();
  const [, quote, inner = ''] = quoted;
  return quote === '"'
    ? inner.replace(/\\(.)/g, (_, letter) => (letter === 'n' ? '\n' : letter))
    : inner;
}

function changeDotenv(text: string, change: Change): string {
  const name = String(change.path[0]);
  const isName = (line: string): boolean => DOTENV_LINE.exec(line.trimEnd())?.[1] === name;
  return changeLine(text, change, { isName, write: (value) => writeDotenv([name, value]) });
}

/** Lines that end so are those of `connect`: no other line of a start file is read or touched. */
const MARK = ' # isthmus';

const SHELL_LINE = /^(?:export |set -gx |\$env:)(\w+)(?:=| = | )(.*) # isthmus\s*$/;

function readShell(text: string): Tree {
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

function changeShell(text: string, shell: ShellFormat, change: Change): string {
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

// Edits a settings file of another program: sets and removes values, and leaves every other character as it is.

interface Editor {
  /** @throws SettingsError naming the line where the text is not of its format */
  read(text: string): unknown;
  change(text: string, tree: Tree, change: Change): string;
}

const EDITORS: Readonly<Record<SettingsFormat, Editor>> = {
  json: { read: readJson, change: changeJson },
  toml: { read: readToml, change: changeToml },
  yaml: { read: readYaml, change: changeYaml },
  dotenv: { read: readDotenv, change: (text, _tree, change) => changeDotenv(text, change) },
  posix: { read: readShell, change: (text, _tree, change) => changeShell(text, 'posix', change) },
  fish: { read: readShell, change: (text, _tree, change) => changeShell(text, 'fish', change) },
  powershell: {
    read: readShell,
    change: (text, _tree, change) => changeShell(text, 'powershell', change),
  },
};

/** @throws SettingsError naming the line where the text is not of its format */
export function readTree(format: SettingsFormat, text: string): Tree {
  const tree = EDITORS[format].read(splitMark(text).body) ?? {};
  if (isTree(tree)) return tree;
  throw new SettingsError('Its top is no object.');
}

const IS_SHELL: ReadonlySet<SettingsFormat> = new Set(['posix', 'fish', 'powershell']);

/** The text with the entries set. @throws SettingsError when it cannot be read, or edited by them alone */
export function setEntries(
  format: SettingsFormat,
  text: string,
  entries: readonly SettingEntry[],
): string {
  if (text.trim() === '' && !IS_SHELL.has(format)) return writeSettings(format, entries);
  const tree = readTree(format, text);
  const changes = entries.filter(
    ({ path, onlyIfMissing }) => onlyIfMissing !== true || valueAt(tree, path) === undefined,
  );
  return applyChanges(format, text, changes);
}

/** @throws SettingsError as `setEntries` */
export function applyChanges(
  format: SettingsFormat,
  text: string,
  changes: readonly Change[],
): string {
  let current = text;
  for (const change of changes) {
    const tree = readTree(format, current);
    if (isDeepStrictEqual(valueAt(tree, change.path), change.value)) continue;
    refuseOtherKinds(tree, change);
    const { mark, body } = splitMark(current);
    const next = mark + EDITORS[format].change(body, tree, change);
    // Some files say one thing twice, or are built in ways that no editor follows.
    if (!isDeepStrictEqual(readTree(format, next), changeTree(tree, change))) {
      throw new SettingsError(
        'It is written in a way that cannot be edited without changing more.',
      );
    }
    current = next;
  }
  return current;
}

/** What stands above a value has to be an object, or a list where an item is meant. */
function refuseOtherKinds(tree: Tree, { path }: Change): void {
  for (const [depth, step] of path.entries()) {
    const above = depth === 0 ? tree : valueAt(tree, path.slice(0, depth));
    if (above === undefined) return;
    const isRight = typeof step === 'string' ? isTree(above) : Array.isArray(above);
    if (isRight) continue;
    const name = path.slice(0, depth).join('.');
    throw new SettingsError(`Its "${name}" is no ${typeof step === 'string' ? 'object' : 'list'}.`);
  }
}

/** Some editors of Windows begin a file with it. */
function splitMark(text: string): { readonly mark: string; readonly body: string } {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
  return { mark, body: text.slice(mark.length) };
}
