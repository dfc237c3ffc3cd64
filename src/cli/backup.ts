// `isthmus backup` and `isthmus restore`: database, settings and secret key of a data folder, into one file and back.

import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  open,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { configPath, resolveDataDir } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import { loadConfig } from '../config/file.ts';
import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';
import { createPrivateFile, placeFile, replaceFile } from '../lib/private-file.ts';
import { objectsOf } from '../lib/read-values.ts';
import {
  createVault,
  openWithPassphrase,
  sealWithPassphrase,
  type Vault,
} from '../sealing/seal.ts';
import { createSecretKey, DATABASE_FILE, KEY_FILE, type SecretKey } from '../sealing/secret-key.ts';
import { copyDatabase, inspectDatabase } from '../stores/sqlite/backup.ts';
import type { LocalContext } from './command.ts';
import { makeDataDir, withoutGateway } from './data-folder.ts';
import { CommandError } from './exit-codes.ts';
import { VERSION } from './package-name.ts';
import { plain, readNewPassphrase, readSecretLine, type Said, unwritable } from './terminal.ts';

/** What a backup holds, by the names within it. Those that are sealed open with the passphrase of the backup. */
const ENTRIES = {
  database: 'isthmus.db',
  settings: 'gui_config.json',
  sealedSettings: 'gui_config.json.sealed',
  secretKey: 'secret.key',
  sealedSecretKey: 'secret.key.sealed',
  strict: 'auth-is-strict',
} as const;

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
  if (target !== '-' && existsSync(target)) {
    if (statSync(target).isDirectory())
      throw new Error(`${target} is a folder. Name a file in it.`);
    if (flags.force !== true)
      throw new Error(`${target} is there already. Name another file, or say --force.`);
  }
  const passphrase = await choosePassphrase(options, flags);
  // Beside the target, where room for it is needed anyway.
  const beside = target === '-' ? tmpdir() : dirname(resolve(target));
  const folder = await mkdtemp(join(beside, '.isthmus-backup-')).catch((error: unknown) => {
    throw unwritable(target, error);
  });
  await emptied(folder, async () => {
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
  });
}

/** The folder is gone then, also where the process is told to end before: what is put together there holds the secret key. */
async function emptied<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', remove);
  try {
    return await work();
  } finally {
    process.off('exit', remove);
    remove();
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
  const built = createPrivateFile(join(folder, 'archive'));
  await writeArchive(folder, manifest, createWriteStream(built, { mode: 0o600, flush: true }));
  await chmod(built, 0o600);
  if (isReplaced) return replaceFile(built, path);
  if (placeFile(built, path) === 'placed') return;
  throw new Error(`${target} is there already. Name another file, or say --force.`);
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
    return emptied(folder, async () => {
      const manifest = await unpackChecked(options, { file, folder, flags });
      answer({ file, ...describe(manifest) }, () =>
        terminal.print(`The backup is whole. ${sayOrigin(manifest)}`),
      );
    });
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
  return emptied(folder, async () => {
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
  });
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

// The file of a backup: a gzipped tar archive, whose first entry says what the others are.

const NAMES: ReadonlySet<string> = new Set(Object.values(ENTRIES));
const MANIFEST = 'manifest.json';
const KIND = 'isthmus-backup';
/** Rises when an older program could not restore what a newer one writes. */
const FORMAT = 1;
const MAX_MANIFEST_BYTES = 65_536;

interface ArchivedFile {
  readonly name: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

interface Manifest {
  /** The release that made it. */
  readonly isthmus: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** The version of the shape of the database. */
  readonly schema: number;
  /** Of the secret key that opens what the database seals; undefined where the backup has none. */
  readonly secretKeyId: string | undefined;
  readonly files: readonly ArchivedFile[];
}

function measureFiles(folder: string, names: readonly string[]): Promise<readonly ArchivedFile[]> {
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const hash = createHash('sha256');
      await pipeline(createReadStream(path), hash);
      return { name, bytes: (await stat(path)).size, sha256: hash.digest('hex') };
    }),
  );
}

async function writeArchive(folder: string, manifest: Manifest, target: Writable): Promise<void> {
  const { files, ...facts } = manifest;
  const head = JSON.stringify({ kind: KIND, format: FORMAT, ...facts, files }, null, 2);
  const modified = Math.floor(Date.parse(manifest.createdAt) / 1000);
  async function* write(): AsyncGenerator<Buffer> {
    yield* entry(MANIFEST, Buffer.from(`${head}\n`));
    for (const { name, bytes } of files) {
      yield writeHeader(name, bytes, modified);
      for await (const chunk of createReadStream(join(folder, name))) yield chunk;
      yield padding(bytes);
    }
    yield Buffer.alloc(2 * BLOCK);
  }
  function* entry(name: string, content: Buffer): Generator<Buffer> {
    yield writeHeader(name, content.length, modified);
    yield content;
    yield padding(content.length);
  }
  await pipeline(write, createGzip(), target);
}

/** Unpacks an archive into an empty folder and checks every byte. @throws ArchiveError */
async function readArchive(source: Readable, folder: string): Promise<Manifest> {
  let manifest: Manifest | undefined;
  const seen = new Map<string, ArchivedFile>();
  try {
    await pipeline(source, createGunzip(), async (unpacked: AsyncIterable<Buffer>) => {
      const bytes = new ByteReader(unpacked);
      for (;;) {
        const header = readHeader(await bytes.take(BLOCK));
        if (header === undefined) break;
        if (manifest === undefined) {
          manifest = await readFirst(header, bytes);
        } else if (!NAMES.has(header.name) || seen.has(header.name)) {
          throw new ArchiveError(`It holds ${JSON.stringify(header.name)}, which no backup has.`);
        } else {
          seen.set(header.name, await unpack(header, bytes, folder));
        }
        await bytes.take(padding(header.bytes).length);
      }
      await bytes.drain();
    });
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    const isOfSystem = error instanceof Error && 'syscall' in error;
    const why = isOfSystem ? error.message : 'It is no backup of isthmus, or it is cut or damaged.';
    throw new ArchiveError(why, error);
  }
  if (manifest === undefined) throw new ArchiveError('It is no backup of isthmus.');
  for (const { name, sha256 } of manifest.files) {
    const found = seen.get(name);
    if (found === undefined) throw new ArchiveError(`It lacks ${name}.`);
    if (found.sha256 !== sha256) throw new ArchiveError(`Its ${name} is damaged.`);
  }
  if (seen.size !== manifest.files.length) throw new ArchiveError('It holds more than it lists.');
  return manifest;
}

/** What is wrong with the file of a backup. */
class ArchiveError extends Error {
  constructor(message: string, cause?: unknown) {
    super(`The backup cannot be used. ${message}`, cause === undefined ? undefined : { cause });
    this.name = 'ArchiveError';
  }
}

async function readFirst({ name, bytes }: Header, reader: ByteReader): Promise<Manifest> {
  if (name !== MANIFEST || bytes > MAX_MANIFEST_BYTES) {
    throw new ArchiveError('It is no backup of isthmus.');
  }
  return readManifest((await reader.take(bytes)).toString('utf8'));
}

function readManifest(text: string): Manifest {
  const value = parseJson(text);
  if (!isJsonObject(value) || value.kind !== KIND) {
    throw new ArchiveError('It is no backup of isthmus.');
  }
  const { format, isthmus, createdAt, schema, secretKeyId, files } = value;
  if (typeof format !== 'number' || format > FORMAT) {
    throw new ArchiveError(
      `It was made by isthmus ${String(isthmus)}, in a format that this program does not know. Restore it with that version.`,
    );
  }
  return {
    isthmus: String(isthmus),
    createdAt: String(createdAt),
    schema: Number(schema),
    secretKeyId: typeof secretKeyId === 'string' ? secretKeyId : undefined,
    files: objectsOf(files).map(readFile),
  };
}

function readFile({ name, bytes, sha256 }: JsonObject): ArchivedFile {
  return { name: String(name), bytes: Number(bytes), sha256: String(sha256) };
}

async function unpack(
  { name, bytes }: Header,
  reader: ByteReader,
  folder: string,
): Promise<ArchivedFile> {
  const hash = createHash('sha256');
  async function* pass(): AsyncGenerator<Buffer> {
    for await (const chunk of reader.stream(bytes)) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const options = { flags: 'wx', mode: 0o600, flush: true };
  await pipeline(pass, createWriteStream(join(folder, name), options));
  return { name, bytes, sha256: hash.digest('hex') };
}

/** Takes a stream apart in pieces of known lengths. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** @throws ArchiveError when the stream ends before */
  async take(length: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.stream(length)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async *stream(length: number): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      if (this.#rest.length === 0) await this.#fill();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  /** Reads to the end, so that the checksum of the compression is looked at. */
  async drain(): Promise<void> {
    for (let next = await this.#chunks.next(); !next.done; next = await this.#chunks.next());
  }

  async #fill(): Promise<void> {
    const next = await this.#chunks.next();
    if (next.done) throw new ArchiveError('It ends too early: it is cut.');
    this.#rest = next.value;
  }
}

// The tar format (POSIX ustar), of plain files in one folder.

const BLOCK = 512;
const FIELDS = { name: [0, 100], mode: [100, 8], size: [124, 12], modified: [136, 12] } as const;
const CHECKSUM_AT = 148;
const TYPE_AT = 156;
const MAGIC_AT = 257;
/** Longer files have their length in binary, as GNU tar writes it. */
const MAX_OCTAL = 8 ** 11 - 1;
const BINARY = 0x80;

interface Header {
  readonly name: string;
  readonly bytes: number;
}

function writeHeader(name: string, bytes: number, modified: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, FIELDS.name[0], 'utf8');
  header.write('0000600\0', FIELDS.mode[0], 'latin1');
  header.write('0000000\u00000000000\0', 108, 'latin1');
  if (bytes <= MAX_OCTAL) header.write(`${octal(bytes)} `, FIELDS.size[0], 'latin1');
  else {
    header.writeUInt8(BINARY, FIELDS.size[0]);
    header.writeBigUInt64BE(BigInt(bytes), FIELDS.size[0] + 4);
  }
  header.write(`${octal(modified)} `, FIELDS.modified[0], 'latin1');
  header.write('0', TYPE_AT, 'latin1');
  header.write('ustar\u000000', MAGIC_AT, 'latin1');
  const sum = checksumOf(header).toString(8).padStart(6, '0');
  header.write(`${sum}\0 `, CHECKSUM_AT, 'latin1');
  return header;
}

/** Undefined at the end of the archive, which is a block of zeros. */
function readHeader(block: Buffer): Header | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  const sum = Number.parseInt(block.toString('latin1', CHECKSUM_AT, CHECKSUM_AT + 6), 8);
  if (
    sum !== checksumOf(block) ||
    !/^[0\0]$/.test(block.toString('latin1', TYPE_AT, TYPE_AT + 1))
  ) {
    throw new ArchiveError('It is no backup of isthmus, or it is damaged.');
  }
  const [nameAt, nameLength] = FIELDS.name;
  const name = block.toString('utf8', nameAt, nameAt + nameLength).replace(/\0.*$/s, '');
  return { name, bytes: readSize(block) };
}

function readSize(block: Buffer): number {
  const [at, length] = FIELDS.size;
  if (block[at] === BINARY) return Number(block.readBigUInt64BE(at + 4));
  return Number.parseInt(block.toString('latin1', at, at + length), 8);
}

/** The sum of the bytes, with blanks in the place of the sum. */
function checksumOf(block: Buffer): number {
  let sum = 8 * 0x20;
  for (const [at, byte] of block.entries()) {
    if (at < CHECKSUM_AT || at >= CHECKSUM_AT + 8) sum += byte;
  }
  return sum;
}

function octal(value: number): string {
  return value.toString(8).padStart(11, '0');
}

function padding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);
}
