// Appends lines to files behind the back of whoever writes them: gathered, in order, bounded.

import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock, Timer } from '../lib/clock.ts';
import { isMissing } from './log-fault.ts';

export interface LineWriter {
  /** False when there is no room for it. */
  write(path: string, line: string): boolean;
  /** Resolves when everything so far is in its file or could not be written. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface LineWriterOptions {
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly onFault: (error: unknown) => void;
  readonly onSuccess: () => void;
}

interface Waiting {
  readonly path: string;
  text: string;
}

const GATHER_MS = 250;
const AFTER_FAULT_MS = 1000;
const ENOUGH_CHARACTERS = 65_536;
/** Of lines that wait for a slow or full disk. */
const MOST_CHARACTERS = 4_194_304;

export function createLineWriter(options: LineWriterOptions): LineWriter {
  return new Writer(options);
}

class Writer implements LineWriter {
  readonly #options: LineWriterOptions;
  readonly #waiting: Waiting[] = [];
  #characters = 0;
  #writing: Promise<void> | undefined;
  #timer: Timer | undefined;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  write(path: string, line: string): boolean {
    if (this.#characters + line.length > MOST_CHARACTERS) return false;
    const last = this.#waiting.at(-1);
    if (last?.path === path) last.text += line;
    else this.#waiting.push({ path, text: line });
    this.#characters += line.length;
    if (this.#characters >= ENOUGH_CHARACTERS && this.#timer !== undefined) void this.flush();
    else this.#schedule(GATHER_MS);
    return true;
  }

  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.flush();
    this.#timer?.cancel();
  }

  #schedule(delayMs: number): void {
    this.#timer ??= this.#options.clock.startTimer(delayMs, () => void this.flush());
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await append(next);
        this.#characters -= next.text.length;
        this.#options.onSuccess();
      } catch (error) {
        this.#waiting.unshift(next);
        this.#options.onFault(error);
        this.#schedule(AFTER_FAULT_MS);
        return;
      }
    }
  }
}

/** Makes the folder anew when somebody removed it, but none of those around it. */
async function append({ path, text }: Waiting): Promise<void> {
  try {
    await appendFile(path, text, { mode: 0o600 });
  } catch (error) {
    if (!isMissing(error)) throw error;
    await mkdir(dirname(path), { mode: 0o700 });
    await appendFile(path, text, { mode: 0o600 });
  }
}
