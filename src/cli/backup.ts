// `isthmus backup` and `isthmus restore`: database, settings and secret key of a data folder, into one file and back.

import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { configPath, resolveDataDir } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import { loadConfig } from '../config/file.ts';
import { createPrivateFile, placeFile } from '../lib/private-file.ts';
import {
  createVault,
  openWithPassphrase,
  sealWithPassphrase,
  type Vault,
} from '../sealing/seal.ts';
import { createSecretKey, DATABASE_FILE, KEY_FILE, type SecretKey } from '../sealing/secret-key.ts';
import { copyDatabase, inspectDatabase } from '../stores/sqlite/backup.ts';
import {
  ENTRIES,
  type Manifest,
  measureFiles,
  readArchive,
  writeArchive,
} from './backup-archive.ts';
import type { LocalContext } from './command.ts';
import { makeDataDir, withoutGateway } from './data-folder.ts';
import { CommandError } from './exit-codes.ts';
import { VERSION } from './package-name.ts';
import { plain, readNewPassphrase, readSecretLine, type Said } from './terminal.ts';

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
  if (environment.databaseUrl !== undefined) throw new Error(NOTHING_TO_BACK_UP);
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

const NOTHING_TO_BACK_UP =
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
  if (environment.databaseUrl !== undefined) throw new Error(NO_FOLDER_TO_RESTORE);
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

const NO_FOLDER_TO_RESTORE =
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
  await loadConfig(path);
}

function describe({ isthmus, createdAt, schema, secretKeyId }: Manifest) {
  return { isthmus, createdAt, schema, secretKeyId: secretKeyId ?? null };
}

function sayOrigin({ isthmus, createdAt }: Manifest): string {
  return `It was made by isthmus ${plain(isthmus)} on ${plain(createdAt)}.`;
}
