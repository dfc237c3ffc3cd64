// Rewrites a console password that stands in plain in the config file as a hash.

import type { DoorLog } from './batch.ts';
import { isPasswordHash, isUsableHash, type PasswordHasher } from './password-hash.ts';

export interface HashSettingOptions {
  readonly config: PasswordConfig;
  readonly hasher: Pick<PasswordHasher, 'hash'>;
  readonly log: DoorLog;
}

interface Fields {
  readonly [key: string]: unknown;
}

/** The little of the live configuration that is used. */
export interface PasswordConfig {
  raw(): Fields;
  update(change: (raw: Fields) => { admin_password: string } | undefined): Promise<unknown>;
  subscribe(listener: () => void): () => void;
}

export interface PasswordKeeper {
  /** Resolves when the password stands as it will stay, until the file is changed again. */
  settled(): Promise<void>;
  /** Resolves when what is under way is written. */
  close(): Promise<void>;
}

/** Now and after each change of the settings; a file that cannot be written keeps its plain password. */
export function keepPasswordHashed({ config, hasher, log }: HashSettingOptions): PasswordKeeper {
  let work: Promise<void> = Promise.resolve();
  const rewrite = async (): Promise<void> => {
    const plain = config.raw().admin_password;
    if (typeof plain !== 'string') return;
    if (isPasswordHash(plain)) {
      if (isUsableHash(plain)) return;
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
    settled: () => work,
    close() {
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
