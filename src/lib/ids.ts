// Random identifiers: URL-safe, short enough for every client, unguessable; and pseudonyms of names.

import { createHmac, randomFillSync } from 'node:crypto';

const ID_BYTES = 18;
const TIME_BYTES = 6;
const IDS_PER_DRAW = 256;

/** Random bytes drawn ahead, so that an id costs no system call; each is used once. */
const pool = Buffer.alloc(ID_BYTES * IDS_PER_DRAW);
let used = pool.length;

/**
 * `prefix` followed by 24 random characters of [A-Za-z0-9_-] (144 bits).
 * @param now of an id whose first 8 characters are of the time (milliseconds since the epoch), so that ids of the same
 *   time stand together in an index; 96 bits are random then
 */
export function createId(prefix: string, now?: number): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  if (now !== undefined) pool.writeUIntBE(Math.floor(now), used, TIME_BYTES);
  const id = pool.toString('base64url', used, used + ID_BYTES);
  used += ID_BYTES;
  // In one piece: `long-text.ts` says why.
  return [prefix, id].join('');
}

const CHARACTERS = 16;

/** @returns the same word for the same name, which nobody without the key finds out */
export function createPseudonyms(key: string | Uint8Array): (name: string) => string {
  return (name) => createHmac('sha256', key).update(name).digest('hex').slice(0, CHARACTERS);
}
