import { expect, test } from 'vitest';
import { createChannel } from '../../test/support/channel.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryRequestStore } from '../../test/support/memory-request-store.ts';
import { recordOf } from '../../test/support/request-records.ts';
import { observe, runningRequest } from '../../test/support/running-request.ts';
import { Hub } from '../cluster/memory.ts';
import { createWorkerCluster, serveWorker } from '../cluster/parent.ts';
import { createRedactors } from '../lib/redact.ts';
import { createLiveFeed, createLiveFigures, type FeedReader } from './live.ts';
import { createMonitor } from './monitor.ts';
import type { EndedRequest } from './record.ts';

const NO_ERRORS = { requests: 0, errors: 0, faults: 0, tokens: 0 };

/** Two workers over one store. */
async function openWorkers() {
  const clock = createFakeClock();
  const hub = new Hub(clock);
  const store = createMemoryRequestStore();
  const told: string[] = [];
  const open = (name: string) => {
    const [parentEnd, channel] = createChannel();
    const leave = serveWorker(hub, parentEnd);
    const worker = createWorkerCluster({ replica: `${name}~1`, channel, clock, onFault });
    const { notices } = worker;
    const cluster = {
      ...worker,
      notices: {
        ...notices,
        tell: ((topic, notice) => {
          told.push(topic.name);
          notices.tell(topic, notice);
        }) as typeof notices.tell,
      },
    };
    let ids = 0;
    const monitor = createMonitor({
      ...{ store, clock, replica: name, sharing: { cluster, siblings: cluster } },
      settings: () => ({ enabled: true, keepsBodies: false, retentionMs: 1e12, maxBytes: 1e12 }),
      redactorFor: createRedactors(() => []),
      targetOf: () => undefined,
      priceOf: () => undefined,
      figures: { accounts: () => ({}) },
      createId: (prefix) => `${prefix}${name}${++ids}`,
      log: { warn: (fields) => onFault(fields) },
    });
    return { monitor, leave };
  };
  const [one, other] = [open('one'), open('other')];
  await clock.advance(0);
  return { clock, store, told, one, other };
}

function end(monitor: ReturnType<typeof createMonitor>, requestId: string, status = 200): void {
  observe(monitor, ended(requestId, status));
  // Whoever asks the monitor has it recorded before.
  expect(monitor.feed.readers).toBeGreaterThanOrEqual(0);
}

async function readAll(reader: FeedReader): Promise<readonly string[]> {
  const seen: string[] = [];
  for (;;) {
    reader.add({ id: 'end', kind: 'overview', content: {} });
    const event = await reader.next();
    if (event === undefined || event === 'idle') return seen;
    if (event.id !== 'end') seen.push(`${event.kind} ${JSON.stringify(event.content)}`);
    else return seen;
  }
}

test('who watches at one process hears of requests and log lines of the others, each with its name', async () => {
  const { clock, one, other } = await openWorkers();
  const reader = other.monitor.feed.read();
  await clock.advance(0);
  expect(one.monitor.isLogRead).toBe(true);
  end(one.monitor, 'req_1');
  one.monitor.feed.publish('log', { message: 'a line', fields: { replica: 'one' } });
  one.monitor.feed.publish('key', { id: 'k' });
  await clock.advance(250);
  const seen = await readAll(reader);
  expect(seen).toHaveLength(2);
  expect(seen[0]).toContain('"replica":"one"');
  expect(seen[0]).toContain('"requestId":"req_1"');
  expect(seen[1]).toContain('a line');
  expect(reader.missed).toBe(0);
});

test('what ended before the others heard that somebody watches is to be read a moment later', async () => {
  const { clock, one, other } = await openWorkers();
  const reader = other.monitor.feed.read();
  const { missed } = reader;
  end(one.monitor, 'req_1');
  await clock.advance(0);
  expect(reader.missed).toBe(missed);
  await clock.advance(500);
  expect(reader.missed).toBeGreaterThan(missed);
  expect(await readAll(reader)).toEqual([]);
});

test('a request is told of elsewhere when it can be read from the store', async () => {
  const { clock, store, one, other } = await openWorkers();
  const saving = Promise.withResolvers<void>();
  const { save } = store;
  store.save = async (records) => {
    await saving.promise;
    await save(records);
  };
  const reader = other.monitor.feed.read();
  await clock.advance(0);
  end(one.monitor, 'req_1');
  await clock.advance(300);
  expect(await readAll(reader)).toEqual([]);
  saving.resolve();
  await clock.advance(0);
  expect(await readAll(reader)).toHaveLength(1);
});

test('nothing is sent while nobody watches elsewhere, nor 15 s after the last one left', async () => {
  const { clock, told, one, other } = await openWorkers();
  end(one.monitor, 'req_1');
  await clock.advance(1000);
  expect(told).toEqual([]);
  const reader = other.monitor.feed.read();
  await clock.advance(0);
  reader.close();
  await clock.advance(40_000);
  told.length = 0;
  end(one.monitor, 'req_2');
  one.monitor.feed.publish('log', { message: 'a line' });
  await clock.advance(10_000);
  expect(told).toEqual([]);
  expect(one.monitor.isLogRead).toBe(false);
});

test('of more events than a moment has room for the reader is told that some are missing', async () => {
  const { clock, one, other } = await openWorkers();
  const reader = other.monitor.feed.read();
  await clock.advance(0);
  for (let count = 0; count < 80; count += 1) end(one.monitor, `req_${count}`);
  await clock.advance(250);
  expect(await readAll(reader)).toHaveLength(50);
  expect(reader.missed).toBeGreaterThan(0);
});

test('who comes back to a process that heard nothing meanwhile is told to read anew', async () => {
  const { clock, other } = await openWorkers();
  const first = other.monitor.feed.read();
  other.monitor.feed.publish('config', {});
  const event = await first.next();
  first.close();
  const lastEventId = typeof event === 'object' ? event.id : '';
  const again = other.monitor.feed.read(lastEventId);
  expect(again.missed).toBe(0);
  again.close();
  await clock.advance(40_000);
  expect(other.monitor.feed.read(lastEventId).missed).toBeGreaterThan(0);
});

test('the figures are those of all processes, also to who asks once', async () => {
  const { clock, one, other } = await openWorkers();
  end(one.monitor, 'req_1');
  end(one.monitor, 'req_2', 500);
  end(other.monitor, 'req_3');
  one.monitor.observer.onBegin(runningRequest());
  const looked = other.monitor.look();
  await clock.advance(0);
  await looked;
  const { figures } = other.monitor;
  expect(figures.inFlight).toBe(1);
  expect(figures.perMinute()).toEqual({ ...NO_ERRORS, requests: 3, faults: 1, errors: 1 });
  expect(figures.series().at(-1)).toMatchObject({ requests: 3, errors: 1 });
  // It goes on while somebody looks.
  end(one.monitor, 'req_4');
  await clock.advance(3000);
  expect(other.monitor.figures.perMinute().requests).toBe(4);
  expect(other.monitor.recentErrors(5).map(({ requestId }) => requestId)).toEqual(['req_2']);
});

test('a process that is gone has nothing under way, and what it did stays counted', async () => {
  const { clock, one, other } = await openWorkers();
  end(one.monitor, 'req_1');
  one.monitor.observer.onBegin(runningRequest());
  const looked = other.monitor.look();
  await clock.advance(0);
  await looked;
  one.leave();
  await clock.advance(0);
  expect(other.monitor.figures.inFlight).toBe(0);
  expect(other.monitor.figures.perMinute().requests).toBe(1);
});

test('who does not answer is not waited for', async () => {
  const { clock, one, other } = await openWorkers();
  await one.monitor.close();
  const looked = other.monitor.look();
  await clock.advance(300);
  await looked;
  expect(other.monitor.figures.inFlight).toBe(0);
});

test('events that were skipped are missed by those who read and those who come back', async () => {
  const feed = createLiveFeed('p');
  const reader = feed.read();
  feed.publish('config', {});
  const event = await reader.next();
  feed.skip();
  expect(reader.missed).toBe(1);
  expect(feed.read(typeof event === 'object' ? event.id : '').missed).toBe(1);
  expect(feed.read().missed).toBe(0);
});

test('figures of others are added to those of this process and not told as its own', () => {
  const figures = createLiveFigures(() => 600_000);
  figures.add(recordOf({ at: 600_000 }).row);
  figures.others = (at) => [{ at, requests: 2, errors: 1, faults: 1, tokens: 3 }];
  expect(figures.series().at(-1)).toMatchObject({ requests: 3, errors: 1, faults: 1, tokens: 8 });
  expect(figures.own()).toMatchObject([{ at: 600_000, requests: 1, faults: 0, tokens: 5 }]);
});

test('requests under way are listed from all processes, and stopped where they run', async () => {
  const { clock, one, other } = await openWorkers();
  const stopped: string[] = [];
  const begin = ({ observer }: typeof one.monitor, requestId: string, startedAt: number) => {
    const running = runningRequest({
      requestId,
      startedAt: clock.monotonic() - startedAt,
      stop: () => void stopped.push(requestId),
    });
    observer.onBegin(running);
    return running;
  };
  const here = begin(one.monitor, 'req_1', 500);
  const there = begin(other.monitor, 'req_2', 700);
  const asked = one.monitor.running.list();
  await clock.advance(0);
  const { rows, total } = await asked;
  expect([total, rows.map(({ requestId }) => requestId)]).toEqual([2, ['req_2', 'req_1']]);
  expect(rows[1]).toMatchObject({ model: 'm', stream: true, attempt: 0, elapsedMs: 500 });
  const stop = one.monitor.running.stop(rows[0]?.id ?? '', 'session abc');
  await clock.advance(0);
  expect(await stop).toBe(true);
  expect([stopped, there.facts.stoppedBy, here.facts.stoppedBy]).toEqual([
    ['req_2'],
    'session abc',
    undefined,
  ]);
  other.monitor.observer.onEnd(ended('req_2', 200), there);
  const again = one.monitor.running.stop(rows[0]?.id ?? '', 'session abc');
  await clock.advance(1000);
  expect(await again).toBe(false);
  expect(stopped).toEqual(['req_2']);
});

function ended(requestId: string, status: number): EndedRequest {
  return {
    ...{
      requestId,
      isIdGiven: false,
      protocol: 'chat',
      route: '/v1/chat/completions',
      pathModel: '',
    },
    ...{ method: 'POST', path: '/v1/chat/completions', call: { model: 'm', stream: false } },
    ...{ body: undefined, status, clientKeyId: 'main', clientAddress: '127.0.0.1' },
    ...{ userAgent: undefined, session: undefined, credentials: [], receipt: [] },
    facts: { attempts: [], timings: {} },
    ...{ endedAt: 1_700_000_000_000, endedAtMonotonic: 0, totalMs: 1, firstEventMs: undefined },
  };
}

function onFault(error: unknown): never {
  throw error;
}
