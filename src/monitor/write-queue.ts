// Hands records to their store behind the requests' back: in batches, never waited for, bounded.

import type { Clock, Timer } from '../lib/clock.ts';
import { bodySize, type RequestRecord } from './record.ts';
import type { RequestStore } from './request-store.ts';

export interface WriteQueue {
  add(record: RequestRecord): void;
  /** What is not saved yet, by its own id or, failing that, the latest with that request id. */
  find(id: string): RequestRecord | undefined;
  /** Resolves when what waits now was given to the store, in vain where that fails. */
  flush(): Promise<void>;
  /** Records that wait because the store failed when it was last asked. */
  readonly unsaved: number;
  /** Records that were given up because the store failed or was too slow. */
  readonly dropped: number;
  /** Saves what waits as far as the store takes it in a moment. */
  close(): Promise<void>;
}

export interface WriteQueueOptions {
  readonly store: Pick<RequestStore, 'save'>;
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly log: { warn(fields: object, message: string): void };
}

const GATHER_MS = 250;
const SOON_MS = 1;
const AFTER_FAILURE_MS = 5000;
/** Saved in half a millisecond: everybody else waits for it. */
const BATCH_ROWS = 50;
const BATCH_CHARACTERS = 4_194_304;
const MOST_ROWS = 10_000;
const MOST_CHARACTERS = 67_108_864;
const CLOSE_MS = 1000;

export function createWriteQueue(options: WriteQueueOptions): WriteQueue {
  return new Queue(options);
}

class Queue implements WriteQueue {
  dropped = 0;
  readonly #options: WriteQueueOptions;
  #waiting: RequestRecord[] = [];
  /** What the store is being given. */
  #leaving: readonly RequestRecord[] = [];
  #characters = 0;
  #timer: Timer | undefined;
  #saving: Promise<void> | undefined;
  #isFailing = false;
  #saidFull = false;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  add(record: RequestRecord): void {
    this.#waiting.push(record);
    this.#characters += bodySize(record);
    this.#dropSurplus();
    if (this.#saving !== undefined) return;
    if (this.#waiting.length === BATCH_ROWS && !this.#isFailing) this.#hurry();
    else this.#schedule(this.#isFailing ? AFTER_FAILURE_MS : GATHER_MS);
  }

  find(id: string): RequestRecord | undefined {
    const all = [...this.#leaving, ...this.#waiting];
    const byId = all.findLast(({ row }) => row.id === id);
    return byId ?? all.findLast(({ row }) => row.requestId === id);
  }

  get unsaved(): number {
    return this.#isFailing ? this.#leaving.length + this.#waiting.length : 0;
  }

  async flush(): Promise<void> {
    while (this.#saving !== undefined) await this.#saving;
    this.#isFailing = false;
    await this.#run(async () => {
      while (this.#waiting.length > 0 && !this.#isFailing) await this.#save();
    });
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    const end = Promise.withResolvers<void>();
    const limit = this.#options.clock.startTimer(CLOSE_MS, () => end.resolve());
    await Promise.race([this.flush(), end.promise]);
    limit.cancel();
    this.#timer?.cancel();
    this.#drop(this.#waiting.length);
  }

  /** A batch is whole: records that wait longer only keep the memory's collector busy. */
  #hurry(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#schedule(SOON_MS);
  }

  #schedule(delayMs: number): void {
    this.#timer ??= this.#options.clock.startTimer(delayMs, () => {
      this.#timer = undefined;
      if (this.#saving === undefined) void this.#run(() => this.#save());
    });
  }

  #run(work: () => Promise<void>): Promise<void> {
    const saving = work().finally(() => {
      this.#saving = undefined;
      if (this.#waiting.length > 0) this.#schedule(this.#nextMs());
    });
    this.#saving = saving;
    return saving;
  }

  #nextMs(): number {
    if (this.#isFailing) return AFTER_FAILURE_MS;
    const isWhole = this.#waiting.length >= BATCH_ROWS || this.#characters > BATCH_CHARACTERS;
    return isWhole ? SOON_MS : GATHER_MS;
  }

  async #save(): Promise<void> {
    const batch = this.#takeBatch();
    this.#leaving = batch;
    try {
      await this.#options.store.save(batch);
      this.#isFailing = false;
      if (this.#waiting.length < MOST_ROWS / 2) this.#saidFull = false;
    } catch (error) {
      if (!this.#isFailing) {
        this.#options.log.warn({ error }, 'Request records are not saved; requests go on without.');
      }
      this.#isFailing = true;
      this.#waiting = [...batch, ...this.#waiting];
      this.#characters += batch.reduce((sum, record) => sum + bodySize(record), 0);
      this.#dropSurplus();
    } finally {
      this.#leaving = [];
    }
  }

  #takeBatch(): readonly RequestRecord[] {
    let characters = 0;
    let count = 0;
    for (const record of this.#waiting) {
      if (count === BATCH_ROWS || (count > 0 && characters > BATCH_CHARACTERS)) break;
      characters += bodySize(record);
      count += 1;
    }
    this.#characters -= characters;
    return this.#waiting.splice(0, count);
  }

  /** The oldest go: whoever looks for the reason of trouble looks at what happened last. */
  #dropSurplus(): void {
    const isFull = this.#waiting.length > MOST_ROWS || this.#characters > MOST_CHARACTERS;
    if (!isFull) return;
    let count = this.#waiting.length - MOST_ROWS;
    if (count < 1) count = 1;
    this.#drop(count);
    if (this.#saidFull) return;
    this.#saidFull = true;
    this.#options.log.warn({}, 'Request records are dropped: their store is too slow or stopped.');
  }

  #drop(count: number): void {
    const gone = this.#waiting.splice(0, count);
    this.#characters -= gone.reduce((sum, record) => sum + bodySize(record), 0);
    this.dropped += gone.length;
  }
}
