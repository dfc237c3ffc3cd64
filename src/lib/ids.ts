// Random identifiers: URL-safe, short enough for every client, unguessable.

import { randomFillSync } from 'node:crypto';

const ID_BYTES = 18;
const IDS_PER_DRAW = 256;

/** Random bytes drawn ahead, so that an id costs no system call; each is used once. */
const pool = Buffer.alloc(ID_BYTES * IDS_PER_DRAW);
let used = pool.length;

/** `prefix` followed by 24 random characters of [A-Za-z0-9_-] (144 bits). */
export function createId(prefix: string): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const id = pool.toString('base64url', used, used + ID_BYTES);
  used += ID_BYTES;
  return prefix + id;
}
