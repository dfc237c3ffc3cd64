// Tells when a file may have changed: by watching its folder, and by looking at it now and then.

import { watch as watchPath } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Clock, Timer } from '../lib/clock.ts';

export type WatchFolder = (
  folder: string,
  onChange: (fileName: string | null) => void,
) => { close(): void } | undefined;

/** Editors write in several steps; the file is read when they are done. */
const DEBOUNCE_MS = 100;
/** For file systems that report no changes: network shares, some container mounts. */
const POLL_MS = 2000;

export interface FollowOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly watch: WatchFolder;
  /** The stamp of the file that its reader knows, taken before it was read. */
  readonly since: string;
  onChange(): void;
}

/** Watches the folder, since editors replace files; calls `onChange` once after a burst of changes. */
export function followFile(options: FollowOptions): { close(): void } {
  const { path, clock, watch, onChange } = options;
  let isClosed = false;
  let stamp = options.since;
  let debounce: Timer | undefined;
  const later = (): void => {
    if (isClosed) return;
    debounce?.cancel();
    debounce = clock.startTimer(DEBOUNCE_MS, onChange);
  };
  const watcher = watch(dirname(path), (fileName) => {
    if (fileName === null || fileName === basename(path)) later();
  });
  const look = async (): Promise<void> => {
    const latest = await stampOf(path);
    if (latest !== stamp) later();
    stamp = latest;
    if (!isClosed) poll = clock.startTimer(POLL_MS, () => void look());
  };
  let poll = clock.startTimer(0, () => void look());
  return {
    close() {
      isClosed = true;
      watcher?.close();
      debounce?.cancel();
      poll.cancel();
    },
  };
}

/** Another one than before when the file was written, replaced or removed since. */
export async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return 'missing';
  }
}

/** Undefined where the folder cannot be watched; looking at the file is enough then. */
export function watchFolder(
  folder: string,
  onChange: (fileName: string | null) => void,
): { close(): void } | undefined {
  try {
    const watcher = watchPath(folder, { persistent: false }, (_event, name) => onChange(name));
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
