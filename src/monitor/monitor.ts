// The monitor: hears of every model request, keeps its record, counts it and tells whoever watches.

import type { Clock, Timer } from '../lib/clock.ts';
import { createRedactors, type SecretIndex } from '../lib/redact.ts';
import { WriteBehind } from '../lib/write-behind.ts';
import { createLiveFeed, createLiveFigures, type LiveFeed, type LiveFigures } from './live.ts';
import { createMetrics } from './metrics.ts';
import {
  bodySize,
  type EndedRequest,
  type RequestObserver,
  type RequestRecord,
  type RequestRow,
} from './record.ts';
import type { RequestStore } from './request-store.ts';
import { writeRecord } from './write-record.ts';

interface MonitorSettings extends RetentionSettings {
  readonly enabled: boolean;
  readonly keepsBodies: boolean;
}

interface MonitorOptions {
  readonly store: RequestStore;
  readonly clock: Clock;
  /** Asked anew for every request. */
  readonly settings: () => MonitorSettings;
  /** Credentials of the gateway, asked anew for every request; none of them stands in any record. */
  readonly secrets: () => readonly string[];
  readonly accountSecrets?: Pick<SecretIndex, 'hide' | 'version'> | undefined;
  readonly keyName: (keyId: string) => string | undefined;
  /** The model a name leads to; undefined when no account offers it. */
  readonly targetOf: (model: string) => string | undefined;
  readonly accounts: () => Readonly<Record<string, number>>;
  readonly createId: (prefix: string) => string;
  /** What else was given up, by what it is, for the metrics. */
  readonly dropped?: (() => Readonly<Record<string, number>>) | undefined;
  /** Whether `onRecord` looks at what requests asked for; they are kept until their end then. */
  readonly readsRequests?: boolean | undefined;
  /** Hears of every request besides, also while no records are kept; never throws. */
  readonly onRecord?: ((record: RequestRecord, ended: EndedRequest) => void) | undefined;
  readonly log: { warn(fields: object, message: string): void };
}

export type Monitor = ReturnType<typeof createMonitor>;

export function createMonitor(options: MonitorOptions) {
  const { store, clock, settings, log } = options;
  const errors = new RecentErrors();
  const redactorFor = createRedactors(options.secrets, options.accountSecrets);
  const queue = createWriteQueue({ store, clock, log });
  const retention = createRetention({ store, clock, settings, log });
  const feed = createLiveFeed(options.createId('').replaceAll('-', '_').slice(0, 8));
  const figures = createLiveFigures(() => clock.now());
  const recall = recallBefore({ store, figures, errors, clock, log });
  const context = { ...options, redactorFor };
  /** Requests that ended and are not recorded yet: all of a turn together, after its sockets had theirs. */
  let ended: EndedRequest[] = [];
  /** Those that could not be recorded: a fault of the monitor is none of the request. */
  let faults = 0;
  /** Whoever asks the monitor something has them recorded before. */
  const record = (): void => {
    const batch = ended;
    if (batch.length === 0) return;
    ended = [];
    for (const one of batch) {
      try {
        const { enabled, keepsBodies } = settings();
        const made = writeRecord(one, context, keepsBodies);
        const { row } = made;
        figures.add(row);
        metrics.add(made);
        options.onRecord?.(made, one);
        if (!enabled) continue;
        if (row.outcome === 'error') errors.add(row);
        queue.add(made);
        feed.publish('request', row);
      } catch (error) {
        faults += 1;
        if (faults === 1) log.warn({ error }, 'A request could not be recorded.');
      }
    }
  };
  const dropped = (): number => queue.dropped + faults;
  const metrics = createMetrics({
    inFlight: () => figures.inFlight,
    dropped: () => ({ 'request-records': dropped(), ...options.dropped?.() }),
    feedReaders: () => feed.readers,
    accounts: options.accounts,
    startedAt: clock.now(),
  });
  return {
    observer: {
      get keepsBodies() {
        const { enabled, keepsBodies } = settings();
        return enabled && keepsBodies;
      },
      readsRequests: options.readsRequests === true,
      onBegin() {
        figures.inFlight += 1;
      },
      onEnd(request: EndedRequest) {
        figures.inFlight -= 1;
        if (ended.push(request) === 1) setImmediate(record);
      },
    } satisfies RequestObserver,
    /** What ended before is told before: ask for it anew each time, as for the figures and the metrics. */
    get feed(): Omit<LiveFeed, 'close'> {
      record();
      return feed;
    },
    get figures(): Pick<LiveFigures, 'inFlight' | 'series' | 'perMinute'> {
      record();
      return figures;
    },
    get metrics(): Pick<typeof metrics, 'write'> {
      record();
      return metrics;
    },
    /** The saved records; a request that just ended is among them after a moment. */
    store: {
      list: (filter, page) => store.list(filter, page),
      usage: (spans, by) => store.usage(spans, by),
      async removeBefore(at) {
        record();
        errors.removeBefore(at);
        // Else what waits would come into the store behind the removal, and stay.
        await queue.flush();
        return store.removeBefore(at);
      },
    } satisfies Pick<RequestStore, 'list' | 'usage' | 'removeBefore'>,
    /** Also finds a request that ended this very moment. */
    async find(id: string): Promise<RequestRecord | undefined> {
      record();
      return queue.find(id) ?? store.find(id);
    },
    /** The latest first; a few from before the process began are among them after a moment. */
    recentErrors(limit: number): readonly RequestRow[] {
      record();
      return errors.latest().slice(0, limit);
    },
    /** Records every ended request, and resolves when the store was given them. */
    flush() {
      record();
      return queue.flush();
    },
    /** Records that wait because the store fails. */
    get unsaved() {
      return queue.unsaved;
    },
    get dropped() {
      return dropped();
    },
    /** Saves what waits as far as the store takes it. */
    async close() {
      record();
      feed.close();
      recall.close();
      await retention.close();
      await queue.close();
    },
  };
}

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

interface RetentionSettings {
  readonly retentionMs: number;
  readonly maxBytes: number;
}

interface RetentionOptions {
  readonly store: Pick<RequestStore, 'sweep'>;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly settings: () => RetentionSettings;
  readonly log: { warn(fields: object, message: string): void };
}

const FIRST_MS = 30_000;
const BETWEEN_MS = 300_000;
const BETWEEN_STEPS_MS = 50;
const YEAR_MS = 31_622_400_000;
/** When there is too much, so much of the allowed stays. */
const REDUCED_SHARE = 0.5;

/** Runs until `close`, which waits for the step under way. */
export function createRetention(options: RetentionOptions): { close(): Promise<void> } {
  const { store, clock, settings, log } = options;
  let timer: Timer | undefined;
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;
  let isFailing = false;
  const schedule = (delayMs: number): void => {
    if (isClosed) return;
    timer = clock.startTimer(delayMs, () => {
      running = step();
    });
  };
  const step = async (): Promise<void> => {
    const { retentionMs, maxBytes } = settings();
    const now = clock.now();
    let isDone = true;
    try {
      isDone = await store.sweep({
        oldest: now - retentionMs,
        oldestUsage: now - YEAR_MS,
        maxBytes,
        reducedBytes: maxBytes * REDUCED_SHARE,
      });
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn({ error }, 'Old request records cannot be removed; tried again later.');
      isFailing = true;
    }
    schedule(isDone ? BETWEEN_MS : BETWEEN_STEPS_MS);
  };
  schedule(FIRST_MS);
  return {
    async close() {
      isClosed = true;
      timer?.cancel();
      await running;
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

interface WriteQueueOptions {
  readonly store: Pick<RequestStore, 'save'>;
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly log: { warn(fields: object, message: string): void };
}

/** A whole batch is saved at once: records that wait longer only cost the garbage collector. */
const FULL_DELAY_MS = 1;
/** Saved in half a millisecond: all requests wait for it. */
const BATCH = { count: 50, size: 4_194_304 };
const LIMIT = { count: 10_000, size: 67_108_864 };
const CLOSE_MS = 1000;

export function createWriteQueue({ store, clock, log }: WriteQueueOptions) {
  let isOverflowLogged = false;
  const queue = new WriteBehind<RequestRecord>({
    clock,
    log,
    sizeOf: bodySize,
    fullDelayMs: FULL_DELAY_MS,
    batch: BATCH,
    limit: LIMIT,
    failure: 'Request records are not saved; requests go on without.',
    async save(records) {
      await store.save(records);
      if (queue.size < LIMIT.count / 2) isOverflowLogged = false;
    },
  });
  return {
    // The oldest are dropped: the latest help most to find the reason of trouble.
    add(record: RequestRecord): void {
      const before = queue.dropped;
      queue.add(record);
      if (queue.dropped === before || isOverflowLogged) return;
      isOverflowLogged = true;
      log.warn({}, 'Request records are dropped: their store is too slow or stopped.');
    },
    /** The record that is not saved yet, by its own id or else the latest with that request id. */
    find(id: string): RequestRecord | undefined {
      const records = queue.entries();
      const byId = records.findLast(({ row }) => row.id === id);
      return byId ?? records.findLast(({ row }) => row.requestId === id);
    },
    flush: () => queue.flush().catch(() => undefined),
    get unsaved() {
      return queue.isFailing ? queue.size : 0;
    },
    get dropped() {
      return queue.dropped;
    },
    close: async () => void (await queue.close(CLOSE_MS)),
  };
}
