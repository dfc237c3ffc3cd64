// The values of a settings file as a tree, and a change of one of them.

import type { PathStep } from '../../clients/client-settings.ts';

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

export function isItem(item: unknown, { field, is }: Exclude<PathStep, string>): boolean {
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
export function changeTree(tree: Tree, { path, value }: Change): Tree {
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

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

export function eolOf(text: string): '\r\n' | '\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** With lines added at the end, which begin on a line of their own. */
export function appendLines(text: string, lines: readonly string[]): string {
  const eol = eolOf(text);
  const gap = text === '' || text.endsWith('\n') ? '' : eol;
  return `${text}${gap}${lines.map((line) => line + eol).join('')}`;
}
