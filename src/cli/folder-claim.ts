// One data folder belongs to one running gateway: what another one changes is not seen before a restart.

import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface FolderClaim {
  /** False while another process has the folder; true as well where nobody can tell. */
  readonly isOurs: boolean;
  release(): void;
}

const CLAIM_FILE = 'running.lock';
const SQLITE_BUSY = 5;

/**
 * Claims the folder as long as this process lives. The lock is SQLite's on an empty file: the system
 * takes it back from a process that is killed, and node has no other that it would.
 */
export function claimFolder(dataDir: string): FolderClaim {
  const path = join(dataDir, CLAIM_FILE);
  let lock: DatabaseSync | undefined;
  try {
    closeSync(openSync(path, 'a', 0o600));
    lock = new DatabaseSync(path, { timeout: 0 });
    // Nothing is ever written: no journal has to stand beside the file.
    lock.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    lock?.close();
    return { isOurs: !isBusy(error), release: () => undefined };
  }
  const held = lock;
  return { isOurs: true, release: () => held.close() };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
