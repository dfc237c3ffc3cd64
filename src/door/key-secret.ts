// The secret of a person's key: how it is made and kept as a digest only.

import { createHmac, randomBytes } from 'node:crypto';
import { checksumOf } from '../lib/key-shape.ts';

/** 160 bits. */
const SECRET_BYTES = 20;
const BODY_CHARACTERS = 31;
const PREFIX_CHARACTERS = 9;

/** `sk-`, 160 random bits and a checksum, in digits and small letters: one double click takes it all. */
export function createKeySecret(): string {
  const value = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`);
  const body = `sk-${value.toString(36).padStart(BODY_CHARACTERS, '0')}`;
  return body + checksumOf(body);
}

/** The part that may be shown. */
export function prefixOf(secret: string): string {
  return secret.slice(0, PREFIX_CHARACTERS);
}

/** Keyed, so that a stolen database does not even tell which of two guesses is a key. */
export function digestKeySecret(secret: string, digestKey: Buffer): string {
  return createHmac('sha256', digestKey).update(secret).digest('hex');
}
