// The secret of a person's key: how it is made, recognised and kept as a digest only.

import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** 160 bits. */
const SECRET_BYTES = 20;
const BODY_CHARACTERS = 31;
const CHECK_CHARACTERS = 7;
const PREFIX_CHARACTERS = 9;
const SHAPE = /^sk-[0-9a-z]{38}$/;

/** `sk-`, 160 random bits and a checksum, in digits and small letters: one double click takes it all. */
export function createKeySecret(): string {
  const value = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`);
  const body = `sk-${value.toString(36).padStart(BODY_CHARACTERS, '0')}`;
  return body + checksumOf(body);
}

/** False for keys of another kind and for misspelt ones: no need to look those up. */
export function looksLikeKeySecret(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECK_CHARACTERS);
  return checksumOf(body) === text.slice(-CHECK_CHARACTERS);
}

/** The part that may be shown. */
export function prefixOf(secret: string): string {
  return secret.slice(0, PREFIX_CHARACTERS);
}

/** Keyed, so that a stolen database does not even tell which of two guesses is a key. */
export function digestKeySecret(secret: string, digestKey: Buffer): string {
  return createHmac('sha256', digestKey).update(secret).digest('hex');
}

function checksumOf(body: string): string {
  return crc32(body).toString(36).padStart(CHECK_CHARACTERS, '0');
}
