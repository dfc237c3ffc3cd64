// The log in files of a folder: begun anew each day and when long, removed when old or too many.

import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../canonical/error.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { createLineWriter, type LineWriter } from './line-writer.ts';
import { isMissing, unreadableLog } from './log-fault.ts';
import { type LogPage, type LogQuery, readLogPage } from './log-reader.ts';

export interface LogFiles {
  /** Lines of JSON, each with its line end; what cannot be written is counted and left out. */
  write(lines: string): void;
  /** Calls back before a flush, for lines that somebody holds back. */
  onFlush(listener: () => void): void;
  /** The latest lines first, also those written just now. @throws GatewayError in words for the operator */
  read(query: LogQuery): Promise<LogPage>;
  /** Calls back with every line that is written from now on; the answer ends it. */
  subscribe(listener: (line: string) => void): () => void;
  /** Lines that could not be written. */
  readonly dropped: number;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface LogFilesOptions {
  readonly folder: string;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  /** Told once of a fault, and again after it was over. */
  readonly onFault: (error: unknown) => void;
  readonly limits?: Partial<LogLimits>;
}

export interface LogLimits {
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
const MOST_A_DAY = 9999;
const FILE_NAME = /^isthmus-\d{4}-\d\d-\d\d-\d{4}\.log$/;

/** @throws Error when the folder cannot be made */
export function openLogFiles(options: LogFilesOptions): LogFiles {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  return new Files(options);
}

/** By age, the oldest first; none when the folder was removed. */
export function listLogFiles(folder: string): readonly string[] {
  return listNames(folder)
    .filter((name) => FILE_NAME.test(name))
    .sort();
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

class Files implements LogFiles {
  dropped = 0;
  readonly #options: LogFilesOptions;
  readonly #limits: LogLimits;
  readonly #writer: LineWriter;
  readonly #listeners = new Set<(line: string) => void>();
  readonly #holders: (() => void)[] = [];
  #day = '';
  #number = 0;
  #bytes = 0;
  /** What is wrong since lines were last written. */
  #fault: unknown;
  #timer: Timer | undefined;

  constructor(options: LogFilesOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#writer = createLineWriter({
      clock: options.clock,
      onFault: (error) => this.#fail(error),
      onSuccess: () => {
        this.#fault = undefined;
      },
    });
    this.#clean();
  }

  write(lines: string): void {
    try {
      if (!this.#writer.write(this.#currentPath(), lines)) this.dropped += countLines(lines);
      // Nearly all of a line is ASCII, and a file may be a little longer.
      this.#bytes += lines.length;
      if (this.#listeners.size > 0) this.#tell(lines);
    } catch (error) {
      this.dropped += countLines(lines);
      this.#fail(error);
    }
  }

  onFlush(listener: () => void): void {
    this.#holders.push(listener);
  }

  subscribe(listener: (line: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async read(query: LogQuery): Promise<LogPage> {
    await this.flush();
    const { folder } = this.#options;
    try {
      const names = listLogFiles(folder);
      // An empty page would hide that lines wait for a folder that cannot be made.
      if (names.length === 0 && this.#fault !== undefined) throw this.#fault;
      return await readLogPage({ folder, names, query });
    } catch (error) {
      throw error instanceof GatewayError ? error : unreadableLog(folder, error);
    }
  }

  async flush(): Promise<void> {
    for (const holder of this.#holders) holder();
    // Once for what is being written now, once for what came since.
    await this.#writer.flush();
    await this.#writer.flush();
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    for (const holder of this.#holders) holder();
    await this.#writer.close();
  }

  #tell(lines: string): void {
    for (const line of lines.split('\n')) {
      if (line !== '') for (const listener of this.#listeners) listener(`${line}\n`);
    }
  }

  #currentPath(): string {
    const { folder, clock } = this.#options;
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    if (day !== this.#day) this.#startDay(day);
    else if (this.#bytes >= this.#limits.maxFileBytes && this.#number < MOST_A_DAY) {
      this.#number += 1;
      this.#bytes = 0;
    }
    return join(folder, nameOf(day, this.#number));
  }

  /** Goes on with what an earlier process wrote on the same day. */
  #startDay(day: string): void {
    const { folder } = this.#options;
    const numbers = listLogFiles(folder)
      .filter((name) => name.includes(day))
      .map((name) => Number(name.slice(-8, -4)));
    this.#number = Math.max(1, ...numbers);
    this.#bytes = sizeOf(join(folder, nameOf(day, this.#number)));
    this.#day = day;
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
