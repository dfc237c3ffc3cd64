// AES-256-GCM over short texts: a fresh nonce each time, with a context that must be the same to open.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export interface CipherContext {
  /** 32 bytes. */
  readonly key: Buffer;
  /** Bound to the text, not secret. */
  readonly context: string;
}

/** NIST SP 800-38D §8.2.2: random nonces of 96 bits, far below 2^32 of them under one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Nonce, text and tag in base64url. */
export function encrypt(plain: string, { key, context }: CipherContext): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(context, 'utf8'));
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
}

/** Undefined when the key or the context is another, or a byte was changed. */
export function decrypt(sealed: string, { key, context }: CipherContext): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context, 'utf8'));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  try {
    const body = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
