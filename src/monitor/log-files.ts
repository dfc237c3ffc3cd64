// The log in files of a folder: a new file each day and when one is full, removed when old or too large together.

import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { appendFile, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GatewayError, gatewayError, invalidRequest } from '../canonical/error.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { type JsonObject, parseObject } from '../lib/json.ts';
import { codeOf } from '../lib/localized-message.ts';
import { WriteBehind } from '../lib/write-behind.ts';

interface LogFilesOptions {
  readonly folder: string;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  /** Told once of a fault, and again after it was over. */
  readonly onFault: (error: unknown) => void;
  readonly limits?: Partial<LogLimits>;
}

interface LogLimits {
  readonly maxFileBytes: number;
  readonly maxAgeMs: number;
  /** When all files together are larger, the oldest leave until `reducedBytes` remain. */
  readonly maxBytes: number;
  readonly reducedBytes: number;
}

const LIMITS: LogLimits = {
  maxFileBytes: 33_554_432,
  maxAgeMs: 604_800_000,
  maxBytes: 1_073_741_824,
  reducedBytes: 536_870_912,
};
const CLEAN_MS = 600_000;
const MAX_A_DAY = 9999;
const FILE_NAME = /^isthmus-\d{4}-\d\d-\d\d-\d{4}\.log$/;

const RETRY_MS = 1000;
const BATCH_CHARACTERS = 65_536;
/** Of lines that wait for a slow or full disk. */
const MAX_CHARACTERS = 4_194_304;

interface Lines {
  readonly path: string;
  readonly text: string;
}

export class LogFiles {
  dropped = 0;
  readonly #options: LogFilesOptions;
  readonly #limits: LogLimits;
  readonly #queue: WriteBehind<Lines>;
  readonly #listeners = new Set<(line: string) => void>();
  readonly #holders: (() => void)[] = [];
  #day = '';
  #number = 0;
  #bytes = 0;
  /** What is wrong since lines were last written. */
  #fault: unknown;
  #timer: Timer | undefined;

  /** @throws Error when the folder cannot be made */
  constructor(options: LogFilesOptions) {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#queue = new WriteBehind<Lines>({
      clock: options.clock,
      sizeOf: ({ text }) => text.length,
      fullDelayMs: 0,
      retryMs: () => RETRY_MS,
      batch: { count: Infinity, size: BATCH_CHARACTERS },
      limit: { count: Infinity, size: MAX_CHARACTERS },
      drops: 'newest',
      save: (batch, retryOnly) => this.#save(batch, retryOnly),
    });
    this.#clean();
  }

  /** Why lines are not written now, such as `ENOSPC`; undefined while they are. */
  get fault(): string | undefined {
    return this.#fault === undefined ? undefined : (codeOf(this.#fault) ?? 'unknown');
  }

  /** Lines of JSON, each with its line end; what cannot be written is counted and left out. */
  write(lines: string): void {
    try {
      if (!this.#queue.add({ path: this.#currentPath(), text: lines })) {
        this.dropped += countLines(lines);
      }
      // Nearly all of a line is ASCII, and a file may be a little longer.
      this.#bytes += lines.length;
      if (this.#listeners.size > 0) this.#tell(lines);
    } catch (error) {
      this.dropped += countLines(lines);
      this.#fail(error);
    }
  }

  /** Calls back before a flush, for lines that a writer holds back. */
  onFlush(listener: () => void): void {
    this.#holders.push(listener);
  }

  /** Calls back with every line that is written from now on; the answer ends it. */
  subscribe(listener: (line: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The latest lines first, also those written just now. @throws GatewayError in words for the operator */
  async read(query: LogQuery): Promise<LogPage> {
    await this.flush();
    const { folder } = this.#options;
    try {
      const names = listLogFiles(folder);
      // An empty page would hide that lines wait for a folder that cannot be made.
      if (names.length === 0 && this.#fault !== undefined) throw this.#fault;
      return await readPage(folder, names, query);
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      // The log cannot say itself why it cannot be read.
      const code = codeOf(error) ?? 'unknown error';
      const message = `The log in ${folder} cannot be read (${code}). Make it a folder that the user of this process may read and write; the error output has every line meanwhile.`;
      throw gatewayError('internal', message, { cause: error });
    }
  }

  /** Resolves when everything so far is in its file or could not be written. */
  async flush(): Promise<void> {
    for (const holder of this.#holders) holder();
    await this.#queue.flush().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    for (const holder of this.#holders) holder();
    await this.#queue.close();
  }

  async #save(
    batch: readonly Lines[],
    retryOnly: (unsaved: readonly Lines[]) => void,
  ): Promise<void> {
    const left = Map.groupBy(batch, ({ path }) => path);
    try {
      for (const [path, lines] of left) {
        await append(path, lines.map(({ text }) => text).join(''));
        left.delete(path);
        this.#fault = undefined;
      }
    } catch (error) {
      this.#fail(error);
      retryOnly([...left.values()].flat());
      throw error;
    }
  }

  #tell(lines: string): void {
    for (const line of lines.split('\n')) {
      if (line !== '') for (const listener of this.#listeners) listener(`${line}\n`);
    }
  }

  #currentPath(): string {
    const { folder, clock } = this.#options;
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    if (day !== this.#day) {
      // Goes on with what an earlier process wrote on the same day.
      const names = listLogFiles(folder).filter((name) => name.includes(day));
      this.#number = Math.max(1, ...names.map((name) => Number(name.slice(-8, -4))));
      this.#bytes = sizeOf(join(folder, nameOf(day, this.#number)));
      this.#day = day;
    } else if (this.#bytes >= this.#limits.maxFileBytes && this.#number < MAX_A_DAY) {
      this.#number += 1;
      this.#bytes = 0;
    }
    return join(folder, nameOf(day, this.#number));
  }

  #fail(error: unknown): void {
    if (this.#fault === undefined) this.#options.onFault(error);
    this.#fault = error;
  }

  #clean(): void {
    try {
      removeOld(this.#options.folder, { ...this.#limits, now: this.#options.clock.now() });
    } catch (error) {
      this.#fail(error);
    }
    this.#timer = this.#options.clock.startTimer(CLEAN_MS, () => this.#clean());
  }
}

/** By age, the oldest first; none when the folder was removed. */
function listLogFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => FILE_NAME.test(name))
      .sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Makes the folder again when it was removed, but not its parents. */
async function append(path: string, text: string): Promise<void> {
  try {
    await appendFile(path, text, { mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await mkdir(dirname(path), { mode: 0o700 });
    await appendFile(path, text, { mode: 0o600 });
  }
}

function removeOld(
  folder: string,
  { now, maxAgeMs, maxBytes, reducedBytes }: LogLimits & { readonly now: number },
): void {
  const files = listLogFiles(folder).map((name) => ({
    path: join(folder, name),
    bytes: sizeOf(join(folder, name)),
    // A day's file may be written until the day is over.
    endedAt: Date.parse(name.slice(8, 18)) + 86_400_000,
  }));
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const isTooMuch = total > maxBytes;
  // The last one is being written.
  for (const { path, bytes, endedAt } of files.slice(0, -1)) {
    const isOld = endedAt < now - maxAgeMs;
    if (!isOld && !(isTooMuch && total > reducedBytes)) continue;
    rmSync(path, { force: true });
    total -= bytes;
  }
}

function nameOf(day: string, number: number): string {
  return `isthmus-${day}-${String(number).padStart(4, '0')}.log`;
}

function countLines(lines: string): number {
  return lines.split('\n').length - 1;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

interface LogQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly level?: LogLevelName | undefined;
  readonly search?: string | undefined;
}

interface LogPage {
  readonly lines: readonly LogLine[];
  /** For the lines before these; a search may go on behind an empty page. */
  readonly nextCursor?: string | undefined;
}

const PIECE_BYTES = 262_144;
/** One page looks through so much at most. */
const MAX_READ = 8_388_608;
const LINE_END = 0x0a;

/** @param names of the files, oldest first. @throws GatewayError invalid-request for a bad cursor */
async function readPage(
  folder: string,
  names: readonly string[],
  query: LogQuery,
): Promise<LogPage> {
  const start = query.cursor === undefined ? undefined : readCursor(query.cursor);
  const lines: LogLine[] = [];
  let read = 0;
  for (const name of names.toReversed()) {
    if (start !== undefined && name > start.name) continue;
    const end = name === start?.name ? start.offset : undefined;
    for await (const piece of readBackward(join(folder, name), end)) {
      read += piece.bytes;
      const stoppedAt =
        takeLines(lines, piece, query) ?? (read >= MAX_READ ? piece.start : undefined);
      if (stoppedAt !== undefined) return { lines, nextCursor: `${name}:${stoppedAt}` };
    }
  }
  return { lines, nextCursor: undefined };
}

/** Where the line that filled the page begins; undefined while there is room. */
function takeLines(taken: LogLine[], { lines }: Piece, query: LogQuery): number | undefined {
  for (const { text, offset } of lines.toReversed()) {
    const line = matches(text, query);
    if (line !== undefined) taken.push(line);
    if (taken.length === query.limit) return offset;
  }
  return undefined;
}

function matches(text: string, { level, search }: LogQuery): LogLine | undefined {
  if (search !== undefined && !text.toLowerCase().includes(search.toLowerCase())) return undefined;
  const line = readLogLine(text);
  if (line === undefined || level === undefined) return line;
  return LOG_LEVELS.indexOf(line.level) >= LOG_LEVELS.indexOf(level) ? line : undefined;
}

function readCursor(cursor: string): { readonly name: string; readonly offset: number } {
  const [, name, offset] = /^(isthmus-[\d-]{15}\.log):(\d{1,12})$/.exec(cursor) ?? [];
  if (name !== undefined && offset !== undefined) return { name, offset: Number(offset) };
  throw invalidRequest(
    'cursor',
    'cursor: send the nextCursor of an earlier answer, or leave it out.',
  );
}

interface Piece {
  readonly lines: readonly { readonly text: string; readonly offset: number }[];
  /** Where the first of them begins. */
  readonly start: number;
  readonly bytes: number;
}

/** A file from its end, whole lines at a time; a line longer than a piece is passed over. */
async function* readBackward(path: string, before = Infinity): AsyncGenerator<Piece> {
  const file = await open(path, 'r').catch((error: unknown) => {
    // Old files leave while others are read.
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return;
  try {
    let end = Math.min(before, (await file.stat()).size);
    while (end > 0) {
      const from = Math.max(0, end - PIECE_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(end - from), 0, end - from, from);
      const bytes = buffer.subarray(0, bytesRead);
      const firstEnd = from === 0 ? -1 : bytes.indexOf(LINE_END);
      const isCut = firstEnd === -1 && from > 0;
      const start = isCut ? from : from + firstEnd + 1;
      const lines = isCut ? [] : splitLines(bytes.subarray(start - from), start);
      end = start === end ? from : start;
      yield { lines, start: end, bytes: bytesRead };
      end = Math.min(end, (await file.stat()).size);
    }
  } finally {
    await file.close();
  }
}

function splitLines(bytes: Buffer, at: number): Piece['lines'] {
  const lines: { text: string; offset: number }[] = [];
  let from = 0;
  while (from < bytes.length) {
    const found = bytes.indexOf(LINE_END, from);
    const end = found === -1 ? bytes.length : found;
    if (end > from) lines.push({ text: bytes.toString('utf8', from, end), offset: at + from });
    from = end + 1;
  }
  return lines;
}

// A line of the log: safe to store and to print whatever it says, and read back in parts.

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
type LogLevelName = (typeof LOG_LEVELS)[number];

interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: LogLevelName;
  readonly message: string;
  readonly fields: JsonObject;
}

/** Characters that JSON leaves raw and that mislead readers: controls, marks of direction, separators. */
const TREACHEROUS = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The same JSON text with those written as escapes. */
export function escapeLine(json: string): string {
  return json.replace(
    TREACHEROUS,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function readLogLine(text: string): LogLine | undefined {
  const { level, time, msg, pid: _pid, hostname: _hostname, ...fields } = parseObject(text);
  if (typeof level !== 'number' || typeof time !== 'number') return undefined;
  const name = LOG_LEVELS[Math.min(Math.max(Math.floor(level / 10) - 1, 0), LOG_LEVELS.length - 1)];
  return { at: time, level: name ?? 'info', message: typeof msg === 'string' ? msg : '', fields };
}
