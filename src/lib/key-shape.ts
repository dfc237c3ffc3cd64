// The shape of the keys that this gateway gives to persons: told from other keys without looking them up.

import { crc32 } from 'node:zlib';

const SHAPE = /^sk-[0-9a-z]{38}$/;
const CHECK_CHARACTERS = 7;

/** False for keys of another kind and for misspelt ones. */
export function looksLikeKeySecret(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECK_CHARACTERS);
  return checksumOf(body) === text.slice(-CHECK_CHARACTERS);
}

export function checksumOf(body: string): string {
  return crc32(body).toString(36).padStart(CHECK_CHARACTERS, '0');
}
