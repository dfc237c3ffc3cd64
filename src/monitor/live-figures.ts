// The figures of the last hour, minute by minute, and what runs right now.

import type { RequestRow } from './request-record.ts';
import type { MinuteSum } from './request-store.ts';

export interface LiveFigures {
  inFlight: number;
  add(row: RequestRow): void;
  /** Adds what ended before this process; what is too old is left out. */
  recall(minutes: readonly MinuteSum[]): void;
  /** The last 60 minutes, oldest first, the running one last; minutes without requests are there too. */
  series(): readonly MinuteSum[];
  /** Of the last whole 60 seconds' worth: the running minute and the share of the one before. */
  perMinute(): Omit<MinuteSum, 'at'>;
}

const MINUTE_MS = 60_000;
const MINUTES = 60;

interface Minute {
  at: number;
  requests: number;
  errors: number;
  tokens: number;
}

export function createLiveFigures(now: () => number): LiveFigures {
  const minutes: Minute[] = Array.from({ length: MINUTES }, () => emptyMinute(0));
  const startOf = (at: number): number => at - (at % MINUTE_MS);
  const minuteAt = (at: number): Minute => {
    const index = (at / MINUTE_MS) % MINUTES;
    const known = minutes[index];
    if (known?.at === at) return known;
    const fresh = emptyMinute(at);
    minutes[index] = fresh;
    return fresh;
  };
  const read = (at: number): Minute => {
    const known = minutes[(at / MINUTE_MS) % MINUTES];
    return known?.at === at ? known : emptyMinute(at);
  };
  return {
    inFlight: 0,
    add({ outcome, inputTokens = 0, outputTokens = 0 }) {
      const minute = minuteAt(startOf(now()));
      minute.requests += 1;
      if (outcome === 'error') minute.errors += 1;
      minute.tokens += inputTokens + outputTokens;
    },
    recall(earlier) {
      const oldest = startOf(now()) - (MINUTES - 1) * MINUTE_MS;
      for (const { at, requests, errors, tokens } of earlier) {
        if (at < oldest) continue;
        const minute = minuteAt(at);
        minute.requests += requests;
        minute.errors += errors;
        minute.tokens += tokens;
      }
    },
    series() {
      const last = startOf(now());
      return Array.from({ length: MINUTES }, (_, index) => ({
        ...read(last - (MINUTES - 1 - index) * MINUTE_MS),
      }));
    },
    perMinute() {
      const at = now();
      const running = read(startOf(at));
      const before = read(startOf(at) - MINUTE_MS);
      const share = 1 - (at % MINUTE_MS) / MINUTE_MS;
      const blend = (field: 'requests' | 'errors' | 'tokens'): number =>
        Math.round(running[field] + before[field] * share);
      return { requests: blend('requests'), errors: blend('errors'), tokens: blend('tokens') };
    },
  };
}

function emptyMinute(at: number): Minute {
  return { at, requests: 0, errors: 0, tokens: 0 };
}
