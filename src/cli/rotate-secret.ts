// `isthmus secret rotate`: seals everything with another secret key, and goes on where it was interrupted.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENT_KEYS } from '../access/access.ts';
import { type AuditStore, createAuditLog } from '../access/audit-log.ts';
import { StoreError } from '../accounts/account-store.ts';
import { LEADER, LEADER_TTL_MS } from '../cluster/leases.ts';
import { resealCredentials } from '../compose/config-secrets.ts';
import { openDatabaseAt, type SharedDatabase } from '../compose/shared-database.ts';
import { configPath, resolveDataDir } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import type { ConfigSource } from '../config/file.ts';
import { createLiveConfig } from '../config/live.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { createRedactors } from '../lib/redact.ts';
import { createVault } from '../sealing/seal.ts';
import {
  createSecretKey,
  DATABASE_FILE,
  keyPath,
  makeNextKey,
  placeNextKey,
  readSecretFile,
  type SecretKey,
} from '../sealing/secret-key.ts';
import { removeUpgradeCopy } from '../stores/sqlite/backup.ts';
import { openDatabase } from '../stores/sqlite/open-database.ts';
import type { Context } from './command.ts';
import { withoutGateway } from './data-folder.ts';
import type { Terminal } from './terminal.ts';

export interface RotateSecretOptions {
  readonly environment: Environment;
  readonly dataDir?: string | undefined;
  /** Of the key until now, where `ISTHMUS_SECRET_KEY` is the next one. */
  readonly oldKeyFile?: string | undefined;
  readonly clock: Clock;
  readonly terminal: Pick<Terminal, 'print' | 'note'>;
  readonly answer: Context['answer'];
  /** Called when a step is on the disk for good. */
  readonly onStep?: ((step: RotateStep) => void) | undefined;
}

type RotateStep = 'key-made' | 'database' | 'settings' | 'key-placed';

interface Keys {
  readonly from: SecretKey;
  readonly to: SecretKey;
  /** True where the keys are in files of the data folder. */
  readonly isOfFolder: boolean;
}

/** Running it again finishes what was interrupted. @throws Error with the way out */
export async function rotateSecretKey(options: RotateSecretOptions): Promise<void> {
  const { environment, answer, terminal, onStep = () => undefined } = options;
  const dataDir = resolveDataDir({ dataDir: options.dataDir }, environment);
  await withoutGateway(dataDir, async () => {
    const keys = readKeys(options, dataDir);
    onStep('key-made');
    const lost = await reseal(options, { dataDir, keys, onStep });
    if (keys.isOfFolder) placeNextKey(dataDir);
    onStep('key-placed');
    answer({ from: keys.from.id, to: keys.to.id, lost: [...lost] }, () =>
      sayRotated(terminal, { keys, lost, dataDir }),
    );
  });
}

function sayRotated(
  terminal: Pick<Terminal, 'print'>,
  { keys, lost, dataDir }: { keys: Keys; lost: readonly string[]; dataDir: string },
): void {
  terminal.print(`Everything is sealed with the key ${keys.to.id} in place of ${keys.from.id}.`);
  for (const path of lost) {
    terminal.print(
      `${path} of the settings opens with neither key and stays as it is: set it anew.`,
    );
  }
  terminal.print(
    keys.isOfFolder
      ? `The new key is in ${keyPath(dataDir)}. Back it up: a backup from before needs the key from before.`
      : 'Start every gateway with the new ISTHMUS_SECRET_KEY, and take ISTHMUS_SECRET_KEY_OLD away.',
  );
}

function readKeys({ environment, oldKeyFile }: RotateSecretOptions, dataDir: string): Keys {
  const { secretKey: next, secretKeyOld, databaseUrl } = environment;
  if (next !== undefined) {
    const old = oldKeyFile === undefined ? secretKeyOld : readSecretFile(oldKeyFile);
    if (old === undefined) {
      throw new Error(
        'ISTHMUS_SECRET_KEY is used as the new key. Set the previous one as ISTHMUS_SECRET_KEY_OLD, or name its file with --old-key-file.',
      );
    }
    if (old === next)
      throw new Error(
        'The next key is the one until now. Make another with "openssl rand -base64 32".',
      );
    return {
      from: createSecretKey(old, oldKeyFile ?? 'ISTHMUS_SECRET_KEY_OLD'),
      to: createSecretKey(next, 'ISTHMUS_SECRET_KEY'),
      isOfFolder: false,
    };
  }
  if (databaseUrl !== undefined || oldKeyFile !== undefined || secretKeyOld !== undefined) {
    throw new Error(
      'Set ISTHMUS_SECRET_KEY to the next key, such as one of "openssl rand -base64 32".',
    );
  }
  const path = keyPath(dataDir);
  const from = createSecretKey(readSecretFile(path), path);
  return { from, to: createSecretKey(makeNextKey(dataDir), path), isOfFolder: true };
}

interface Reseal {
  readonly dataDir: string;
  readonly keys: Keys;
  readonly onStep: (step: RotateStep) => void;
}

/** @returns the places of the settings that open with neither key */
async function reseal(
  options: RotateSecretOptions,
  { dataDir, keys, onStep }: Reseal,
): Promise<readonly string[]> {
  const { environment } = options;
  const database =
    environment.databaseUrl === undefined
      ? await resealFolder(options, dataDir, keys)
      : await resealShared(options, dataDir, keys);
  try {
    onStep('database');
    const lost = await resealSettings(options, { dataDir, keys, source: database?.source });
    onStep('settings');
    return lost;
  } finally {
    await database?.stores.close();
  }
}

async function resealFolder({ clock }: RotateSecretOptions, dataDir: string, keys: Keys) {
  const path = join(dataDir, DATABASE_FILE);
  if (!existsSync(path)) return undefined;
  const open = (key: SecretKey) => openDatabase({ path, vault: createVault(key), clock });
  const stores = await changeKey(keys, { clock, open, storesOf: (opened) => opened });
  await stores.close();
  // It opens with the key until now alone.
  removeUpgradeCopy(path);
  return undefined;
}

async function resealShared(options: RotateSecretOptions, dataDir: string, keys: Keys) {
  const { environment, oldKeyFile, clock, terminal } = options;
  const { databaseUrl = '', secretKey, secretKeyOld } = environment;
  const note = (_fields: object, message: string): void => terminal.note(message);
  const parts = { dataDir, clock, random: Math.random, log: { info: note, warn: note } };
  const old = oldKeyFile === undefined ? secretKeyOld : readSecretFile(oldKeyFile);
  const open = (key: SecretKey): Promise<SharedDatabase & object> =>
    openDatabaseAt(databaseUrl, {
      ...parts,
      environment: { ...environment, secretKey: key === keys.to ? secretKey : old },
    });
  return changeKey(keys, {
    clock,
    open,
    storesOf: ({ stores }) => stores,
    check: requireNoReplica,
  });
}

interface Changeable {
  readonly access: { readonly audit: AuditStore };
  changeKey(next: ReturnType<typeof createVault>, digestKey: Buffer): Promise<void>;
}

interface ChangeOptions<Opened> {
  readonly clock: Clock;
  readonly open: (key: SecretKey) => Promise<Opened>;
  readonly storesOf: (opened: Opened) => Changeable;
  readonly check?: (opened: Opened) => Promise<void>;
}

/** Opens it with the key until now and changes that, or with the next key, where it was changed before. */
async function changeKey<Opened>(
  { from, to }: Keys,
  { clock, open, storesOf, check }: ChangeOptions<Opened>,
): Promise<Opened> {
  let opened: Opened;
  try {
    opened = await open(from);
  } catch (error) {
    if (!(error instanceof StoreError) || error.fault !== 'unreadable') throw error;
    // What is wrong with both keys is told of the one until now.
    return open(to).catch(() => {
      throw error;
    });
  }
  await check?.(opened);
  const stores = storesOf(opened);
  await stores.changeKey(createVault(to), from.derive(CLIENT_KEYS));
  const log = { info: () => undefined, warn: () => undefined };
  const audit = createAuditLog({
    store: stores.access.audit,
    ...{ clock, log, redactorFor: createRedactors(() => []) },
  });
  await audit.add({
    ...{ actor: 'machine', session: undefined, address: undefined, requestId: undefined },
    ...{ action: 'isthmus secret rotate', subject: 'secret rotate', status: 0 },
    ...{ fields: [], before: { secretKey: from.id }, after: { secretKey: to.id } },
  });
  return opened;
}

/** One of the replicas always leads: as long as one does, the lease is not to be had. */
async function requireNoReplica({ stores }: SharedDatabase & object): Promise<void> {
  const lease = await stores.leases.take(LEADER, createId('rotate-'), LEADER_TTL_MS);
  if (lease !== undefined) return;
  await stores.close();
  throw new Error(
    'A gateway runs on this PostgreSQL, or ended less than a minute ago. Stop every replica first.',
  );
}

async function resealSettings(
  { environment, clock }: RotateSecretOptions,
  {
    dataDir,
    keys,
    source,
  }: Omit<Reseal, 'onStep'> & { readonly source?: ConfigSource | undefined },
): Promise<readonly string[]> {
  const log = { info: () => undefined, warn: () => undefined };
  const path = configPath(dataDir);
  const config = await createLiveConfig({ path, source, environment, clock, log });
  const vaults = { from: createVault(keys.from), to: createVault(keys.to) };
  let lost: string[] = [];
  try {
    await config.update((raw) => {
      lost = [];
      return resealCredentials(raw, vaults, (place) => void lost.push(place));
    });
    return lost;
  } finally {
    await config.close();
  }
}
