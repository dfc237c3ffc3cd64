// `isthmus backup`: one file of database, settings and secret key of a data folder, also while a gateway runs on it.

import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

import { configPath, resolveDataDir } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import { createPrivateFile, placeFile } from '../lib/private-file.ts';
import { createVault, sealWithPassphrase } from '../sealing/seal.ts';
import { createSecretKey, DATABASE_FILE, KEY_FILE, type SecretKey } from '../sealing/secret-key.ts';
import { copyDatabase, inspectDatabase } from '../stores/sqlite/backup.ts';
import { ENTRIES, type Manifest, measureFiles, writeArchive } from './backup-archive.ts';
import type { LocalContext } from './command.ts';
import { CommandError } from './exit-codes.ts';
import { VERSION } from './package-name.ts';
import { plain, readNewPassphrase, type Said } from './terminal.ts';

export type BackupFlags = Said<'dataDir' | 'passphraseFile', string> &
  Said<'plain' | 'withoutSecretKey' | 'force', boolean>;

interface BackupOptions extends LocalContext {
  readonly environment: Environment;
}

/** @param file a new file; `-` is the standard output @throws Error in words for people */
export async function makeBackup(
  options: BackupOptions,
  file: string,
  flags: BackupFlags,
): Promise<void> {
  const { environment, terminal, clock, answer } = options;
  if (environment.databaseUrl !== undefined) throw new Error(IN_POSTGRES);
  const dataDir = resolveDataDir(flags, environment);
  const now = new Date(clock.now());
  const target = file === '' ? defaultName(now) : file;
  if (target !== '-' && existsSync(target) && flags.force !== true) {
    throw new Error(`${target} is there already. Name another file, or say --force.`);
  }
  const passphrase = await choosePassphrase(options, flags);
  // Beside the target, where room for it is needed anyway.
  const beside = target === '-' ? tmpdir() : dirname(resolve(target));
  const folder = await mkdtemp(join(beside, '.isthmus-backup-'));
  try {
    const manifest = await collect(options, { dataDir, folder, passphrase, now, flags });
    await writeOut(folder, manifest, { target, isReplaced: flags.force === true });
    const lacksKey = manifest.secretKeyId === undefined || environment.secretKey !== undefined;
    if (lacksKey) terminal.note(KEEP_KEY);
    if (target === '-') return;
    const { files, secretKeyId, ...facts } = manifest;
    const list = files.map(({ name, bytes }) => ({ name, bytes }));
    answer({ file: target, ...facts, secretKeyId: secretKeyId ?? null, files: list }, () =>
      terminal.print(`Database and settings of ${plain(dataDir)} are in ${plain(target)}.`),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const IN_POSTGRES =
  'DATABASE_URL is set: PostgreSQL keeps everything, the settings too. Back it up with pg_dump, and keep ISTHMUS_SECRET_KEY elsewhere: without it the stored credentials cannot be opened.';

const KEEP_KEY =
  'The secret key is not in it. Keep ISTHMUS_SECRET_KEY or secret.key elsewhere: without it the stored credentials cannot be opened.';

function defaultName(now: Date): string {
  return `isthmus-backup-${now.toISOString().slice(0, 19).replaceAll(':', '-')}.tar.gz`;
}

/** Undefined where secrets are to be in it as they are, or not at all. */
async function choosePassphrase(
  { terminal }: BackupOptions,
  { plain: isPlain = false, withoutSecretKey = false, passphraseFile }: BackupFlags,
): Promise<string | undefined> {
  if (passphraseFile === undefined) {
    if (isPlain || withoutSecretKey) return undefined;
    if (!terminal.isInteractive) {
      throw new CommandError(
        'usage',
        'A backup holds the secret key. Seal it with --passphrase-file, leave it out with --without-secret-key, or have it as it is with --plain.',
      );
    }
    terminal.note('A passphrase seals the secret key and the settings in the backup.');
  }
  return readNewPassphrase(terminal, passphraseFile);
}

interface Collection {
  readonly dataDir: string;
  /** Where the parts are put together. */
  readonly folder: string;
  readonly passphrase: string | undefined;
  readonly now: Date;
  readonly flags: BackupFlags;
}

async function collect(options: BackupOptions, collection: Collection): Promise<Manifest> {
  const { dataDir, folder, now, flags } = collection;
  const { clock } = options;
  const path = join(dataDir, DATABASE_FILE);
  if (!existsSync(path))
    throw new Error(`There is no database ${path}: nothing is to be backed up.`);
  const copy = join(folder, ENTRIES.database);
  await writeFile(copy, '', { mode: 0o600 });
  await copyDatabase(path, copy);
  const key = flags.withoutSecretKey === true ? undefined : findSecretKey(options, dataDir);
  const vault = key && createVault(key.secretKey);
  const schema = await inspectDatabase({ path: copy, name: path, vault, clock });
  await addText(collection, 'settings', configPath(dataDir));
  if (key?.path !== undefined) await addText(collection, 'secretKey', key.path);
  const strict = join(dataDir, ENTRIES.strict);
  if (existsSync(strict)) await copyFile(strict, join(folder, ENTRIES.strict));
  const names = Object.values(ENTRIES).filter((name) => existsSync(join(folder, name)));
  return {
    ...{ isthmus: VERSION, createdAt: now.toISOString(), schema },
    secretKeyId: key?.secretKey.id,
    files: await measureFiles(folder, names),
  };
}

/** The key in use, and the file it is in; of the environment's key the backup knows the id alone. */
function findSecretKey(
  { environment }: BackupOptions,
  dataDir: string,
): { readonly secretKey: SecretKey; readonly path?: string } {
  const { secretKey } = environment;
  if (secretKey !== undefined) {
    return { secretKey: createSecretKey(secretKey, 'ISTHMUS_SECRET_KEY') };
  }
  const path = join(dataDir, KEY_FILE);
  if (existsSync(path)) {
    return { path, secretKey: createSecretKey(readFileSync(path, 'utf8').trim(), path) };
  }
  throw new Error(
    `The secret key ${path} is missing. Set ISTHMUS_SECRET_KEY as the gateway has it, or say --without-secret-key.`,
  );
}

/** As it is, or sealed under its other name. */
async function addText(
  { folder, passphrase }: Collection,
  entry: 'settings' | 'secretKey',
  path: string,
): Promise<void> {
  if (!existsSync(path)) return;
  const text = readFileSync(path, 'utf8');
  const sealedEntry = entry === 'settings' ? 'sealedSettings' : 'sealedSecretKey';
  const name = ENTRIES[passphrase === undefined ? entry : sealedEntry];
  const content = passphrase === undefined ? text : await sealWithPassphrase(text, passphrase);
  await writeFile(join(folder, name), content, { mode: 0o600 });
}

interface Target {
  readonly target: string;
  readonly isReplaced: boolean;
}

/** A file is there whole or not at all. */
async function writeOut(folder: string, manifest: Manifest, { target, isReplaced }: Target) {
  if (target === '-') return writeArchive(folder, manifest, process.stdout);
  const path = resolve(target);
  const built = createPrivateFile(join(dirname(path), basename(path)));
  try {
    await writeArchive(folder, manifest, createWriteStream(built, { mode: 0o600, flush: true }));
    await chmod(built, 0o600);
    if (isReplaced) await rm(path, { force: true });
    if (placeFile(built, path) === 'placed') return;
    throw new Error(`${target} is there already. Name another file, or say --force.`);
  } finally {
    await rm(built, { force: true });
  }
}
