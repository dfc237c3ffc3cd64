// The monitor: records every model request, counts it, and sends it to the consoles that watch.

import type { ServedBy } from '../canonical/call-record.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type Clock, waitAtMost } from '../lib/clock.ts';
import type { WarnLog } from '../lib/log.ts';
import type { Redactor } from '../lib/redact.ts';
import type { AnswerPrice } from '../pricing/charges.ts';
import {
  createLiveFeed,
  createLiveFigures,
  type LiveFeed,
  type LiveFigures,
  RecentErrors,
  recallBefore,
} from './live.ts';
import { createMetrics, type MetricsSources } from './metrics.ts';
import type {
  EndedRequest,
  RequestObserver,
  RequestRecord,
  RequestRow,
  RunningRequest,
} from './record.ts';
import { createRetention, createWriteQueue, type RetentionSettings } from './record-keeping.ts';
import type { AttemptSum, RequestStore } from './request-store.ts';
import { RunningRequests } from './running.ts';
import { type RelaySharing, shareLive } from './shared-live.ts';
import { type FindKey, writeRecord } from './write-record.ts';

interface MonitorSettings extends RetentionSettings {
  readonly enabled: boolean;
  readonly keepsBodies: boolean;
  /** They are kept until then as well; milliseconds since the epoch. */
  readonly bodiesUntil?: number | undefined;
}

interface MonitorOptions {
  readonly store: RequestStore;
  readonly clock: Clock;
  /** Asked anew for every request. */
  readonly settings: () => MonitorSettings;
  /** Takes out what the request showed as credentials, and the gateway's own; none of them is in any record. */
  readonly redactorFor: (credentials: readonly string[]) => Redactor;
  /** Without it nothing is known of any. */
  readonly keyOf?: FindKey | undefined;
  /** What this process is called among those that serve together; undefined where it is alone. */
  readonly replica?: string | undefined;
  /** The other processes with the same records; without it there are none. */
  readonly sharing?: MonitorSharing | undefined;
  /** What the answers of an account cost; undefined where no price is known. */
  readonly priceOf: (servedBy: ServedBy) => AnswerPrice | undefined;
  /** The model a name leads to; undefined when no account offers it. */
  readonly targetOf: (model: string) => string | undefined;
  /** Called once with how the accounts did in the day before the start. */
  readonly onRecalledAttempts?: (sums: readonly AttemptSum[]) => void;
  /** What the metrics show of accounts, and of the whole. */
  readonly figures: Pick<MetricsSources, 'accounts' | 'quota' | 'attention' | 'budgets' | 'nameOf'>;
  readonly createId: (prefix: string) => string;
  /** What else was given up, by what it is, for the metrics. */
  readonly dropped?: (() => Readonly<Record<string, number>>) | undefined;
  /** Whether the database across the network answers; absent where there is none. */
  readonly hasDatabase?: (() => boolean) | undefined;
  /** Whether Valkey answers; absent where there is none. */
  readonly hasValkey?: (() => boolean) | undefined;
  /** Of several processes with the same records one removes the old ones. */
  readonly isLeading?: (() => boolean) | undefined;
  /** Whether `onRecord` looks at what requests asked for; they are kept until their end then. */
  readonly readsRequests?: boolean | undefined;
  /** Hears of every request besides, also while no records are kept; never throws. */
  readonly onRecord?: ((record: RequestRecord, ended: EndedRequest) => void) | undefined;
  readonly log: WarnLog;
}

interface MonitorSharing extends Pick<RelaySharing, 'cluster'> {
  readonly cluster: Pick<Cluster, 'replica' | 'notices' | 'state'>;
  /** The workers of this machine, where this is one: their log is this one's. */
  readonly siblings?: RelaySharing['cluster'] | undefined;
}

/** Of what tells a process from all others. */
const PROCESS_LENGTH = 12;

export type Monitor = ReturnType<typeof createMonitor>;

interface LiveParts {
  readonly figures: LiveFigures;
  readonly errors: RecentErrors;
  readonly recall: ReturnType<typeof recallBefore>;
  readonly save: () => Promise<void>;
}

function openLive(
  { sharing, clock, createId }: MonitorOptions,
  { figures, errors, recall, save }: LiveParts,
) {
  const shared = sharing && shareLive({ ...sharing, clock, figures });
  /** Where the others begin to tell by it, what failed at them before is in the store. */
  const watch = (): void => {
    if (shared?.watch() === true) recall.readErrors();
  };
  const feed = createLiveFeed(createId('').replaceAll('-', '_').slice(0, 8), {
    clock,
    onRead: watch,
    onPublish: shared && ((event) => shared.tell(event)),
  });
  shared?.connect({ feed, onFailed: (row) => errors.add(row), save });
  return { feed, shared, watch };
}

/** What waits for the store is waited for so long by who reads from it: one that hangs is read all the same. */
const SAVE_BEFORE_READ_MS = 500;

/** Of a key whose requests are only counted, their content is not passed on. */
function withoutAsked(ended: EndedRequest, keyOf: FindKey): EndedRequest {
  return keyOf(ended.clientKeyId)?.recording === 'counts' ? { ...ended, asked: undefined } : ended;
}

/** What is under way, listed as records are written. */
function openRunning(context: MonitorOptions & { readonly keyOf: FindKey }): RunningRequests {
  const { clock, replica, redactorFor, keyOf, createId, sharing } = context;
  return new RunningRequests({
    ...{ clock, replica, redactorFor, keyOf },
    process: createId('').replaceAll('-', '_').slice(0, PROCESS_LENGTH),
    cluster: sharing?.cluster,
  });
}

interface MeasuredParts {
  readonly figures: Pick<LiveFigures, 'inFlight'>;
  readonly feed: Pick<LiveFeed, 'readers'>;
  readonly dropped: () => number;
}

function openMetrics(options: MonitorOptions, { figures, feed, dropped }: MeasuredParts) {
  return createMetrics({
    ...options.figures,
    inFlight: () => figures.inFlight,
    dropped: () => ({ 'request-records': dropped(), ...options.dropped?.() }),
    feedReaders: () => feed.readers,
    hasDatabase: options.hasDatabase,
    hasValkey: options.hasValkey,
    startedAt: options.clock.now(),
  });
}

export function createMonitor(options: MonitorOptions) {
  const { store, clock, settings, log, keyOf = () => undefined } = options;
  const errors = new RecentErrors();
  const queue = createWriteQueue({ store, clock, log });
  const retention = createRetention({ store, clock, settings, log, isLeading: options.isLeading });
  const figures = createLiveFigures(() => clock.now());
  const recall = recallBefore({ ...options, figures, errors });
  const { feed, shared, watch } = openLive(options, {
    ...{ figures, errors, recall },
    save: () => saveBeforeRead(),
  });
  const context = { ...options, keyOf };
  const underWay = openRunning(context);
  /** Requests that ended and are not recorded yet: all of a turn together, after its sockets had theirs. */
  let ended: EndedRequest[] = [];
  /** Those that could not be recorded: a fault of the monitor is none of the request. */
  let faults = 0;
  /** Called before anything is read of the monitor, so that what ended is in it. */
  const record = (): void => {
    const batch = ended;
    if (batch.length === 0) return;
    ended = [];
    for (const one of batch) {
      try {
        const made = writeRecord(one, context, observer.keepsBodies);
        const { row } = made;
        figures.add(row);
        metrics.add(made, { ...one.facts, firstEventMs: one.firstEventMs });
        options.onRecord?.(made, withoutAsked(one, keyOf));
        if (!settings().enabled) continue;
        if (row.outcome === 'error') errors.add(row);
        queue.add(made);
        feed.publish('request', row);
      } catch (error) {
        faults += 1;
        if (faults === 1) log.warn({ error }, 'A request could not be recorded.');
      }
    }
  };
  /** Records every ended request, and resolves when the store was given them. */
  const flush = (): Promise<void> => {
    record();
    return queue.flush();
  };
  const saveBeforeRead = async (): Promise<void> =>
    void (await waitAtMost(clock, SAVE_BEFORE_READ_MS, flush()));
  const dropped = (): number => queue.dropped + faults;
  const metrics = openMetrics(options, { figures, feed, dropped });
  const observer = {
    get keepsBodies(): boolean {
      const { enabled, keepsBodies, bodiesUntil = 0 } = settings();
      return enabled && (keepsBodies || clock.now() < bodiesUntil);
    },
    readsRequests: options.readsRequests === true,
    onBegin(running: RunningRequest) {
      figures.inFlight += 1;
      underWay.here.add(running);
    },
    onEnd(request: EndedRequest, running: RunningRequest) {
      figures.inFlight -= 1;
      underWay.here.delete(running);
      if (ended.push(request) === 1) setImmediate(record);
    },
  } satisfies RequestObserver;
  return {
    observer,
    /** What ended before is told before: ask for it anew each time, as for the figures and the metrics. */
    get feed(): Omit<LiveFeed, 'close'> {
      record();
      return feed;
    },
    /** Of all processes, as far as those have told; who does not follow them waits for `look` first. */
    get figures(): Pick<LiveFigures, 'inFlight' | 'series' | 'perMinute'> {
      record();
      const { series, perMinute } = figures;
      return { inFlight: figures.inFlight + (shared?.inFlight ?? 0), series, perMinute };
    },
    /** Whether log lines are wanted, here or by a worker beside this one. */
    get isLogRead(): boolean {
      return feed.readers > 0 || shared?.isLogWatched === true;
    },
    async look(): Promise<void> {
      watch();
      await shared?.told();
    },
    get metrics(): Pick<typeof metrics, 'write'> {
      record();
      return metrics;
    },
    /** A request that was announced is found there: what waits is saved before a read. */
    store: {
      ...readsOf(store, saveBeforeRead),
      async removeBefore(at) {
        record();
        errors.removeBefore(at);
        // Else what waits would come into the store behind the removal, and stay.
        await flush();
        return store.removeBefore(at);
      },
    } satisfies Reads & Pick<RequestStore, 'removeBefore'>,
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
    flush,
    /** Records that wait because the store fails. */
    get unsaved() {
      return queue.unsaved;
    },
    get dropped() {
      return dropped();
    },
    get running(): Pick<RunningRequests, 'list' | 'stop'> {
      return underWay;
    },
    /** Saves what waits as far as the store takes it. */
    async close() {
      underWay.close();
      record();
      feed.close();
      shared?.close();
      recall.close();
      await retention.close();
      await queue.close();
    },
  };
}

type Reads = Pick<
  RequestStore,
  'list' | 'usage' | 'leadingUsage' | 'latency' | 'attempts' | 'breakdown'
>;

/** @param save gives the store what waits for it */
function readsOf(store: RequestStore, save: () => Promise<void>): Reads {
  const whenSaved = async <Result>(read: () => Promise<Result>): Promise<Result> => {
    await save();
    return read();
  };
  return {
    list: (filter, page) => whenSaved(() => store.list(filter, page)),
    usage: (spans, by, filter) => whenSaved(() => store.usage(spans, by, filter)),
    leadingUsage: (...asked) => whenSaved(() => store.leadingUsage(...asked)),
    latency: (request, leading) => whenSaved(() => store.latency(request, leading)),
    attempts: (span, account) => whenSaved(() => store.attempts(span, account)),
    breakdown: (span, filter) => whenSaved(() => store.breakdown(span, filter)),
  };
}
