// Time, ids and bounded maps, as the sandbox needs them.

import { randomBytes } from 'node:crypto';

/** The part of a clock that the sandbox uses. */
export interface SandboxClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects with the signal's reason when that aborts first. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

/** `prefix` followed by 24 random characters of [A-Za-z0-9_-]. */
export function createId(prefix: string): string {
  return prefix + randomBytes(18).toString('base64url');
}

/** Makes an entry the youngest of its map; the oldest goes where there are more than `most`. */
export function setLast<Key, Value>(
  map: Map<Key, Value>,
  [key, value]: readonly [Key, Value],
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  for (const first of map.keys()) {
    map.delete(first);
    return;
  }
}
