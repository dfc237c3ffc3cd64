// The data folder: created on first use, readable by its owner only, claimed by one gateway at a time.

import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../lib/localized-message.ts';
import { isExposed, isOutOfRoom } from '../lib/private-file.ts';

const PRIVATE_MODE = 0o700;

/** Closes an older folder to others, unless it is theirs too. @returns a warning if it stays open. @throws Error */
export function makeDataDir(path: string): string | undefined {
  try {
    makeFolder(resolve(path));
  } catch (error) {
    throw unusable(path, 'made', error);
  }
  try {
    // Rights alone do not tell: a file system may be mounted for reading only.
    rmdirSync(mkdtempSync(join(path, '.try-')));
  } catch (error) {
    // Model requests need no room; what does says so itself.
    if (!isOutOfRoom(error)) throw unusable(path, 'written', error);
  }
  return keepPrivate(path);
}

/** What the gateway puts there, and what editors and systems hide beside it. */
const OURS = /^(?:\.|isthmus\b|gui_config\b|secret\.key|running\.lock|logs$)/;

function keepPrivate(path: string): string | undefined {
  if (!isExposed(path)) return undefined;
  const isShared = readdirSync(path).some((name) => !OURS.test(name));
  if (!isShared) {
    try {
      chmodSync(path, PRIVATE_MODE);
    } catch {
      // Volumes of containers often belong to another user.
    }
    if (!isExposed(path)) return undefined;
  }
  const why = isShared ? 'it holds other files than the gateway’s' : 'its mode cannot be changed';
  return `Other users of this machine can look into the data folder ${path}, and ${why}. Run "chmod 700 ${path}" as its owner, or name a folder of its own with --data-dir.`;
}

/** Level by level: `recursive` of node never ends in folders such as `/proc`, where nothing can be made. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (!isFolder(parent)) makeFolder(parent);
  try {
    mkdirSync(path, { mode: PRIVATE_MODE });
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function unusable(path: string, what: 'made' | 'written', error: unknown): Error {
  const message = `The data folder ${path} cannot be ${what}: ${messageOf(error)}\nName another with --data-dir or ISTHMUS_DATA_DIR.`;
  return new Error(message, { cause: error });
}

export const SHARED_FOLDER =
  'Another gateway runs on this data folder: neither sees what is changed in the other. Stop one of them, or give this one a folder of its own with --data-dir.';

/** Runs while no gateway does on the folder. @throws Error when one does */
export async function withoutGateway(dataDir: string, work: () => Promise<void>): Promise<void> {
  const claim = claimFolder(dataDir);
  if (!claim.isOurs) {
    throw new Error(`A gateway runs on the data folder ${dataDir}. Stop it first.`);
  }
  try {
    await work();
  } finally {
    claim.release();
  }
}

const CLAIM_FILE = 'running.lock';
const SQLITE_BUSY = 5;

/** One gateway a folder, by a lock of SQLite's, which the system releases when a process is killed. */
export function claimFolder(dataDir: string) {
  const path = join(dataDir, CLAIM_FILE);
  let lock: DatabaseSync | undefined;
  try {
    closeSync(openSync(path, 'a', 0o600));
    lock = new DatabaseSync(path, { timeout: 0 });
    // Nothing is ever written: no journal has to stand beside the file.
    lock.exec('pragma journal_mode = memory; begin exclusive');
    return { isOurs: true, release: () => lock?.close() };
  } catch (error) {
    lock?.close();
    // Where the lock cannot be read, the folder counts as free.
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
    return { isOurs: !isBusy, release: () => undefined };
  }
}
