// Random identifiers: URL-safe, short enough for every client, unguessable.

import { randomBytes } from 'node:crypto';

/** `prefix` followed by 24 random characters of [A-Za-z0-9_-] (144 bits). */
export function createId(prefix: string): string {
  return prefix + randomBytes(18).toString('base64url');
}
