// AES-256-GCM over short texts: a fresh nonce each time, with a context that must be the same to open.

import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { type Sentence, SpokenError, told } from '../lib/localized-message.ts';
import type { SecretKey } from './secret-key.ts';

/** A key of 32 bytes, and what is bound to the text, which is not secret. */
interface CipherContext {
  readonly key: Buffer;
  readonly context: string;
}

/** NIST SP 800-38D §8.2.2: random nonces of 96 bits, far below 2^32 of them under one key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Nonce, text and tag in base64url. */
function encrypt(plain: string, { key, context }: CipherContext): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(context, 'utf8'));
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
}

/** Undefined when the key or the context is another, or a byte was changed. */
function decrypt(sealed: string, { key, context }: CipherContext): string | undefined {
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

export type Vault = ReturnType<typeof createVault>;

/** `foreign-key`: of another key; `damaged`: changed or moved; `malformed`: no sealed text of this version. */
type SealFault = 'foreign-key' | 'damaged' | 'malformed';

/** The message never holds the text. */
export class SealError extends SpokenError {
  readonly fault: SealFault;

  constructor(fault: SealFault, message: string | Sentence) {
    super(message);
    this.name = 'SealError';
    this.fault = fault;
  }
}

/** `sealed:v1:<key id>:<nonce, text and tag in base64url>`. */
const SEALED = /^sealed:v1:([0-9a-f]{12}):([A-Za-z0-9_-]+)$/;

/** Seals texts with the secret key, each bound to its place. */
export function createVault(key: SecretKey) {
  const cipherKey = key.derive('vault v1');
  const bind = (context: string) => ({ key: cipherKey, context: `v1 ${key.id} ${context}` });
  return {
    keyId: key.id,
    /** `context` names the place, such as table, row and column: sealed text opens in no other. */
    seal: (plain: string, context: string): string =>
      `sealed:v1:${key.id}:${encrypt(plain, bind(context))}`,
    /** @throws SealError */
    open(sealed: string, context: string): string {
      const [, keyId, body] = SEALED.exec(sealed) ?? [];
      if (keyId === undefined || body === undefined) {
        throw new SealError('malformed', 'This is not a sealed text of a known version.');
      }
      if (keyId !== key.id) {
        const message = `It was sealed with another key (${keyId}) than the one in use (${key.id}, from ${key.origin}).`;
        throw new SealError('foreign-key', message);
      }
      const plain = decrypt(body, bind(context));
      if (plain !== undefined) return plain;
      throw new SealError('damaged', 'The sealed text was changed, cut or moved.');
    },
  };
}

/** What scrypt costs (RFC 7914); N is 2 to the power of `logN`. */
interface ScryptCost {
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MiB and three passes, one of the settings the OWASP password storage guide names. */
const COST: ScryptCost = { logN: 15, r: 8, p: 3 };
/** An export comes from anywhere: what it asks of us is bounded (128 MiB at most). */
const MOST: ScryptCost = { logN: 17, r: 8, p: 4 };
const LEAST: ScryptCost = { logN: 14, r: 8, p: 1 };
const MIN_PASSPHRASE = 12;
const MAX_PASSPHRASE = 1024;
const MAX_SEALED = 64 * 1024 * 1024;
const SALT_BYTES = 16;

/** `sealed-export:v1:<log N>,<r>,<p>:<salt>:<nonce, text and tag>`, the last two in base64url. */
const SEALED_WITH_PASSPHRASE =
  /^(sealed-export:v1:(\d{1,2}),(\d{1,2}),(\d{1,2}):([A-Za-z0-9_-]{22})):([A-Za-z0-9_-]+)$/;

/** @throws SpokenError when the passphrase is shorter than 12 or longer than 1024 characters */
export async function sealWithPassphrase(plain: string, passphrase: string): Promise<string> {
  if (passphrase.length < MIN_PASSPHRASE || passphrase.length > MAX_PASSPHRASE) {
    const message = told`The passphrase must have ${MIN_PASSPHRASE} to ${MAX_PASSPHRASE} characters.`;
    throw new SpokenError(message);
  }
  const salt = randomBytes(SALT_BYTES).toString('base64url');
  const header = `sealed-export:v1:${COST.logN},${COST.r},${COST.p}:${salt}`;
  const key = await deriveKey(passphrase, salt, COST);
  return `${header}:${encrypt(plain, { key, context: header })}`;
}

/** @throws SealError `damaged` also for a wrong passphrase: the two cannot be told apart */
export async function openWithPassphrase(sealed: string, passphrase: string): Promise<string> {
  const match = sealed.length > MAX_SEALED ? undefined : SEALED_WITH_PASSPHRASE.exec(sealed.trim());
  const [, header, logN, r, p, salt, body] = match ?? [];
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  if (header === undefined || salt === undefined || body === undefined || !isBounded(cost)) {
    throw new SealError('malformed', told`This is not a sealed export of a known version.`);
  }
  const isPossible = passphrase.length <= MAX_PASSPHRASE;
  const key = isPossible ? await deriveKey(passphrase, salt, cost) : undefined;
  const plain = key === undefined ? undefined : decrypt(body, { key, context: header });
  if (plain !== undefined) return plain;
  throw new SealError('damaged', told`The passphrase is wrong, or the file was changed.`);
}

function isBounded(cost: ScryptCost): boolean {
  return (['logN', 'r', 'p'] as const).every(
    (name) => cost[name] >= LEAST[name] && cost[name] <= MOST[name],
  );
}

function deriveKey(passphrase: string, salt: string, { logN, r, p }: ScryptCost): Promise<Buffer> {
  const N = 2 ** logN;
  // The default limit of node is below what N = 2^15 needs.
  const options = { N, r, p, maxmem: 256 * N * r };
  const bytes = Buffer.from(salt, 'base64url');
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), bytes, 32, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
