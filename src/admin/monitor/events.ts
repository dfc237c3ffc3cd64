// `GET /api/events`: what happens in the gateway, as it happens.

import { GatewayError } from '../../canonical/error.ts';
import type { Clock } from '../../lib/clock.ts';
import { eventFrame } from '../../lib/event-stream.ts';
import { told } from '../../lib/told.ts';
import type { FeedReader } from '../../monitor/live-feed.ts';
import { type ApiRoute, defineRoute } from '../api-route.ts';
import type { MonitorRouteOptions } from './options.ts';

const EVENTS_QUERY = {
  type: 'object',
  additionalProperties: false,
  properties: {
    lastEventId: {
      type: 'string',
      maxLength: 64,
      description:
        'As the header `Last-Event-ID`: the events since then come first, as far as they are kept.',
    },
  },
} as const;

const HEARTBEAT_MS = 15_000;
const MOST_READERS = 64;
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
      if (monitor.feed.readers >= MOST_READERS) throw tooMany();
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
    message: told`There are ${MOST_READERS} readers of these events already. Close a console page.`,
    retryAfterMs: 5000,
  });
}
