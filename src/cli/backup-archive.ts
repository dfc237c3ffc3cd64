// The file of a backup: a gzipped tar archive, whose first entry says what the others are.

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';

/** What a backup holds, by the names within it. Those that are sealed open with the passphrase of the backup. */
export const ENTRIES = {
  database: 'isthmus.db',
  settings: 'gui_config.json',
  sealedSettings: 'gui_config.json.sealed',
  secretKey: 'secret.key',
  sealedSecretKey: 'secret.key.sealed',
  strict: 'auth-is-strict',
} as const;

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

export interface Manifest {
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

/** Size and checksum of files of a folder, as the manifest has them. */
export function measureFiles(
  folder: string,
  names: readonly string[],
): Promise<readonly ArchivedFile[]> {
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const hash = createHash('sha256');
      await pipeline(createReadStream(path), hash);
      return { name, bytes: (await stat(path)).size, sha256: hash.digest('hex') };
    }),
  );
}

/** Writes the archive of files of a folder, and ends the stream. */
export async function writeArchive(
  folder: string,
  manifest: Manifest,
  target: Writable,
): Promise<void> {
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

/**
 * Unpacks an archive into an empty folder and checks that all of it is there, byte for byte.
 * @throws Error in words: it is no backup, of a later version, cut or damaged
 */
export async function readArchive(source: Readable, folder: string): Promise<Manifest> {
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
    throw new ArchiveError('It is no backup of isthmus, or it is cut or damaged.', error);
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
    files: (Array.isArray(files) ? files.filter(isJsonObject) : []).map(readFile),
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
