// Client-side throttling of an overloaded upstream, one model at a time (Google SRE book, "Handling Overload").

import type { Clock } from '../lib/clock.ts';

/** `answered`: the upstream was well enough to fail or refuse it in another way. */
export type OverloadOutcome = 'overloaded' | 'answered' | 'success' | 'unknown';

interface OverloadLook {
  readonly now: number;
  readonly random: () => number;
  readonly isDryRun: boolean;
}

interface Slot {
  readonly from: number;
  requests: number;
  accepts: number;
}

/** What became of the last 30 s of requests for one model of an upstream. */
interface OverloadWindow {
  readonly upstreamId: string;
  inFlight: number;
  lastPassAt: number;
  /** Empty while nothing fails. */
  slots: Slot[];
  /** When it was last known to be well. */
  wellAt: number;
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

export class Overloads {
  readonly #clock: Pick<Clock, 'now'>;
  /** By upstream and model. */
  readonly #windows = new Map<string, Map<string, OverloadWindow>>();
  /** Those in which something failed lately: while there are none every request passes. */
  readonly failing = new Set<OverloadWindow>();
  readonly #listeners = new Set<(upstreamId: string) => void>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** An attempt begins. */
  noteStart(upstreamId: string, model: string, now: number): OverloadWindow {
    const models = this.#windows.get(upstreamId) ?? new Map<string, OverloadWindow>();
    if (models.size === 0) this.#windows.set(upstreamId, models);
    let window = models.get(model);
    if (window === undefined) {
      window = { upstreamId, inFlight: 0, lastPassAt: now, slots: [], wellAt: now };
      if (models.size >= MAX_MODELS) {
        for (const forgotten of models.values()) this.failing.delete(forgotten);
        models.clear();
      }
      models.set(model, window);
    }
    window.inFlight += 1;
    window.lastPassAt = now;
    return window;
  }

  /** An attempt ended, or its answer began; call once. */
  noteEnd(window: OverloadWindow, outcome: OverloadOutcome, now: number): void {
    const fails = outcome === 'answered' || outcome === 'overloaded';
    if (window.slots.length === 0 && !fails) {
      window.inFlight -= 1;
      if (outcome === 'success') window.wellAt = now;
      return;
    }
    const was = this.#refusedShare(window, now) > 0;
    window.inFlight -= 1;
    if (outcome === 'success') {
      this.#empty(window);
      window.wellAt = now;
    } else if (fails) {
      const slot = slotAt(window, now);
      slot.requests += 1;
      if (outcome === 'answered') slot.accepts += 1;
      this.failing.add(window);
    }
    if (was !== this.#refusedShare(window, now) > 0) this.#notify(window.upstreamId);
  }

  /** Milliseconds until it is asked again, 0 when this request may. By chance: call once a request and model. */
  refusalMs(upstreamId: string, model: string, { now, random, isDryRun }: OverloadLook): number {
    const window = this.#windows.get(upstreamId)?.get(model);
    const share = window === undefined ? 0 : this.#refusedShare(window, now);
    if (window === undefined || share <= 0) return 0;
    const sureMs = window.lastPassAt + SURE_PASS_MS - now;
    if (sureMs <= 0 || sureMs > SURE_PASS_MS || random() >= share) return 0;
    if (!isDryRun) slotAt(window, now).requests += 1;
    return sureMs;
  }

  /** Forgets what was counted after this moment. */
  endSince(moment: number): void {
    for (const window of this.failing) {
      if ((window.slots.at(-1)?.from ?? moment) > moment) this.#empty(window);
    }
  }

  /** The throttled models of the upstream, by id: when each is surely asked again, in ms since the epoch. */
  of(upstreamId: string): ReadonlyMap<string, number> {
    const now = this.#clock.now();
    const throttled = new Map<string, number>();
    for (const [model, window] of this.#windows.get(upstreamId) ?? []) {
      if (this.#refusedShare(window, now) <= 0) continue;
      throttled.set(model, window.lastPassAt + SURE_PASS_MS);
    }
    return throttled;
  }

  end(upstreamId: string, model?: string): void {
    for (const [id, window] of this.#windows.get(upstreamId) ?? []) {
      if (model === undefined || id === model) this.#empty(window);
    }
    this.#notify(upstreamId);
  }

  /** Calls back when throttling begins or ends. */
  subscribe(listener: (upstreamId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #notify(upstreamId: string): void {
    for (const listener of this.#listeners) listener(upstreamId);
  }

  #empty(window: OverloadWindow): void {
    window.slots = [];
    this.failing.delete(window);
  }

  #refusedShare(window: OverloadWindow, now: number): number {
    window.slots = window.slots.filter(({ from }) => from > now - WINDOW_MS && from <= now);
    if (window.slots.length === 0) this.failing.delete(window);
    let requests = 0;
    let accepts = 0;
    for (const slot of window.slots) {
      requests += slot.requests;
      accepts += slot.accepts;
    }
    if (requests < MIN_ATTEMPTS) return 0;
    // An overload is said at once and an answer takes a while: those under way may yet be answered.
    const hopes = now - window.wellAt < WINDOW_MS ? window.inFlight : 0;
    return (requests - K * (accepts + hopes)) / (requests + 1);
  }
}

function slotAt({ slots }: OverloadWindow, now: number): Slot {
  const last = slots.at(-1);
  if (last !== undefined && now - last.from < SLOT_MS && now >= last.from) return last;
  const slot = { from: now, requests: 0, accepts: 0 };
  slots.push(slot);
  return slot;
}
