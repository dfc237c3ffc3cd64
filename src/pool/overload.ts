// Overload is the upstream's, not an account's: one model cools for every account of that upstream.

import type { Clock } from '../lib/clock.ts';

export interface Overloads extends UpstreamRests {
  /** Milliseconds until the model may be tried again; 0 when it may be now. */
  remainingMs(upstreamId: string, model: string, now: number): number;
  add(upstreamId: string, model: string, event: OverloadEvent): void;
  /** An answer ends the row, unless its attempt began before the last overload. */
  noteAnswer(upstreamId: string, model: string, startedAt: number): void;
  /** Ends the rests that began after this moment. */
  endSince(moment: number): void;
}

export interface OverloadEvent {
  readonly now: number;
  /** When the attempt began: what began before the last overload came at the same time as it. */
  readonly startedAt?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** What people see of overloads, and end. */
export interface UpstreamRests {
  /** The models of the upstream that rest now, by id: when each is tried again, in ms since the epoch. */
  of(upstreamId: string): ReadonlyMap<string, number>;
  /** Ends the rest of one model; of all models of the upstream when absent. */
  end(upstreamId: string, model?: string): void;
  /** Calls back when a rest begins or is ended; the answer ends it. */
  subscribe(listener: (upstreamId: string) => void): () => void;
}

interface Rest {
  readonly since: number;
  readonly until: number;
  /** Overloads in a row. */
  readonly count: number;
}

const STEPS_MS = [5000, 10_000, 15_000];
const LONGEST_HINT_MS = 60_000;

/** Consecutive overloads cool 5, 10, then 15 s; the upstream's own hint wins, up to a minute. */
export function createOverloads({ now: readNow }: Pick<Clock, 'now'>): Overloads {
  const upstreams = new Map<string, Map<string, Rest>>();
  const listeners = new Set<(upstreamId: string) => void>();
  const tell = (upstreamId: string): void => {
    for (const listener of listeners) listener(upstreamId);
  };
  const end: UpstreamRests['end'] = (upstreamId, model) => {
    const rests = upstreams.get(upstreamId);
    if (rests === undefined || (model !== undefined && !rests.has(model))) return;
    if (model !== undefined) rests.delete(model);
    if (model === undefined || rests.size === 0) upstreams.delete(upstreamId);
    tell(upstreamId);
  };
  return {
    remainingMs(upstreamId, model, now) {
      if (upstreams.size === 0) return 0;
      const rest = upstreams.get(upstreamId)?.get(model);
      return rest === undefined ? 0 : Math.max(0, rest.until - now);
    },
    add(upstreamId, model, event) {
      const rests = upstreams.get(upstreamId) ?? new Map<string, Rest>();
      upstreams.set(upstreamId, rests.set(model, nextRest(rests.get(model), event)));
      tell(upstreamId);
    },
    noteAnswer(upstreamId, model, startedAt) {
      const rest = upstreams.get(upstreamId)?.get(model);
      if (rest !== undefined && startedAt >= rest.since) end(upstreamId, model);
    },
    endSince(moment) {
      for (const [upstreamId, rests] of [...upstreams]) {
        for (const [model, { since }] of [...rests]) if (since > moment) end(upstreamId, model);
      }
    },
    of(upstreamId) {
      const now = readNow();
      const rests = [...(upstreams.get(upstreamId) ?? [])].filter(([, { until }]) => until > now);
      return new Map(rests.map(([model, { until }]) => [model, until]));
    },
    end,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function nextRest(
  rest: Rest | undefined,
  { now, startedAt = now, retryAfterMs }: OverloadEvent,
): Rest {
  const isSame = rest !== undefined && startedAt < rest.since;
  const count = (rest?.count ?? 0) + (isSame ? 0 : 1);
  const step = STEPS_MS[Math.min(count, STEPS_MS.length) - 1] ?? LONGEST_HINT_MS;
  const until = now + Math.min(retryAfterMs ?? step, LONGEST_HINT_MS);
  return isSame ? { ...rest, until: Math.max(rest.until, until) } : { since: now, until, count };
}
