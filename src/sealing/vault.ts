// Seals texts with the secret key, each bound to the place it stands in.

import { decrypt, encrypt } from './cipher.ts';
import type { SecretKey } from './secret-key.ts';

export interface Vault {
  readonly keyId: string;
  /** `context` names the place, such as table, row and column: sealed text opens in no other. */
  seal(plain: string, context: string): string;
  /** @throws SealError */
  open(sealed: string, context: string): string;
}

/**
 * `foreign-key` sealed with another key · `damaged` changed, cut or moved from another place ·
 * `malformed` no sealed text at all, or of a later version.
 */
export type SealFault = 'foreign-key' | 'damaged' | 'malformed';

/** The message never holds the text. */
export class SealError extends Error {
  readonly fault: SealFault;

  constructor(fault: SealFault, message: string) {
    super(message);
    this.name = 'SealError';
    this.fault = fault;
  }
}

/** `sealed:v1:<key id>:<nonce, text and tag in base64url>`. */
const SEALED = /^sealed:v1:([0-9a-f]{12}):([A-Za-z0-9_-]+)$/;

export function createVault(key: SecretKey): Vault {
  const cipherKey = key.derive('vault v1');
  const bind = (context: string) => ({ key: cipherKey, context: `v1 ${key.id} ${context}` });
  return {
    keyId: key.id,
    seal: (plain, context) => `sealed:v1:${key.id}:${encrypt(plain, bind(context))}`,
    open(sealed, context) {
      const [, keyId, body] = SEALED.exec(sealed) ?? [];
      if (keyId === undefined || body === undefined) {
        throw new SealError('malformed', 'This is not a sealed text of a known version.');
      }
      if (keyId !== key.id) {
        throw new SealError(
          'foreign-key',
          `It was sealed with another key (${keyId}) than the one in use (${key.id}, from ${key.origin}).`,
        );
      }
      const plain = decrypt(body, bind(context));
      if (plain !== undefined) return plain;
      throw new SealError('damaged', 'The sealed text was changed, cut or moved.');
    },
  };
}
