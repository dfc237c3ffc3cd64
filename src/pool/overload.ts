// Overload is the upstream's, not an account's: one model cools for every account of that upstream.

export interface Overloads {
  /** Milliseconds until the model may be tried again; 0 when it may be now. */
  remainingMs(upstreamId: string, model: string, now: number): number;
  add(
    upstreamId: string,
    model: string,
    event: { readonly now: number; readonly retryAfterMs?: number | undefined },
  ): void;
  clear(upstreamId: string, model: string): void;
}

const STEPS_MS = [5000, 10_000, 15_000];
const LONGEST_HINT_MS = 60_000;

/** Consecutive overloads cool 5, 10, then 15 s; the upstream's own hint wins, up to a minute. */
export function createOverloads(): Overloads {
  const states = new Map<string, { until: number; count: number }>();
  const key = (upstreamId: string, model: string): string => `${upstreamId} ${model}`;
  return {
    remainingMs(upstreamId, model, now) {
      if (states.size === 0) return 0;
      const state = states.get(key(upstreamId, model));
      return state === undefined ? 0 : Math.max(0, state.until - now);
    },
    add(upstreamId, model, { now, retryAfterMs }) {
      const count = (states.get(key(upstreamId, model))?.count ?? 0) + 1;
      const step = STEPS_MS[Math.min(count, STEPS_MS.length) - 1] ?? LONGEST_HINT_MS;
      const waitMs = Math.min(retryAfterMs ?? step, LONGEST_HINT_MS);
      states.set(key(upstreamId, model), { until: now + waitMs, count });
    },
    clear: (upstreamId, model) => void states.delete(key(upstreamId, model)),
  };
}
