// Keys of service accounts: always the same pair for an e-mail and a seed, so that key files outlive a restart.

import {
  checkPrime,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
} from 'node:crypto';
import { promisify } from 'node:util';
import { projectOf } from '../accounts.ts';
import { setLast } from '../clock.ts';
import type { JsonObject } from '../json.ts';

export interface ServiceAccountKey {
  /** 40 hexadecimal digits, the `kid` of its assertions. */
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface ServiceAccountKeys {
  /** Takes some tenths of a second the first time. */
  keyOf(email: string): Promise<ServiceAccountKey>;
}

const PRIME_BYTES = 128;
const PUBLIC_EXPONENT = 65_537n;
const MAX_REMEMBERED = 1_000;
const isPrime = promisify(checkPrime);

export function createServiceAccountKeys(seed: string): ServiceAccountKeys {
  const keys = new Map<string, Promise<ServiceAccountKey>>();
  return {
    keyOf(email) {
      const known = keys.get(email);
      if (known !== undefined) return known;
      const key = deriveKey(`${seed}\nservice-account\n${email}`);
      setLast(keys, [email, key], MAX_REMEMBERED);
      return key;
    },
  };
}

/** The downloadable file, in the form client libraries read. */
export function writeKeyFile(email: string, key: ServiceAccountKey, issuer: string): JsonObject {
  return {
    type: 'service_account',
    project_id: projectOf(email),
    private_key_id: key.id,
    private_key: key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    client_email: email,
    client_id: createHash('sha256').update(email).digest('hex').slice(0, 21),
    auth_uri: `${issuer}/oauth/authorize`,
    token_uri: `${issuer}/oauth/token`,
  };
}

/** RSA of 2048 bits from two primes that a hash of the label leads to (RFC 8017, 3.2). */
async function deriveKey(label: string): Promise<ServiceAccountKey> {
  const [p, q] = await Promise.all([derivePrime(`${label}\np`), derivePrime(`${label}\nq`)]);
  const d = invert(PUBLIC_EXPONENT, (p - 1n) * (q - 1n));
  const jwk = {
    kty: 'RSA',
    n: encode(p * q),
    e: encode(PUBLIC_EXPONENT),
    d: encode(d),
    p: encode(p),
    q: encode(q),
    dp: encode(d % (p - 1n)),
    dq: encode(d % (q - 1n)),
    qi: encode(invert(q, p)),
  };
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  const publicKey = createPublicKey({ key: { kty: 'RSA', n: jwk.n, e: jwk.e }, format: 'jwk' });
  const id = createHash('sha256').update(jwk.n).digest('hex').slice(0, 40);
  return { id, privateKey, publicKey };
}

/** The first fitting prime at or above the hash; its two highest bits are set so that n has 2048 bits. */
async function derivePrime(label: string): Promise<bigint> {
  const bytes = createHash('shake256', { outputLength: PRIME_BYTES }).update(label).digest();
  const highBits = 3n << BigInt(PRIME_BYTES * 8 - 2);
  let candidate = BigInt(`0x${bytes.toString('hex')}`) | highBits | 1n;
  while ((candidate - 1n) % PUBLIC_EXPONENT === 0n || !(await isPrime(candidate))) {
    candidate += 2n;
  }
  return candidate;
}

/** The inverse of `value` modulo `modulus`, by the extended Euclidean algorithm. */
function invert(value: bigint, modulus: bigint): bigint {
  let [older, newer] = [modulus, value % modulus];
  let [olderFactor, newerFactor] = [0n, 1n];
  while (newer !== 0n) {
    const quotient = older / newer;
    [older, newer] = [newer, older - quotient * newer];
    [olderFactor, newerFactor] = [newerFactor, olderFactor - quotient * newerFactor];
  }
  return ((olderFactor % modulus) + modulus) % modulus;
}

function encode(value: bigint): string {
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex').toString('base64url');
}
