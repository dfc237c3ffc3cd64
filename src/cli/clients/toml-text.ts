// Settings in TOML.

import { isDeepStrictEqual } from 'node:util';
import { parse, patch } from '@decimalturn/toml-patch';
import type { SettingValue } from '../../clients/client-settings.ts';
import { listTables } from '../../clients/write-settings.ts';
import {
  type Change,
  changeTree,
  eolOf,
  isTree,
  SettingsError,
  type Tree,
  valueAt,
} from './settings-tree.ts';

/** @throws SettingsError naming the line */
export function readToml(text: string): Tree {
  try {
    // Copied: objects of the parser are of its own kinds.
    return structuredClone(parse(text)) as Tree;
  } catch (error) {
    const line = error instanceof Error && 'line' in error ? error.line : undefined;
    throw new SettingsError(line === undefined ? 'It is no TOML.' : `Line ${line} is no TOML.`);
  }
}

/** A table is added at the end and cut out whole, as people do; all else is the library's to place. */
export function changeToml(text: string, tree: Tree, change: Change): string {
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
