// Settings in YAML.

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
import type { PathStep, SettingValue } from '../../clients/client-settings.ts';
import { writeYaml, writeYamlItem } from '../../clients/write-settings.ts';
import {
  appendLines,
  type Change,
  eolOf,
  isItem,
  SettingsError,
  type Tree,
  valueAt,
} from './settings-tree.ts';

/** @throws SettingsError naming the line */
export function readYaml(text: string): unknown {
  return open(text).toJS();
}

function open(text: string): Document.Parsed {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  const [first] = document.errors;
  if (first === undefined) return document;
  const { line } = lineCounter.linePos(first.pos[0]);
  throw new SettingsError(`Line ${line} is no YAML (${first.code}).`);
}

/** What stands in lines of its own is added and removed as lines; the library writes the rest, and may indent it anew. */
export function changeYaml(text: string, tree: Tree, change: Change): string {
  const document = open(text);
  const [name, item] = change.path;
  if (typeof name !== 'string') throw new Error('A list has a name.');
  if (item === undefined) return changeField(text, document, name, change.value);
  if (typeof item === 'string') return rewrite(text, document, change);
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
    return appendLines(text, writeYaml({ [name]: value as SettingValue }));
  }
  const range = pair !== undefined && isScalar(pair.value) ? pair.value.range : undefined;
  if (range && value !== undefined && typeof value === 'string') {
    const [, ...rest] = writeYaml({ x: value }).join('\n').split(': ');
    return text.slice(0, range[0]) + rest.join(': ') + text.slice(range[1]);
  }
  const start = pair !== undefined && isScalar(pair.key) ? pair.key.range?.[0] : undefined;
  if (range && start !== undefined && value === undefined && isBlock(document))
    return cutLines(text, start, range[1]);
  return rewrite(text, document, { path: [name], value });
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
    return appendLines(text, writeYaml({ [name]: [value as SettingValue] }));
  }
  const items = valueAt(tree, [name]);
  const index = Array.isArray(items) ? items.findIndex((one) => isItem(one, item)) : -1;
  if (isSeq(list) && list.flow !== true && list.items.length > 0) {
    const [first] = list.items;
    if (index === -1 && value !== undefined)
      return insertBefore(text, first, value as SettingValue);
    const range = rangeOf(list.items[index]);
    if (value === undefined && range !== undefined && list.items.length > 1) {
      return cutLines(text, range[0], range[1]);
    }
  }
  const place = index === -1 ? 0 : index;
  if (value === undefined) document.deleteIn([name, place]);
  else if (isSeq(list) && index === -1) list.items.unshift(document.createNode(value));
  else if (isSeq(list)) document.setIn([name, place], document.createNode(value));
  else document.set(name, document.createNode([value]));
  return write(text, document);
}

/** The lines of the item with the indentation that the others have. */
function insertBefore(text: string, first: unknown, value: SettingValue): string {
  const start = text.lastIndexOf('\n', (rangeOf(first)?.[0] ?? 0) - 1) + 1;
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

function rangeOf(node: unknown): readonly [number, number] | undefined {
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

function rewrite(text: string, document: Document.Parsed, { path, value }: Change): string {
  const names = path.map(String);
  if (value === undefined) document.deleteIn(names);
  else document.setIn(names, document.createNode(value));
  return write(text, document);
}

function write(text: string, document: Document.Parsed): string {
  return document.toString({ lineWidth: 0 }).replaceAll('\n', eolOf(text));
}
