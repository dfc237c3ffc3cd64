// What the store knows of the time before this process, so that the overview is not blank after a start.

import type { Clock } from '../lib/clock.ts';
import type { LiveFigures } from './live-figures.ts';
import type { RequestRow } from './request-record.ts';
import type { RequestStore } from './request-store.ts';

export interface RecallOptions {
  readonly store: Pick<RequestStore, 'minutes' | 'list'>;
  readonly figures: Pick<LiveFigures, 'recall'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: { warn(fields: object, message: string): void };
}

export interface Recalled {
  /** The latest first; empty until they are read. */
  errors(): readonly RequestRow[];
  /** Forgets those that began before a time. */
  removeBefore(at: number): void;
  /** What is still being read counts no more. */
  close(): void;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Of the last hour, read at a time. */
const SPAN_MS = HOUR_MS / 6;
const ERRORS = 10;

/** Reads in the background, once. Only what began before: everything later is counted as it ends. */
export function recallBefore({ store, figures, clock, log }: RecallOptions): Recalled {
  const startedAt = clock.now();
  let errors: readonly RequestRow[] = [];
  let isClosed = false;
  const read = async (): Promise<void> => {
    for (let to = startedAt; to > startedAt - HOUR_MS && !isClosed; to -= SPAN_MS) {
      figures.recall(await store.minutes({ from: to - SPAN_MS, to }));
    }
    if (isClosed) return;
    const failed = { kind: 'outcome', outcome: 'error' } as const;
    const filter = { from: startedAt - DAY_MS, to: startedAt, status: failed };
    errors = (await store.list(filter, { limit: ERRORS })).rows;
  };
  read().catch((error: unknown) => {
    if (!isClosed) log.warn({ error }, 'Earlier requests could not be read for the overview.');
  });
  return {
    errors: () => errors,
    removeBefore(at) {
      errors = errors.filter((row) => row.at >= at);
    },
    close() {
      isClosed = true;
    },
  };
}
