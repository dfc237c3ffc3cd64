// The monitor: hears of every model request, keeps its record, counts it and tells whoever watches.

import type { Clock } from '../lib/clock.ts';
import type { SecretIndex } from '../lib/secret-spelling.ts';
import { createLiveFeed, type LiveFeed } from './live-feed.ts';
import { createLiveFigures, type LiveFigures } from './live-figures.ts';
import { createMetrics, type MonitorMetrics } from './metrics.ts';
import type { EndedRequest, RequestObserver } from './observer.ts';
import { recallBefore } from './recall.ts';
import { createRecentErrors } from './recent-errors.ts';
import { createRedactors } from './redactors.ts';
import type { RequestRecord, RequestRow } from './request-record.ts';
import type { RequestStore } from './request-store.ts';
import { createRetention, type RetentionSettings } from './retention.ts';
import { createWriteQueue } from './write-queue.ts';
import { writeRecord } from './write-record.ts';

export interface MonitorSettings extends RetentionSettings {
  readonly enabled: boolean;
  readonly keepsBodies: boolean;
}

export interface MonitorOptions {
  readonly store: RequestStore;
  readonly clock: Clock;
  /** Asked anew for every request. */
  readonly settings: () => MonitorSettings;
  /** Credentials of the gateway, asked anew for every request; none of them stands in any record. */
  readonly secrets: () => readonly string[];
  /** Those of accounts. */
  readonly accountSecrets?: Pick<SecretIndex, 'hide' | 'version'> | undefined;
  readonly keyName: (keyId: string) => string | undefined;
  /** The model a name leads to; undefined when no account offers it. */
  readonly targetOf: (model: string) => string | undefined;
  /** Accounts by state, for the metrics. */
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

export interface Monitor {
  readonly observer: RequestObserver;
  readonly feed: LiveFeed;
  readonly figures: Pick<LiveFigures, 'inFlight' | 'series' | 'perMinute'>;
  readonly metrics: Pick<MonitorMetrics, 'write'>;
  /** What is kept; a request just ended is among it after a moment. */
  readonly store: Pick<RequestStore, 'list' | 'usage' | 'removeBefore'>;
  /** Also a request that ended this very moment. */
  find(id: string): Promise<RequestRecord | undefined>;
  /** The latest first; a few from before the process began are among them after a moment. */
  recentErrors(limit: number): readonly RequestRow[];
  /** Records that wait for a store which takes none. */
  readonly unsaved: number;
  /** Records that could not be kept. */
  readonly dropped: number;
  /** Saves what waits as far as the store takes it. */
  close(): Promise<void>;
}

export function createMonitor(options: MonitorOptions): Monitor {
  const { store, clock, settings, log } = options;
  const errors = createRecentErrors();
  const redactorFor = createRedactors(options.secrets, options.accountSecrets);
  const queue = createWriteQueue({ store, clock, log });
  const retention = createRetention({ store, clock, settings, log });
  const feed = createLiveFeed(options.createId('').replaceAll('-', '_').slice(0, 8));
  const figures = createLiveFigures(() => clock.now());
  const recalled = recallBefore({ store, figures, clock, log });
  const faults = createFaultCounter(log);
  const dropped = (): number => queue.dropped + faults.count;
  const metrics = createMetrics({
    inFlight: () => figures.inFlight,
    dropped: () => ({ 'request-records': dropped(), ...options.dropped?.() }),
    feedReaders: () => feed.readers,
    accounts: options.accounts,
    startedAt: clock.now(),
  });
  const keep = (ended: EndedRequest): void => {
    const { enabled, keepsBodies } = settings();
    const record = writeRecord(ended, {
      keyName: options.keyName,
      targetOf: options.targetOf,
      createId: options.createId,
      now: clock.now(),
      keepsBodies,
      redactorFor,
    });
    figures.add(record.row);
    metrics.add(record.row);
    options.onRecord?.(record, ended);
    if (!enabled) return;
    errors.add(record.row);
    queue.add(record);
    feed.publish('request', record.row);
  };
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
      onEnd(ended) {
        figures.inFlight -= 1;
        faults.guard(() => keep(ended));
      },
    },
    feed,
    figures,
    metrics,
    store: {
      list: (filter, page) => store.list(filter, page),
      usage: (spans, by) => store.usage(spans, by),
      async removeBefore(at) {
        errors.removeBefore(at);
        recalled.removeBefore(at);
        // Else what waits would come into the store behind the removal, and stay.
        await queue.flush();
        return store.removeBefore(at);
      },
    },
    find: async (id) => queue.find(id) ?? store.find(id),
    recentErrors: (limit) => [...errors.latest(), ...recalled.errors()].slice(0, limit),
    get unsaved() {
      return queue.unsaved;
    },
    get dropped() {
      return dropped();
    },
    async close() {
      feed.close();
      recalled.close();
      await retention.close();
      await queue.close();
    },
  };
}

interface FaultCounter {
  readonly count: number;
  /** A fault of the monitor is no fault of the request it looks at. */
  guard(work: () => void): void;
}

function createFaultCounter(log: MonitorOptions['log']): FaultCounter {
  let count = 0;
  return {
    get count() {
      return count;
    },
    guard(work) {
      try {
        work();
      } catch (error) {
        count += 1;
        if (count === 1) log.warn({ error }, 'A request could not be recorded.');
      }
    },
  };
}
