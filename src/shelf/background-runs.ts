// Answers that are made behind their clients' backs: a few at once, bounded for each key and in all.

export interface BackgroundRuns {
  /** What one client key may see and end; no other key's can be reached through it. */
  of(clientKeyId: string): RunsOfKey;
  /** Begins at once or in its turn. Tells why not when there are too many, or when everything stops. */
  start(run: BackgroundRun): StartedRun | RefusedRun;
  /** Ends all of them with that reason; resolves when they have ended. */
  close(reason: unknown): Promise<void>;
}

export interface RunsOfKey {
  /** Undefined when nothing of that id is being made. */
  stateOf(id: string): RunState | undefined;
  /** Ends it with that reason. Resolves when it has ended; false when there was nothing to end. */
  cancel(id: string, reason: unknown): Promise<boolean>;
}

export type RunState = 'queued' | 'in_progress';

interface BackgroundRun {
  readonly clientKeyId: string;
  /** What it holds in memory, in UTF-16 units. */
  readonly size: number;
  /** Names it, once it is sure to be taken. */
  begin(): string;
  /** Never rejects. The signal is aborted from the beginning when it was ended in its queue. */
  work(signal: AbortSignal): Promise<void>;
}

export interface StartedRun {
  readonly kind: 'started';
  /** Resolves when the work is over. */
  readonly ended: Promise<void>;
}

export interface RefusedRun {
  readonly kind: 'refused';
  readonly reason: 'too-many' | 'too-large' | 'closing';
}

export interface BackgroundLimits {
  /** At work at the same time; the others wait their turn. */
  readonly atOnce: number;
  /** Waiting and at work. */
  readonly perKey: number;
  readonly inAll: number;
  /** UTF-16 units of one run. */
  readonly size: number;
  /** UTF-16 units of all runs together. */
  readonly sizeInAll: number;
}

const LIMITS: BackgroundLimits = {
  atOnce: 16,
  perKey: 16,
  inAll: 128,
  size: 16 * 1024 * 1024,
  sizeInAll: 128 * 1024 * 1024,
};

interface OpenRun {
  readonly run: BackgroundRun;
  readonly abort: AbortController;
  readonly ended: PromiseWithResolvers<void>;
  state: RunState;
}

export function createBackgroundRuns(limits: Partial<BackgroundLimits> = {}): BackgroundRuns {
  return new Runs({ ...LIMITS, ...limits });
}

class Runs implements BackgroundRuns {
  readonly #limits: BackgroundLimits;
  /** In the order they came. */
  readonly #open = new Map<string, OpenRun>();
  #isClosing = false;

  constructor(limits: BackgroundLimits) {
    this.#limits = limits;
  }

  of(clientKeyId: string): RunsOfKey {
    const find = (id: string): OpenRun | undefined => {
      const open = this.#open.get(id);
      return open?.run.clientKeyId === clientKeyId ? open : undefined;
    };
    return {
      stateOf: (id) => find(id)?.state,
      async cancel(id, reason) {
        const open = find(id);
        if (open === undefined) return false;
        open.abort.abort(reason);
        await open.ended.promise;
        return true;
      },
    };
  }

  start(run: BackgroundRun): StartedRun | RefusedRun {
    const reason = this.#refusalOf(run);
    if (reason !== undefined) return { kind: 'refused', reason };
    const id = run.begin();
    const open: OpenRun = {
      run,
      abort: new AbortController(),
      ended: Promise.withResolvers<void>(),
      state: 'queued',
    };
    this.#open.set(id, open);
    // One that waits is ended without its turn: there is nothing to wait for.
    open.abort.signal.addEventListener('abort', () => this.#begin(id, open), { once: true });
    this.#beginNext();
    return { kind: 'started', ended: open.ended.promise };
  }

  async close(reason: unknown): Promise<void> {
    this.#isClosing = true;
    const all = [...this.#open.values()];
    for (const { abort } of all) abort.abort(reason);
    await Promise.all(all.map(({ ended }) => ended.promise));
  }

  #refusalOf({ clientKeyId, size }: BackgroundRun): RefusedRun['reason'] | undefined {
    if (this.#isClosing) return 'closing';
    if (size > this.#limits.size) return 'too-large';
    let [ofKey, units] = [0, size];
    for (const { run } of this.#open.values()) {
      if (run.clientKeyId === clientKeyId) ofKey += 1;
      units += run.size;
    }
    const { perKey, inAll, sizeInAll } = this.#limits;
    const isFull = ofKey >= perKey || this.#open.size >= inAll || units > sizeInAll;
    return isFull ? 'too-many' : undefined;
  }

  #beginNext(): void {
    let atWork = 0;
    for (const { state } of this.#open.values()) if (state === 'in_progress') atWork += 1;
    for (const [id, open] of this.#open) {
      if (atWork >= this.#limits.atOnce) return;
      if (open.state !== 'queued') continue;
      atWork += 1;
      this.#begin(id, open);
    }
  }

  #begin(id: string, open: OpenRun): void {
    if (open.state !== 'queued') return;
    open.state = 'in_progress';
    void open.run.work(open.abort.signal).finally(() => {
      this.#open.delete(id);
      open.ended.resolve();
      this.#beginNext();
    });
  }
}
