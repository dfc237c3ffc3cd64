// What the overview shows of the time before a start: the figures of the last hour and the latest errors.

import type { Clock } from '../lib/clock.ts';
import type { LiveFigures } from './live.ts';
import type { RequestRow } from './record.ts';
import type { RequestStore } from './request-store.ts';

/** For reading back the time before this process, so that the overview is not empty after a start. */
interface RecallOptions {
  readonly store: Pick<RequestStore, 'minutes' | 'list'>;
  readonly figures: Pick<LiveFigures, 'recall'>;
  readonly errors: Pick<RecentErrors, 'recall'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: { warn(fields: object, message: string): void };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Of the last hour, read at a time. */
const SPAN_MS = HOUR_MS / 6;
const ERRORS = 10;

/** Reads in the background, once. Only what began before: everything later is counted as it ends. */
export function recallBefore({ store, figures, errors, clock, log }: RecallOptions) {
  const startedAt = clock.now();
  let isClosed = false;
  const read = async (): Promise<void> => {
    for (let to = startedAt; to > startedAt - HOUR_MS && !isClosed; to -= SPAN_MS) {
      figures.recall(await store.minutes({ from: to - SPAN_MS, to }));
    }
    if (isClosed) return;
    const failed = { kind: 'outcome', outcome: 'error' } as const;
    const filter = { from: startedAt - DAY_MS, to: startedAt, status: failed };
    errors.recall((await store.list(filter, { limit: ERRORS })).rows);
  };
  read().catch((error: unknown) => {
    if (!isClosed) log.warn({ error }, 'Earlier requests could not be read for the overview.');
  });
  return {
    /** What is still being read counts no more. */
    close(): void {
      isClosed = true;
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

  /** Adds those from before this process, the latest first. */
  recall(rows: readonly RequestRow[]): void {
    this.#rows = [...rows.toReversed(), ...this.#rows].slice(-MAX_ERRORS);
  }

  /** The latest first. */
  latest(): readonly RequestRow[] {
    return this.#rows.toReversed().sort((left, right) => right.at - left.at);
  }
  removeBefore(at: number): void {
    this.#rows = this.#rows.filter((row) => row.at >= at);
  }
}
