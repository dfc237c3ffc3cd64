// What the console shows of the time before a start: figures of the last hour, latest errors, how each account did.

import type { Clock, Timer } from '../lib/clock.ts';
import type { LiveFigures } from './live.ts';
import type { RequestRow } from './record.ts';
import type { AttemptSum, RequestStore } from './request-store.ts';

/** For reading back the time before this process, so that the overview is not empty after a start. */
interface RecallOptions {
  readonly store: Pick<RequestStore, 'minutes' | 'list' | 'attempts'>;
  readonly figures: Pick<LiveFigures, 'recall'>;
  readonly errors: Pick<RecentErrors, 'recall'>;
  /** Called with the attempts of the last day. */
  readonly onRecalledAttempts?: ((sums: readonly AttemptSum[]) => void) | undefined;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly log: { warn(fields: object, message: string): void };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Of the last hour, read at a time. */
const SPAN_MS = HOUR_MS / 6;
const ERRORS = 10;
/** What other processes record is saved by then. */
const SAVED_MS = 3000;

/** Reads in the background, once. Only what began before: everything later is counted as it ends. */
export function recallBefore({
  store,
  figures,
  errors,
  onRecalledAttempts,
  clock,
  log,
}: RecallOptions) {
  const startedAt = clock.now();
  let isClosed = false;
  let timer: Timer | undefined;
  const read = async (): Promise<void> => {
    for (let to = startedAt; to > startedAt - HOUR_MS && !isClosed; to -= SPAN_MS) {
      figures.recall(await store.minutes({ from: to - SPAN_MS, to }));
    }
    const attempts = await store.attempts({ from: startedAt - DAY_MS, to: startedAt });
    if (isClosed) return;
    onRecalledAttempts?.(attempts);
    await readErrors(startedAt);
  };
  const readErrors = async (to: number): Promise<void> => {
    const failed = { kind: 'outcome', outcome: 'error' } as const;
    const filter = { from: to - DAY_MS, to, status: failed };
    errors.recall((await store.list(filter, { limit: ERRORS })).rows);
  };
  const onFault = (error: unknown): void => {
    if (!isClosed) log.warn({ error }, 'Earlier requests could not be read for the console.');
  };
  read().catch(onFault);
  return {
    /** Reads the latest errors anew, in the background: other processes had some that were not told here. */
    readErrors(): void {
      readErrors(clock.now()).catch(onFault);
      // The last ones may not be saved yet.
      timer ??= clock.startTimer(SAVED_MS, () => {
        timer = undefined;
        readErrors(clock.now()).catch(onFault);
      });
    },
    /** What is still being read counts no more. */
    close(): void {
      isClosed = true;
      timer?.cancel();
    },
  };
}

const MAX_ERRORS = 100;

/** The rows of the latest failed requests, for the overview. */
export class RecentErrors {
  #rows: readonly RequestRow[] = [];

  add(row: RequestRow): void {
    this.#rows = [...this.#rows, row].slice(-MAX_ERRORS);
  }

  /** Adds those that are not known yet, from before this process or of another; the latest first. */
  recall(rows: readonly RequestRow[]): void {
    const known = new Set(this.#rows.map(({ id }) => id));
    const others = rows.filter(({ id }) => !known.has(id));
    this.#rows = [...others.toReversed(), ...this.#rows].slice(-MAX_ERRORS);
  }

  /** The latest first. */
  latest(): readonly RequestRow[] {
    return this.#rows.toReversed().sort((left, right) => right.at - left.at);
  }
  removeBefore(at: number): void {
    this.#rows = this.#rows.filter((row) => row.at >= at);
  }
}
