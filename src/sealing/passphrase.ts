// Seals an export with a passphrase, so that it can be opened elsewhere.

import { randomBytes, scrypt } from 'node:crypto';
import { told } from '../lib/told.ts';
import { decrypt, encrypt } from './cipher.ts';
import { SealError } from './vault.ts';

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
const LEAST_PASSPHRASE = 12;
const MOST_PASSPHRASE = 1024;
const MOST_SEALED = 64 * 1024 * 1024;
const SALT_BYTES = 16;

/** `sealed-export:v1:<log N>,<r>,<p>:<salt>:<nonce, text and tag>`, the last two in base64url. */
const SEALED =
  /^(sealed-export:v1:(\d{1,2}),(\d{1,2}),(\d{1,2}):([A-Za-z0-9_-]{22})):([A-Za-z0-9_-]+)$/;

/** @throws RangeError when the passphrase is shorter than 12 or longer than 1024 characters */
export async function sealWithPassphrase(plain: string, passphrase: string): Promise<string> {
  if (passphrase.length < LEAST_PASSPHRASE || passphrase.length > MOST_PASSPHRASE) {
    throw new RangeError(
      told`The passphrase must have ${LEAST_PASSPHRASE} to ${MOST_PASSPHRASE} characters.`,
    );
  }
  const salt = randomBytes(SALT_BYTES).toString('base64url');
  const header = `sealed-export:v1:${COST.logN},${COST.r},${COST.p}:${salt}`;
  const key = await deriveKey(passphrase, salt, COST);
  return `${header}:${encrypt(plain, { key, context: header })}`;
}

/** @throws SealError `damaged` also for a wrong passphrase: the two cannot be told apart */
export async function openWithPassphrase(sealed: string, passphrase: string): Promise<string> {
  const match = sealed.length > MOST_SEALED ? undefined : SEALED.exec(sealed.trim());
  const [, header, logN, r, p, salt, body] = match ?? [];
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  if (header === undefined || salt === undefined || body === undefined || !isBounded(cost)) {
    throw new SealError('malformed', told`This is not a sealed export of a known version.`);
  }
  const isPossible = passphrase.length <= MOST_PASSPHRASE;
  const key = isPossible ? await deriveKey(passphrase, salt, cost) : undefined;
  const plain = key === undefined ? undefined : decrypt(body, { key, context: header });
  if (plain !== undefined) return plain;
  throw new SealError('damaged', told`The passphrase is wrong, or the export was changed.`);
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
