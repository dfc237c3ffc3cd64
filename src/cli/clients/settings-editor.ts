// Edits a settings file of another program: sets and removes values, and leaves every other character as it is.

import { isDeepStrictEqual } from 'node:util';
import type { SettingEntry, SettingsFormat } from '../../clients/client-settings.ts';
import { writeSettings } from '../../clients/write-settings.ts';
import {
  type Change,
  changeDotenv,
  changeJson,
  changeShell,
  changeToml,
  changeTree,
  changeYaml,
  isTree,
  readDotenv,
  readJson,
  readShell,
  readToml,
  readYaml,
  SettingsError,
  type Tree,
  valueAt,
} from './settings-formats.ts';

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

/**
 * The text with the entries set; one without anything in it becomes what a new file is.
 * @throws SettingsError when the text is not of its format, or cannot be edited without changing more
 */
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
