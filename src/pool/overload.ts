// Client-side throttling of an overloaded upstream, one model at a time (Google SRE book, "Handling Overload").

import type { Clock } from '../lib/clock.ts';

export type Overloads = ReturnType<typeof createOverloads>;

/** `answered`: the upstream was well enough to fail or refuse it in another way. */
export type OverloadOutcome = 'overloaded' | 'answered' | 'success' | 'unknown';

interface OverloadLook {
  readonly now: number;
  readonly random: () => number;
  readonly isDryRun: boolean;
}

/** Requests up to so many times what the upstream accepts are passed on. */
const K = 2;
const WINDOW_MS = 30_000;
const SLOT_MS = 1_000;
const MIN_ATTEMPTS = 20;
/** One attempt in this time always passes. */
const SURE_PASS_MS = 1_000;
/** Clients may name any model. */
const MAX_MODELS = 256;

export function createOverloads({ now: readNow }: Pick<Clock, 'now'>) {
  const windows = new Map<string, Map<string, OverloadWindow>>();
  const listeners = new Set<(upstreamId: string) => void>();
  const notify = (upstreamId: string): void => {
    for (const listener of listeners) listener(upstreamId);
  };
  const find = (upstreamId: string, model: string) => windows.get(upstreamId)?.get(model);
  const open = (upstreamId: string, model: string, now: number): OverloadWindow => {
    const models = windows.get(upstreamId) ?? new Map<string, OverloadWindow>();
    windows.set(upstreamId, models);
    const window = models.get(model) ?? new OverloadWindow(now);
    if (!models.has(model) && models.size >= MAX_MODELS) models.clear();
    models.set(model, window);
    return window;
  };
  return {
    /**
     * Milliseconds until the model of the upstream is surely asked again; 0 when this request may ask now.
     * Decides by chance: call once a request and model. A refusal counts, unless it is a dry run.
     */
    refusalMs(upstreamId: string, model: string, look: OverloadLook): number {
      return find(upstreamId, model)?.refusalMs(look) ?? 0;
    },
    /** An attempt begins. */
    noteStart(upstreamId: string, model: string, now: number): void {
      const window = find(upstreamId, model) ?? open(upstreamId, model, now);
      window.inFlight += 1;
      window.lastPassAt = now;
    },
    /** An attempt ended, or its answer began; call once. */
    noteEnd(
      upstreamId: string,
      model: string,
      end: { now: number; outcome: OverloadOutcome },
    ): void {
      const { now, outcome } = end;
      const window = find(upstreamId, model);
      if (window?.noteEnd(outcome, now)) notify(upstreamId);
    },
    /** Forgets what was counted after this moment. */
    endSince(moment: number): void {
      for (const models of windows.values()) {
        for (const window of models.values()) if (window.latest > moment) window.empty();
      }
    },
    /** The throttled models of the upstream, by id: when each is surely asked again, in ms since the epoch. */
    of(upstreamId: string): ReadonlyMap<string, number> {
      const now = readNow();
      const throttled = [...(windows.get(upstreamId) ?? [])].filter(([, window]) =>
        window.isThrottled(now),
      );
      return new Map(
        throttled.map(([model, { lastPassAt }]) => [model, lastPassAt + SURE_PASS_MS]),
      );
    },
    /** Ends the throttling of one model; of all models of the upstream when absent. */
    end(upstreamId: string, model?: string): void {
      const models = windows.get(upstreamId);
      for (const [id, window] of models ?? [])
        if (model === undefined || id === model) window.empty();
      notify(upstreamId);
    },
    /** Calls back when throttling begins or ends. */
    subscribe(listener: (upstreamId: string) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

interface Slot {
  readonly from: number;
  requests: number;
  accepts: number;
}

/** What became of the last 30 s of requests for one model of an upstream. */
class OverloadWindow {
  inFlight = 0;
  lastPassAt = Number.NEGATIVE_INFINITY;
  #slots: Slot[] = [];
  /** When it was last known to be well. */
  #wellAt: number;

  constructor(now: number) {
    this.#wellAt = now;
  }

  /** The moment of the newest count. */
  get latest(): number {
    return this.#slots.at(-1)?.from ?? Number.NEGATIVE_INFINITY;
  }

  empty(): void {
    this.#slots = [];
  }

  refusalMs({ now, random, isDryRun }: OverloadLook): number {
    const share = this.#refusedShare(now);
    if (share <= 0) return 0;
    const sureMs = this.lastPassAt + SURE_PASS_MS - now;
    if (sureMs <= 0 || sureMs > SURE_PASS_MS || random() >= share) return 0;
    if (!isDryRun) this.#slot(now).requests += 1;
    return sureMs;
  }

  isThrottled(now: number): boolean {
    return this.#refusedShare(now) > 0;
  }

  /** True when with it throttling begins or ends. */
  noteEnd(outcome: OverloadOutcome, now: number): boolean {
    if (this.#slots.length > 0 || outcome === 'answered' || outcome === 'overloaded') {
      return this.#countEnd(outcome, now);
    }
    this.inFlight -= 1;
    if (outcome === 'success') this.#wellAt = now;
    return false;
  }

  #countEnd(outcome: OverloadOutcome, now: number): boolean {
    const was = this.isThrottled(now);
    this.inFlight -= 1;
    if (outcome === 'success') {
      this.empty();
      this.#wellAt = now;
    } else if (outcome !== 'unknown') {
      const slot = this.#slot(now);
      slot.requests += 1;
      if (outcome === 'answered') slot.accepts += 1;
    }
    return was !== this.isThrottled(now);
  }

  #refusedShare(now: number): number {
    if (this.#slots.length === 0) return 0;
    this.#slots = this.#slots.filter(({ from }) => from > now - WINDOW_MS && from <= now);
    const requests = this.#slots.reduce((sum, slot) => sum + slot.requests, 0);
    if (requests < MIN_ATTEMPTS) return 0;
    const accepts = this.#slots.reduce((sum, slot) => sum + slot.accepts, 0);
    // An overload is said at once and an answer takes a while: those under way may yet be answered.
    const hopes = now - this.#wellAt < WINDOW_MS ? this.inFlight : 0;
    return (requests - K * (accepts + hopes)) / (requests + 1);
  }

  #slot(now: number): Slot {
    const last = this.#slots.at(-1);
    if (last !== undefined && now - last.from < SLOT_MS && now >= last.from) return last;
    const slot = { from: now, requests: 0, accepts: 0 };
    this.#slots.push(slot);
    return slot;
  }
}
