// The secret key of a data folder: from the environment, or a file made beside a new database.

import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../lib/localized-message.ts';
import type { WarnLog } from '../lib/log.ts';
import { isOutOfRoom, makePrivate, replaceFile, writePrivateFile } from '../lib/private-file.ts';

/** The text itself is out of reach: whoever prints or logs a key sees its id and origin only. */
export type SecretKey = ReturnType<typeof createSecretKey>;

interface SecretKeySource {
  readonly dataDir: string;
  /** `ISTHMUS_SECRET_KEY`; it wins over the file. */
  readonly environmentKey?: string | undefined;
  readonly log?: WarnLog | undefined;
  /** How a new key file is written. */
  readonly write?: ((path: string, text: string) => 'placed' | 'already-there') | undefined;
}

/** The message names the place of the key and the way out; it never holds the key. */
class SecretKeyError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SecretKeyError';
  }
}

/** The database within the data folder, whose secrets the key seals. */
export const DATABASE_FILE = 'isthmus.db';

const NO_LASTING_KEY =
  'The disk of the data folder has no room left, so no secret key can be kept: accounts and keys that are added are in memory only and are lost at the end. Free some room and start again.';

/** The secret key within the data folder, where the environment has none. */
export const KEY_FILE = 'secret.key';
const MIN_LENGTH = 16;
const MAX_BYTES = 4096;

/** The key of a data folder; a new one only while there is no database. @throws SecretKeyError */
export function loadSecretKey(source: SecretKeySource): SecretKey {
  const { dataDir, environmentKey, log, write = writePrivateFile } = source;
  if (environmentKey !== undefined) return createSecretKey(environmentKey, 'ISTHMUS_SECRET_KEY');
  const path = keyPath(dataDir);
  if (existsSync(nextKeyPath(dataDir))) {
    throw new SecretKeyError(
      `A change of the secret key ${path} was interrupted. Run "isthmus secret rotate" to finish it.`,
    );
  }
  const known = readKeyFile(path, log);
  if (known !== undefined) return createSecretKey(known, path);
  refuseLostKey(path, join(dataDir, DATABASE_FILE));
  const text = newKeyText();
  try {
    return createSecretKey(makeKeyFile(path, text, write), path);
  } catch (error) {
    if (!(error instanceof SecretKeyError) || !isOutOfRoom(error.cause)) throw error;
    log?.warn({ path, error }, NO_LASTING_KEY);
    return createSecretKey(text, path, false);
  }
}

/** Where the next key waits until everything is sealed with it. */
function nextKeyPath(dataDir: string): string {
  return join(dataDir, `${KEY_FILE}.next`);
}

/** The text of the key file. @throws SecretKeyError when there is none, or it cannot be used */
export function readSecretFile(path: string): string {
  const text = readKeyFile(path, undefined);
  if (text !== undefined) return text;
  throw new SecretKeyError(`There is no key file ${path}.`);
}

/** The next key, in its file: that of an interrupted change, else a new one. @throws SecretKeyError */
export function makeNextKey(dataDir: string): string {
  const path = nextKeyPath(dataDir);
  return readKeyFile(path, undefined) ?? makeKeyFile(path, newKeyText(), writePrivateFile);
}

export function placeNextKey(dataDir: string): void {
  replaceFile(nextKeyPath(dataDir), keyPath(dataDir));
}

export function keyPath(dataDir: string): string {
  return join(dataDir, KEY_FILE);
}

function newKeyText(): string {
  return randomBytes(32).toString('base64url');
}

/** A key from any text of at least 16 characters. @throws SecretKeyError */
export function createSecretKey(text: string, origin: string, isLasting = true) {
  if (text.length < MIN_LENGTH) {
    const message = `${origin} holds ${text.length} characters; a secret key has at least ${MIN_LENGTH}. Give back the key that was in use; only for a new data folder make one with "openssl rand -base64 32".`;
    throw new SecretKeyError(message);
  }
  // Kept behind a closure: an object's fields end up in logs and dumps.
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', text, 'isthmus secret key', purpose, 32));
  return {
    /** Tells keys apart and says nothing of them. */
    id: createHash('sha256').update(derive('key id')).digest('hex').slice(0, 12),
    /** Where the key came from, for messages. */
    origin,
    /** False for one that found no room on the disk: nothing sealed with it opens after this process. */
    isLasting,
    /** 32 bytes for one purpose (HKDF-SHA-256, RFC 5869); another purpose gives unrelated bytes. */
    derive,
  };
}

function readKeyFile(path: string, log: SecretKeySource['log']): string | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = fstatSync(file);
      if (!stats.isFile() || stats.size > MAX_BYTES) {
        const message = `${path} is not a key file: it must be a file of one line. Put the key that was in use back, or set ISTHMUS_SECRET_KEY.`;
        throw new SecretKeyError(message);
      }
      keepPrivate(path, log);
      return readFileSync(file, 'utf8').trim();
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof SecretKeyError) throw error;
    if (codeOf(error) === 'ENOENT') return undefined;
    const message = `${path} cannot be read (${codeOf(error) ?? 'unknown error'}). Let the user of this process read it, or set ISTHMUS_SECRET_KEY.`;
    throw new SecretKeyError(message, error);
  }
}

function keepPrivate(path: string, log: SecretKeySource['log']): void {
  switch (makePrivate(path)) {
    case 'exposed':
      throw new SecretKeyError(
        `${path} can be read by others and its mode cannot be changed. Run "chmod 600 ${path}" as its owner, or give the key as ISTHMUS_SECRET_KEY.`,
      );
    case 'repaired':
      log?.warn({ path }, 'The secret key could be read by others; now only its owner can.');
  }
}

function refuseLostKey(path: string, databasePath: string): void {
  if (![databasePath, `${databasePath}-wal`].some((file) => existsSync(file))) return;
  const message = `${databasePath} is sealed, but its key ${path} is missing. Put that file back or set ISTHMUS_SECRET_KEY to the key that was in use; without it the stored credentials cannot be opened. To start anew, move ${databasePath} away first.`;
  throw new SecretKeyError(message);
}

function makeKeyFile(path: string, text: string, write: NonNullable<SecretKeySource['write']>) {
  try {
    if (write(path, `${text}\n`) === 'placed') return text;
    // Another process was faster: its key is the one.
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const message = `${path} cannot be made (${codeOf(error) ?? 'unknown error'}). Let the user of this process write to that folder, or set ISTHMUS_SECRET_KEY.`;
    throw new SecretKeyError(message, error);
  }
}
