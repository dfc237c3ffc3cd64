// Files of clients: what `connect` wrote into one (made, found again, taken back), and how they are read and replaced.

import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { PathStep, SettingEntry, SettingsFormat } from '../../clients/client-settings.ts';
import { compareLines } from '../../lib/difference.ts';
import { codeOf, messageOf } from '../../lib/localized-message.ts';
import {
  applyChanges,
  type Change,
  eolOf,
  hasComments,
  isTree,
  readTree,
  SettingsError,
  setEntries,
  type Tree,
  valueAt,
} from './settings-formats.ts';

/** Kept in the data folder. */
export interface WrittenFile {
  readonly path: string;
  readonly format: SettingsFormat;
  /** The whole text before; null where there was no file. */
  readonly before: string | null;
  /** Of the text that was written: tells whether the file was edited since. */
  readonly digest: string;
  readonly changes: readonly WrittenChange[];
  /** Folders that were made for it, outermost first. */
  readonly folders: readonly string[];
}

interface WrittenChange {
  readonly path: readonly PathStep[];
  readonly value: unknown;
  readonly volatile?: readonly string[];
  /** Absent where there was none. */
  readonly before?: unknown;
  /** How much of the path was there. */
  readonly depth: number;
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** @throws SettingsError when the text cannot be edited */
export function writeEntries(
  format: SettingsFormat,
  text: string | undefined,
  entries: readonly SettingEntry[],
): { readonly text: string; readonly changes: readonly WrittenChange[] } {
  const tree = text === undefined ? {} : readTree(format, text);
  const next = setEntries(format, text ?? '', entries);
  const changes = entries
    .filter(({ path, onlyIfMissing }) => !onlyIfMissing || valueAt(tree, path) === undefined)
    .filter(({ path, value }) => !isDeepStrictEqual(valueAt(tree, path), value))
    .map(({ path, value, volatile }) => {
      const before = valueAt(tree, path);
      const depth = path.findIndex((_, at) => valueAt(tree, path.slice(0, at + 1)) === undefined);
      const known = {
        ...{ path, value, depth: depth === -1 ? path.length : depth },
        ...(volatile === undefined ? {} : { volatile }),
      };
      return before === undefined ? known : { ...known, before };
    });
  return { text: next, changes };
}

/**
 * The text without what was written: as it was before where it was not edited since, else with each value put back that
 * still is the written one. Undefined: the file goes.
 * @throws SettingsError when the text cannot be edited any more
 */
export function takeBack(text: string | undefined, written: WrittenFile): string | undefined {
  if (text === undefined) return undefined;
  if (digestOf(text) === written.digest) return written.before ?? undefined;
  const { format } = written;
  const tree = readTree(format, text);
  const changes = written.changes
    .filter((change) => isStillThere(valueAt(tree, change.path), change))
    .map(({ path, before, depth }) => ({ path, value: before, depth }));
  let current = applyChanges(format, text, changes);
  for (const { path, value, depth } of changes) {
    if (value === undefined) current = pruneEmpty(format, current, path, depth);
  }
  if (isRewritten(written, current)) return written.before ?? undefined;
  const byLines = takeBackLines(text, written);
  if (byLines !== undefined && isSame(format, byLines, current)) return byLines;
  const isOnlyOurs = written.before === null && Object.keys(readTree(format, current)).length === 0;
  return isOnlyOurs && /^[\s{}]*$/.test(current) ? undefined : current;
}

/** Lines that were written give way to those before them: what stands beside the values comes back with them. */
function takeBackLines(
  text: string,
  { format, before, digest, changes }: WrittenFile,
): string | undefined {
  if (before === null) return undefined;
  const then = setEntries(format, before, changes as readonly SettingEntry[]);
  return digestOf(then) === digest ? revertLines(before, then, text) : undefined;
}

function isSame(format: SettingsFormat, lines: string, text: string): boolean {
  try {
    return isDeepStrictEqual(readTree(format, lines), readTree(format, text));
  } catch (error) {
    if (error instanceof SettingsError) return false;
    throw error;
  }
}

function isStillThere(current: unknown, { value, volatile = [] }: WrittenChange): boolean {
  return isDeepStrictEqual(without(current, volatile), without(value, volatile));
}

function without(value: unknown, fields: readonly string[]): unknown {
  if (!isTree(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !fields.includes(name)));
}

/** Whether the client only reordered or reformatted its file, without a comment of somebody's own. */
function isRewritten({ format, before }: WrittenFile, text: string): boolean {
  if (before === null || format !== 'json' || hasComments(text)) return false;
  return isDeepStrictEqual(readTree(format, text), readTree(format, before));
}

/** Objects and lists that were made for a value go with it when nothing else came into them. */
function pruneEmpty(
  format: SettingsFormat,
  text: string,
  path: readonly PathStep[],
  depth: number,
): string {
  for (let length = path.length - 1; length > depth; length -= 1) {
    const parent = path.slice(0, length);
    if (!isEmpty(valueAt(readTree(format, text), parent))) return text;
    const change: Change = { path: parent, value: undefined };
    text = applyChanges(format, text, [change]);
  }
  return text;
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isTree(value) && Object.keys(value satisfies Tree).length === 0;
}

interface Step {
  readonly added: string[];
  /** Where it stays. */
  line?: string;
}

/** @param after what the change made of `before`. @returns undefined where its lines changed since */
function revertLines(before: string, after: string, later: string): string | undefined {
  const back = stepsFrom(after, before);
  const since = stepsFrom(after, later);
  const lines: string[] = [];
  for (const [index, { added, line }] of back.entries()) {
    const own = since[index] ?? { added: [] };
    const isEnd = index === back.length - 1;
    if (!isEnd && line === undefined && own.line === undefined) return undefined;
    lines.push(...added, ...own.added);
    if (line !== undefined && own.line !== undefined) lines.push(line);
  }
  const eol = eolOf(before);
  return lines
    .map((line, index) => (index === lines.length - 1 || line.endsWith('\n') ? line : line + eol))
    .join('');
}

/** For each line of the first text, and for its end, what the second has before it. */
function stepsFrom(first: string, second: string): readonly Step[] {
  const steps: Step[] = [{ added: [] }];
  for (const { kind, text } of compareLines(splitLines(first), splitLines(second))) {
    const step = steps.at(-1) as Step;
    if (kind === 'added') step.added.push(text);
    if (kind === 'same') step.line = text;
    if (kind !== 'added') steps.push({ added: [] });
  }
  return steps;
}

/** Each with its end. */
function splitLines(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

// Text files of other programs: read whole, and replaced at once with the rights that they had.

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** Undefined where there is none. @throws SettingsError when it cannot be read, or is no text in UTF-8 */
export function readText(path: string): string | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new SettingsError(`It cannot be read: ${messageOf(error)}.`, { cause: error });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SettingsError('It is no text in UTF-8.');
  }
}

/** Replaces the file behind a link. New files are private: they hold a key. @returns new folders, outermost first */
export function replaceText(path: string, text: string): readonly string[] {
  const target = behindLinks(path);
  const before = statSync(target, { throwIfNoEntry: false });
  const made = makeFolders(dirname(target));
  const built = `${target}.${randomBytes(6).toString('hex')}.new`;
  try {
    const file = openSync(built, 'wx', PRIVATE_FILE);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (before !== undefined) {
      chmodSync(built, before.mode & 0o7777);
      // Somebody else's file stays theirs; only root can write it here without being them.
      if (process.getuid?.() === 0) chownSync(built, before.uid, before.gid);
    }
    renameSync(built, target);
  } finally {
    rmSync(built, { force: true });
  }
  return made;
}

/** A link to it stays. */
export function removeText(path: string): void {
  rmSync(behindLinks(path), { force: true });
}

/** Also behind a link that leads to nothing yet. */
function behindLinks(path: string): string {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  return behindLinks(resolve(realpathSync(dirname(path)), readlinkSync(path)));
}

function makeFolders(path: string): readonly string[] {
  if (existsSync(path)) return [];
  const outer = makeFolders(dirname(path));
  mkdirSync(path, { mode: PRIVATE_FOLDER });
  return [...outer, path];
}

/** @param folders outermost first; those that something else was put into stay */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
    }
  }
}
