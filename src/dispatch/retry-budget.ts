// How many of all requests may be retries: a share of those of the last seconds.

import type { Clock } from '../lib/clock.ts';
import { remember } from '../lib/once.ts';

export type RetryBudget = ReturnType<typeof createRetryBudget>;
/** By the upstream and the model. */
export type RetryBudgets = (place: string) => RetryBudget;

/** Clients may name any model. */
const MAX_BUDGETS = 1000;

/** One for each model of an upstream: the outage of one is nothing to the others. */
export function createRetryBudgets(clock: Pick<Clock, 'monotonic'>): RetryBudgets {
  return remember(MAX_BUDGETS, () => createRetryBudget(clock));
}

const WINDOW_MS = 10_000;
const SHARE = 0.2;
const FLOOR = 10;

/**
 * Retries that did not help, and those under way, may be 20 % of the requests of the last ten to twenty
 * seconds, and at least ten: of all clients and of each alone, as what it asks may be what fails.
 */
function createRetryBudget(clock: Pick<Clock, 'monotonic'>) {
  let start = clock.monotonic();
  let current = createRetryWindow();
  let previous = createRetryWindow();
  const roll = (): void => {
    const elapsed = clock.monotonic() - start;
    if (elapsed < WINDOW_MS) return;
    previous = elapsed < 2 * WINDOW_MS ? current : createRetryWindow();
    current = createRetryWindow();
    start += elapsed;
  };
  return {
    noteRequest(client: string): void {
      if (clock.monotonic() - start >= WINDOW_MS) roll();
      add(current, client, 'requests', 1);
    },
    /** True when another path retry is allowed now. */
    hasRoom(client: string): boolean {
      roll();
      const own = [current, previous].map(({ byClient }) => byClient.get(client) ?? NONE);
      return isLeft([current.all, previous.all]) && isLeft(own);
    },
    /** Counts a retry that is made, also one there was room for when it was decided and no more. */
    take(client: string): void {
      roll();
      add(current, client, 'retries', 1);
    },
    /** A retry that succeeded is no part of an outage, and makes room for another. */
    giveBack(client: string): void {
      roll();
      const window = [current, previous].find(
        ({ byClient }) => (byClient.get(client) ?? NONE).retries > 0,
      );
      if (window !== undefined) add(window, client, 'retries', -1);
    },
  };
}

interface RetryCounts {
  requests: number;
  retries: number;
}

interface RetryWindow {
  readonly all: RetryCounts;
  readonly byClient: Map<string, RetryCounts>;
}

const NONE: Readonly<RetryCounts> = { requests: 0, retries: 0 };

function createRetryWindow(): RetryWindow {
  return { all: { ...NONE }, byClient: new Map() };
}

function add(window: RetryWindow, client: string, what: keyof RetryCounts, count: 1 | -1): void {
  const own = window.byClient.get(client) ?? { ...NONE };
  window.byClient.set(client, own);
  own[what] += count;
  window.all[what] += count;
}

function isLeft(windows: readonly Readonly<RetryCounts>[]): boolean {
  const requests = windows.reduce((sum, window) => sum + window.requests, 0);
  const retries = windows.reduce((sum, window) => sum + window.retries, 0);
  return retries < Math.max(FLOOR, requests * SHARE);
}
