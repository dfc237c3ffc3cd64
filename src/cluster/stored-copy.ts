// What a process has in memory of something stored that other processes change as well.

import type { Clock, Timer } from '../lib/clock.ts';
import type { WarnLog } from '../lib/log.ts';
import type { Cluster } from './cluster.ts';
import { createHearing } from './hearing.ts';

/** What cannot be read although the database answers, as a lock holds it or all connections are at work. */
const RETRY_MS = 5000;
/** Who takes longer to read what was changed hangs. */
const TAKEN_MS = 5000;

interface StoredCopyOptions<Stored> {
  /** Such as `Keys`. */
  readonly what: string;
  readonly log: WarnLog | undefined;
  readonly clock: Pick<Clock, 'startTimer'>;
  /** Where changes are waited for until all others have them. */
  readonly cluster?: Pick<Cluster, 'notices' | 'replica' | 'state' | 'subscribe'> | undefined;
  read(): Promise<Stored>;
  take(stored: Stored): void;
}

/** Reads anew what others changed, one reading at a time, never without what this process just stored. */
export class StoredCopy<Stored> {
  readonly #options: StoredCopyOptions<Stored>;
  #reading: Promise<void> | undefined;
  #isDue = false;
  #ownChanges = 0;
  #isFailing = false;
  #retry: Timer | undefined;
  #isClosed = false;
  readonly #hearing: ReturnType<typeof createHearing> | undefined;

  constructor(options: StoredCopyOptions<Stored>) {
    this.#options = options;
    const { cluster, clock, what } = options;
    this.#hearing =
      cluster &&
      createHearing({
        ...{ cluster, clock, subject: what, mostMs: TAKEN_MS },
        taken: async () => {
          await this.settled;
          return !this.#isFailing;
        },
      });
  }

  /** A change of this process is stored, and taken over here in this turn. */
  noteChange(): void {
    this.#ownChanges += 1;
  }

  /** Resolves when all others have what was told to be stored, or had the time to. */
  async taken(): Promise<void> {
    await this.#hearing?.heard();
  }

  /** Once more where it is asked for while it runs. What cannot be read now stays as it was until it can. */
  reread(): Promise<void> {
    this.#isDue = true;
    this.#reading ??= this.#readWhileDue();
    return this.#reading;
  }

  /** What `look` finds, if need be after reading anew what another process may have stored just now. */
  async find<Found>(
    look: () => Found | undefined,
    isOld: (found: Found) => boolean = () => false,
  ): Promise<Found | undefined> {
    const known = look();
    if (known !== undefined && !isOld(known)) return known;
    await this.reread();
    return look();
  }

  /** Resolves when nothing is being read. */
  get settled(): Promise<void> {
    return this.#reading ?? Promise.resolve();
  }

  close(): void {
    this.#isClosed = true;
    this.#hearing?.close();
    this.#retry?.cancel();
  }

  async #readWhileDue(): Promise<void> {
    const { read, take } = this.#options;
    while (this.#isDue) {
      this.#isDue = false;
      const before = this.#ownChanges;
      try {
        const stored = await read();
        if (before === this.#ownChanges) take(stored);
        else this.#isDue = true;
        this.#isFailing = false;
      } catch (error) {
        this.#fail(error);
      }
    }
    this.#reading = undefined;
  }

  #fail(error: unknown): void {
    const { what, log, clock } = this.#options;
    const message = `${what} that another process changed cannot be read; they stay as they were until they can.`;
    if (!this.#isFailing) log?.warn({ error }, message);
    this.#isFailing = true;
    if (this.#isClosed) return;
    this.#retry?.cancel();
    this.#retry = clock.startTimer(RETRY_MS, () => void this.reread());
  }
}
