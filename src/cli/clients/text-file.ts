// Text files of other programs: read whole, and replaced at once with the rights that they had.

import { randomBytes } from 'node:crypto';
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
import { messageOf } from '../../lib/localized-message.ts';
import { codeOf } from '../../lib/private-file.ts';
import { SettingsError } from './settings-formats.ts';

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

/**
 * A file behind a link is replaced where it is. What is new can be read by its owner alone, since it holds a key.
 * @returns the folders that had to be made, outermost first
 */
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
