// `GET /api/events`: live events of requests, accounts, quota, settings, keys and rules.

import type { AccessControl } from '../../access/access.ts';
import { gatewayError } from '../../canonical/error.ts';
import type { LiveConfig } from '../../config/live.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import { told } from '../../lib/localized-message.ts';
import { partial } from '../../lib/object-schema.ts';
import type { FeedReader } from '../../monitor/live.ts';
import { type LogFiles, readLogLine } from '../../monitor/log-files.ts';
import { eventFrame } from '../../stream/sse.ts';
import type { MonitorRouteOptions } from '../options.ts';
import { type ApiRoute, defineRoute } from '../route.ts';
import { writeOverview } from './overview.ts';

const EVENTS_QUERY = partial({
  lastEventId: {
    type: 'string',
    maxLength: 64,
    description:
      'As the header `Last-Event-ID`: the events since then come first, as far as they are kept.',
  },
  ageMs: {
    type: 'string',
    pattern: '^\\d{1,6}$',
    description:
      'Without an id: the events of so many milliseconds come first, for a page that read its lists so long ago.',
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
    at: 'GET /api/events',
    access: 'viewer',
    title: 'streams live events',
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
      if (monitor.feed.readers >= MAX_READERS) {
        const message = told`There are ${MAX_READERS} readers of these events already. Close a console page.`;
        throw gatewayError('overloaded', message, { retryAfterMs: 5000 });
      }
      const reader = monitor.feed.read(lastEventId ?? query.lastEventId, Number(query.ageMs ?? 0));
      return { kind: 'events', frames: writeFrames(reader, clock) };
    },
  });
}

/** The frames for one reader, with a sign of life in silence. */
function writeFrames(
  reader: FeedReader,
  clock: Pick<Clock, 'startTimer'>,
): AsyncIterableIterator<string> {
  let hasBegun = false;
  let toldMissed = 0;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (!hasBegun) {
        hasBegun = true;
        return { done: false, value: RECONNECT };
      }
      const count = reader.missed - toldMissed;
      if (count > 0) {
        toldMissed = reader.missed;
        return { done: false, value: eventFrame('missed', JSON.stringify({ count })) };
      }
      const heartbeat = clock.startTimer(HEARTBEAT_MS, () => reader.wake());
      const event = await reader.next();
      heartbeat.cancel();
      if (event === undefined) return { done: true, value: undefined };
      if (event === 'idle') return { done: false, value: HEARTBEAT };
      const frame = eventFrame(event.kind, JSON.stringify(event.content));
      return { done: false, value: `id: ${event.id}\n${frame}` };
    },
    // Not a generator: its end would wait for the event that is awaited.
    async return() {
      reader.close();
      return { done: true, value: undefined };
    },
  };
}

interface FeedSourceOptions extends MonitorRouteOptions {
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
  const ends = [
    book.subscribe(({ kind, account }) => {
      monitor.feed.publish(kind === 'quotas' ? 'quota' : 'account', { id: account.record.id });
    }),
    pool.overloads.subscribe((upstream) => monitor.feed.publish('account', { upstream })),
    config.subscribe(() => monitor.feed.publish('config', {})),
    access.keys.subscribe((id) => monitor.feed.publish('key', { id })),
    access.addresses.subscribe((id) => monitor.feed.publish('address-rule', { id })),
    logFiles?.subscribe((text) => {
      const line = monitor.isLogRead ? readLogLine(text) : undefined;
      if (line !== undefined) monitor.feed.publish('log', line);
    }),
  ];
  let timer: Timer | undefined;
  const pulse = (): void => {
    if (monitor.feed.readers > 0) monitor.feed.publish('overview', writeOverview(options));
    timer = clock.startTimer(OVERVIEW_MS, pulse);
  };
  pulse();
  return () => {
    for (const end of ends) end?.();
    timer?.cancel();
  };
}
