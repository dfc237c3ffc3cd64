// `GET /api/events`: live events of requests, accounts, quota, settings, keys and rules.

import type { AccessControl } from '../../access/access.ts';
import { GatewayError } from '../../canonical/error.ts';
import type { LiveConfig } from '../../config/live.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import { told } from '../../lib/localized-message.ts';
import { partial } from '../../lib/object-schema.ts';
import type { FeedReader } from '../../monitor/live.ts';
import type { LogFiles } from '../../monitor/log-files.ts';
import { readLogLine } from '../../monitor/log-line.ts';
import { eventFrame } from '../../stream/sse.ts';
import { type ApiRoute, defineRoute } from '../route.ts';
import type { MonitorRouteOptions } from './options.ts';
import { writeOverview } from './overview.ts';

const EVENTS_QUERY = partial({
  lastEventId: {
    type: 'string',
    maxLength: 64,
    description:
      'As the header `Last-Event-ID`: the events since then come first, as far as they are kept.',
  },
});

const HEARTBEAT_MS = 15_000;
const MAX_READERS = 64;
const RECONNECT = 'retry: 3000\n\n';
const HEARTBEAT = ': ping\n\n';

export function createEventsRoute({
  monitor,
  clock,
}: Pick<MonitorRouteOptions, 'monitor' | 'clock'>): ApiRoute {
  return defineRoute({
    method: 'GET',
    path: '/api/events',
    title: 'tells what happens, as it happens',
    query: EVENTS_QUERY,
    answers: {
      200: {
        description:
          'Events `request`, `account`, `quota`, `config`, `key`, `address-rule`, `log`, `overview`; ' +
          '`missed` says that some were lost because they were not read in time, or came too long ago.',
        schema: { type: 'string' },
        contentType: 'text/event-stream',
      },
    },
    async run({ query, lastEventId }) {
      if (monitor.feed.readers >= MAX_READERS) throw tooMany();
      const reader = monitor.feed.read(lastEventId ?? query.lastEventId);
      return { kind: 'events', frames: new Frames(reader, clock) };
    },
  });
}

/** The frames for one reader, with a sign of life in silence. */
class Frames implements AsyncIterableIterator<string> {
  readonly #reader: FeedReader;
  readonly #clock: Pick<Clock, 'startTimer'>;
  #hasBegun = false;
  #toldMissed = 0;

  constructor(reader: FeedReader, clock: Pick<Clock, 'startTimer'>) {
    this.#reader = reader;
    this.#clock = clock;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string>> {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      return { done: false, value: RECONNECT };
    }
    const { missed } = this.#reader;
    if (missed > this.#toldMissed) {
      const count = missed - this.#toldMissed;
      this.#toldMissed = missed;
      return { done: false, value: eventFrame('missed', JSON.stringify({ count })) };
    }
    const heartbeat = this.#clock.startTimer(HEARTBEAT_MS, () => this.#reader.wake());
    const event = await this.#reader.next();
    heartbeat.cancel();
    if (event === undefined) return { done: true, value: undefined };
    if (event === 'idle') return { done: false, value: HEARTBEAT };
    const frame = eventFrame(event.kind, JSON.stringify(event.content));
    return { done: false, value: `id: ${event.id}\n${frame}` };
  }

  async return(): Promise<IteratorResult<string>> {
    this.#reader.close();
    return { done: true, value: undefined };
  }
}

function tooMany(): GatewayError {
  return new GatewayError({
    kind: 'overloaded',
    source: 'gateway',
    message: told`There are ${MAX_READERS} readers of these events already. Close a console page.`,
    retryAfterMs: 5000,
  });
}

export interface FeedSourceOptions extends MonitorRouteOptions {
  readonly config: Pick<LiveConfig, 'subscribe'>;
  readonly access: {
    readonly keys: Pick<AccessControl['keys'], 'subscribe'>;
    readonly addresses: Pick<AccessControl['addresses'], 'subscribe'>;
  };
  readonly logFiles: Pick<LogFiles, 'read' | 'subscribe'> | undefined;
}

const OVERVIEW_MS = 5000;

/** @returns what ends it */
export function connectFeed(options: FeedSourceOptions): () => void {
  const { book, pool, config, access, clock, monitor, logFiles } = options;
  const endBook = book.subscribe((change) => {
    monitor.feed.publish(change.kind === 'quotas' ? 'quota' : 'account', {
      id: change.account.record.id,
    });
  });
  const endRests = pool.rests.subscribe((upstream) =>
    monitor.feed.publish('account', { upstream }),
  );
  const endConfig = config.subscribe(() => monitor.feed.publish('config', {}));
  const endKeys = access.keys.subscribe((id) => monitor.feed.publish('key', { id }));
  const endRules = access.addresses.subscribe((id) => monitor.feed.publish('address-rule', { id }));
  const endLog = logFiles?.subscribe((text) => {
    const line = monitor.feed.readers > 0 ? readLogLine(text) : undefined;
    if (line !== undefined) monitor.feed.publish('log', line);
  });
  let timer: Timer | undefined;
  const pulse = (): void => {
    if (monitor.feed.readers > 0) monitor.feed.publish('overview', writeOverview(options));
    timer = clock.startTimer(OVERVIEW_MS, pulse);
  };
  pulse();
  return () => {
    endBook();
    endRests();
    endConfig();
    endKeys();
    endRules();
    endLog?.();
    timer?.cancel();
  };
}
