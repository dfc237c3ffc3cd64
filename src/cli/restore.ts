// `isthmus restore`: puts what a backup holds into a data folder, checked as a whole before.

import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveDataDir } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import { createVault, openWithPassphrase, type Vault } from '../sealing/seal.ts';
import { createSecretKey, DATABASE_FILE, KEY_FILE } from '../sealing/secret-key.ts';
import { inspectDatabase } from '../stores/sqlite/backup.ts';
import { ENTRIES, type Manifest, readArchive } from './backup-archive.ts';
import type { LocalContext } from './command.ts';
import { makeDataDir, withoutGateway } from './data-folder.ts';
import { CommandError } from './exit-codes.ts';
import { plain, readSecretLine, type Said } from './terminal.ts';

export type RestoreFlags = Said<'dataDir' | 'passphraseFile', string> &
  Said<'check' | 'force', boolean>;

interface RestoreOptions extends LocalContext {
  readonly environment: Environment;
}

/** @param file of a backup; `-` is the standard input @throws Error in words; the folder is then as it was */
export async function restoreBackup(
  options: RestoreOptions,
  file: string,
  flags: RestoreFlags,
): Promise<void> {
  const { environment, terminal, answer } = options;
  if (flags.check === true) {
    const folder = await mkdtemp(join(tmpdir(), 'isthmus-restore-'));
    try {
      const manifest = await unpackChecked(options, { file, folder, flags });
      return answer({ file, ...describe(manifest) }, () =>
        terminal.print(`The backup is whole. ${sayOrigin(manifest)}`),
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  if (environment.databaseUrl !== undefined) throw new Error(IN_POSTGRES);
  const dataDir = resolveDataDir(flags, environment);
  makeDataDir(dataDir);
  await withoutGateway(dataDir, async () => {
    const { manifest, kept } = await restoreInto(options, { dataDir, file, flags });
    answer({ file, dataDir, kept: kept ?? null, ...describe(manifest) }, () => {
      terminal.print(`${plain(dataDir)} holds what was in the backup. ${sayOrigin(manifest)}`);
      if (kept !== undefined) terminal.note(`What was there before is in ${plain(kept)}.`);
    });
  });
}

const IN_POSTGRES =
  'DATABASE_URL is set, and a backup goes into a data folder. Restore it without DATABASE_URL, then move it with "isthmus migrate-store". A dump of pg_dump goes back with psql or pg_restore.';

/** Files of a data folder that a backup replaces. */
const REPLACED = [
  ...[DATABASE_FILE, `${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`],
  ...[ENTRIES.settings, `${ENTRIES.settings}.bak`, KEY_FILE, ENTRIES.strict],
];

interface Restoring {
  readonly dataDir: string;
  readonly file: string;
  readonly flags: RestoreFlags;
}

async function restoreInto(options: RestoreOptions, { dataDir, file, flags }: Restoring) {
  const old = REPLACED.filter((name) => existsSync(join(dataDir, name)));
  if (old.length > 0 && flags.force !== true) {
    throw new Error(
      `The data folder ${dataDir} is not empty: it holds ${old.join(', ')}. Name another with --data-dir, or say --force, which keeps a copy of what is there.`,
    );
  }
  // In the folder itself: what is checked there is put in its place by renaming alone.
  const folder = await mkdtemp(join(dataDir, '.restore-'));
  try {
    const manifest = await unpackChecked(options, { file, folder, flags });
    const kept = old.length === 0 ? undefined : keptFolder(dataDir, options.clock.now());
    if (kept !== undefined) {
      await mkdir(kept, { mode: 0o700 });
      await moveAll(old, dataDir, kept);
    }
    const names = REPLACED.filter((name) => existsSync(join(folder, name)));
    try {
      await moveAll(names, folder, dataDir);
    } catch (error) {
      if (kept !== undefined) await moveAll(old, kept, dataDir);
      throw error;
    }
    return { manifest, kept };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function keptFolder(dataDir: string, now: number): string {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-');
  return join(dataDir, `isthmus-before-restore-${time}`);
}

async function moveAll(names: readonly string[], from: string, to: string): Promise<void> {
  for (const name of names) await rename(join(from, name), join(to, name));
  await using folder = await open(to, 'r');
  await folder.sync();
}

interface Unpacking {
  readonly file: string;
  readonly folder: string;
  readonly flags: RestoreFlags;
}

/** Leaves the files in the folder under the names that a data folder has them by. */
async function unpackChecked(
  options: RestoreOptions,
  { file, folder, flags }: Unpacking,
): Promise<Manifest> {
  if (file === '-' && flags.passphraseFile === '-') {
    throw new CommandError(
      'usage',
      'The standard input cannot hold both: put the passphrase into a file.',
    );
  }
  if (file !== '-' && !existsSync(file)) throw new Error(`There is no file ${file}.`);
  const source = file === '-' ? process.stdin : createReadStream(file);
  const manifest = await readArchive(source, folder);
  await openSealed(options, { file, folder, flags });
  const vault = findVault(options, manifest, folder);
  const path = join(folder, ENTRIES.database);
  await inspectDatabase({ path, name: 'of the backup', vault, clock: options.clock });
  await checkSettings(join(folder, ENTRIES.settings));
  return manifest;
}

async function openSealed(
  { terminal }: RestoreOptions,
  { file, folder, flags }: Unpacking,
): Promise<void> {
  const pairs = [
    [ENTRIES.sealedSecretKey, ENTRIES.secretKey],
    [ENTRIES.sealedSettings, ENTRIES.settings],
  ] as const;
  const sealed = pairs.filter(([name]) => existsSync(join(folder, name)));
  if (sealed.length === 0) return;
  const { passphraseFile } = flags;
  if (passphraseFile === undefined && (file === '-' || !terminal.isInteractive)) {
    throw new CommandError(
      'usage',
      'The backup is sealed: name a file that holds its passphrase with --passphrase-file.',
    );
  }
  const passphrase = await readSecretLine(terminal, {
    ...{ file: passphraseFile, flag: '--passphrase-file' },
    question: 'Passphrase of the backup: ',
  });
  for (const [from, to] of sealed) {
    const text = await openWithPassphrase(readFileSync(join(folder, from), 'utf8'), passphrase);
    await writeFile(join(folder, to), text, { mode: 0o600 });
    await rm(join(folder, from));
  }
}

/** Of the key that the gateway will use: that of the environment wins over the one of the backup. */
function findVault(
  { environment }: RestoreOptions,
  { secretKeyId }: Manifest,
  folder: string,
): Vault {
  const path = join(folder, ENTRIES.secretKey);
  if (environment.secretKey !== undefined) {
    const key = createSecretKey(environment.secretKey, 'ISTHMUS_SECRET_KEY');
    if (secretKeyId === undefined || key.id === secretKeyId) return createVault(key);
    const wayOut = existsSync(path)
      ? 'Unset it: the backup holds its own.'
      : 'Set the one in use then.';
    throw new Error(`ISTHMUS_SECRET_KEY is another key than the one of the backup. ${wayOut}`);
  }
  if (existsSync(path)) {
    return createVault(createSecretKey(readFileSync(path, 'utf8').trim(), 'the backup'));
  }
  throw new Error(
    'The backup was made without its secret key. Set ISTHMUS_SECRET_KEY to the key that was in use then.',
  );
}

/** @throws ConfigError saying what is wrong with them */
async function checkSettings(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const { loadConfig } = await import('../config/file.ts');
  await loadConfig(path);
}

function describe({ isthmus, createdAt, schema, secretKeyId }: Manifest) {
  return { isthmus, createdAt, schema, secretKeyId: secretKeyId ?? null };
}

function sayOrigin({ isthmus, createdAt }: Manifest): string {
  return `It was made by isthmus ${plain(isthmus)} on ${plain(createdAt)}.`;
}
