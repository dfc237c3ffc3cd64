// Files only their owner may read: made whole or not at all, and repaired when others may read them.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './localized-message.ts';

const PRIVATE_MODE = 0o600;
const OTHERS = 0o077;

/** Puts a finished, closed file in its place for good; it is gone from where it was built. */
export function placeFile(builtPath: string, path: string): 'placed' | 'already-there' {
  try {
    flush(builtPath);
    // A link, unlike a rename, never replaces what another process has put there meanwhile.
    linkSync(builtPath, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return 'already-there';
    throw error;
  } finally {
    rmSync(builtPath, { force: true });
  }
  flush(dirname(path));
  return 'placed';
}

/** Puts a finished, closed file in the place of another for good. */
export function replaceFile(builtPath: string, path: string): void {
  flush(builtPath);
  renameSync(builtPath, path);
  flush(dirname(path));
}

/** An empty file of this process alone beside `path`, to be built and then placed. */
export function createPrivateFile(path: string): string {
  const builtPath = `${path}.${randomBytes(6).toString('hex')}.new`;
  const file = openSync(builtPath, 'wx', PRIVATE_MODE);
  try {
    fchmodSync(file, PRIVATE_MODE);
  } finally {
    closeSync(file);
  }
  return builtPath;
}

/** Writes a new private file that is durable when this returns; nothing is left of one that fails. */
export function writePrivateFile(
  path: string,
  text: string,
  write: (file: number, text: string) => void = writeFileSync,
): 'placed' | 'already-there' {
  const builtPath = createPrivateFile(path);
  try {
    const file = openSync(builtPath, 'r+');
    try {
      write(file, text);
    } finally {
      closeSync(file);
    }
    return placeFile(builtPath, path);
  } finally {
    rmSync(builtPath, { force: true });
  }
}

/**
 * Takes the rights of everyone but the owner away.
 * @returns `exposed` when others still have rights: the file system or its owner does not let us.
 */
export function makePrivate(
  path: string,
  changeMode: (file: number, mode: number) => void = fchmodSync,
): 'private' | 'repaired' | 'exposed' {
  if (!isExposed(path)) return 'private';
  try {
    const file = openSync(path, 'r');
    try {
      changeMode(file, PRIVATE_MODE);
    } finally {
      closeSync(file);
    }
  } catch {
    return 'exposed';
  }
  return isExposed(path) ? 'exposed' : 'repaired';
}

/** Whether others than its owner have any rights. */
export function isExposed(path: string): boolean {
  // Windows has no such modes: its files follow the rights of their folder.
  return process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0;
}

/** Windows flushes only what was opened for writing, and no folders, whose entries it keeps in its journal. */
function flush(path: string): void {
  const isWindows = process.platform === 'win32';
  if (isWindows && statSync(path).isDirectory()) return;
  const file = openSync(path, isWindows ? 'r+' : 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** True for a full disk or an exceeded disk quota, which need another remedy than missing rights. */
export function isOutOfRoom(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
