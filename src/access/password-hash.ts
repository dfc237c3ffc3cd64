// Hashes of the console password (argon2id), and the token with which commands of this machine sign in.

import { argon2, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { limit } from '../lib/concurrency.ts';
import type { LineLog } from '../lib/log.ts';

export type PasswordHasher = ReturnType<typeof createPasswordHasher>;

/** RFC 9106 and the OWASP password cheat sheet: 19 MiB, two passes, one lane. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const TAG_BYTES = 32;
const SALT_BYTES = 16;
/** More would block the thread pool, which file access and all requests need. */
const MAX_CONCURRENT_HASHES = 2;
/** A hash written by hand must not cost more than this. */
const MAX_MEMORY_KIB = 262_144;
const MAX_PASSES = 10;

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=1\$([\w+/-]{11,86})\$([\w+/-]{22,86})$/;

interface StoredHash {
  readonly memory: number;
  readonly passes: number;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

/** True for everything that begins like a hash, a damaged one too: such a text is no password. */
export function isPasswordHash(text: string): boolean {
  return text.startsWith('$argon2id$');
}

export function createPasswordHasher() {
  const inTurn = limit(MAX_CONCURRENT_HASHES);
  const dummy: StoredHash = {
    memory: MEMORY_KIB,
    passes: PASSES,
    salt: randomBytes(SALT_BYTES),
    tag: randomBytes(TAG_BYTES),
  };
  const matches = async (stored: StoredHash, password: string): Promise<boolean> => {
    const tag = await inTurn(() => derive(password, stored));
    return tag.length === stored.tag.length && timingSafeEqual(tag, stored.tag);
  };
  return {
    /** A hash with a salt of its own. */
    async hash(password: string): Promise<string> {
      const salt = randomBytes(SALT_BYTES);
      const settings = { ...dummy, salt };
      const tag = await inTurn(() => derive(password, settings));
      return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${write(salt)}$${write(tag)}`;
    },
    /** Whether it is the password of a hash or a plain text. Without one it takes as long, and is false. */
    async verify(stored: string | undefined, password: string): Promise<boolean> {
      if (stored !== undefined && !isPasswordHash(stored)) return isSameText(stored, password);
      const read = stored === undefined ? undefined : readHash(stored);
      const isMatch = await matches(read ?? dummy, password);
      return read !== undefined && isMatch;
    },
  };
}

/** In constant time, whatever the lengths. */
export function isSameText(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'));
}

/** Undefined for a hash that was cut or changed, which matches no password. */
function readHash(text: string): StoredHash | undefined {
  const [, memoryText, passesText, saltText, tagText] = PHC.exec(text) ?? [];
  if (saltText === undefined || tagText === undefined) return undefined;
  const memory = Number(memoryText);
  const passes = Number(passesText);
  if (memory < 8 || memory > MAX_MEMORY_KIB || passes < 1 || passes > MAX_PASSES) return undefined;
  const [salt, tag] = [Buffer.from(saltText, 'base64'), Buffer.from(tagText, 'base64')];
  return salt.length < 8 || tag.length < 16 ? undefined : { memory, passes, salt, tag };
}

const argon2InBackground = promisify(argon2);

function derive(password: string, { memory, passes, salt, tag }: StoredHash): Promise<Buffer> {
  const message = password.normalize('NFC');
  const cost = { parallelism: LANES, tagLength: tag.length, memory, passes };
  return argon2InBackground('argon2id', { message, nonce: salt, ...cost });
}

/** PHC strings have base64 without padding. */
function write(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

type Fields = Readonly<Record<string, unknown>>;

/** The little of the live configuration that is used. */
interface PasswordConfig {
  raw(): Fields;
  update(change: (raw: Fields) => { admin_password: string } | undefined): Promise<unknown>;
  subscribe(listener: () => void): () => void;
}

interface HashSettingOptions {
  readonly config: PasswordConfig;
  readonly hasher: Pick<PasswordHasher, 'hash'>;
  readonly log: LineLog;
}

/** Now and after each change of the settings; a file that cannot be written keeps its plain password. */
export function keepPasswordHashed({ config, hasher, log }: HashSettingOptions) {
  let work: Promise<void> = Promise.resolve();
  const rewrite = async (): Promise<void> => {
    const plain = config.raw().admin_password;
    if (typeof plain !== 'string') return;
    if (isPasswordHash(plain)) {
      if (readHash(plain) !== undefined) return;
      log.warn({}, 'admin_password is a damaged hash: nobody can sign in with it. Set it anew.');
      return;
    }
    const hashed = await hasher.hash(plain);
    let isWritten = false;
    await config.update((raw) => {
      // Changed meanwhile: that change is on its way here too.
      isWritten = raw.admin_password === plain;
      return isWritten ? { admin_password: hashed } : undefined;
    });
    if (!isWritten) return;
    log.info({}, 'The console password in the config file is now a hash.');
  };
  const run = (): void => {
    work = work.then(rewrite).catch((error: unknown) => {
      log.warn({ error }, 'The console password in the config file could not be hashed.');
    });
  };
  const unsubscribe = config.subscribe(run);
  run();
  return {
    /** Resolves when the password stands as it will stay, until the file is changed again. */
    settled: (): Promise<void> => work,
    /** Resolves when what is under way is written. */
    close(): Promise<void> {
      unsubscribe();
      return work;
    },
  };
}

/** A patch of the config file with the hash of its console password instead; what is no password stays. */
export async function hashPasswordIn<Patch extends Fields>(
  patch: Patch,
  hasher: Pick<PasswordHasher, 'hash'>,
): Promise<Patch> {
  const { admin_password: plain } = patch;
  if (typeof plain !== 'string' || plain === '' || isPasswordHash(plain)) return patch;
  return { ...patch, admin_password: await hasher.hash(plain) };
}

/** What the command line shows in place of a password whose hash alone is known; of the secret key. */
export function createMachineToken(derive: (purpose: string) => Buffer): string {
  return `machine-${derive('console of this machine v1').toString('base64url')}`;
}
