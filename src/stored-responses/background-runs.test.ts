import { expect, test } from 'vitest';
import { createChannel } from '../../test/support/channel.ts';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { Hub } from '../cluster/memory.ts';
import { createWorkerCluster, serveWorker } from '../cluster/parent.ts';
import { SealedValues } from '../cluster/sealed-values.ts';
import { BackgroundRuns, EventLog, type RunSharing } from './background-runs.ts';

interface Job {
  readonly signal: AbortSignal;
  finish(): void;
}

interface Parts {
  readonly key?: string;
  readonly size?: number;
  readonly events?: EventLog;
}

type Options = ConstructorParameters<typeof BackgroundRuns>[0];

function setUp(limits: Options['limits'] = {}, sharing?: Options['sharing']) {
  const clock = createFakeClock();
  const runs = new BackgroundRuns({
    ...{ clock, limits, sharing },
    ...{ cancelled: () => 'no longer', givenUp: () => 'given up' },
  });
  const jobs = new Map<string, Job>();
  const ask = (id: string, { key = 'k', size = 1, events }: Parts = {}) =>
    runs.start({
      clientKeyId: key,
      size,
      events,
      begin: () => id,
      work: (signal) =>
        new Promise((resolve) => {
          jobs.set(id, { signal, finish: resolve });
          if (signal.aborted) resolve();
          else signal.addEventListener('abort', () => resolve());
        }),
    });
  const start = (id: string, parts?: Parts) => {
    const started = ask(id, parts);
    if (started.kind === 'refused') throw new Error(started.reason);
    return started;
  };
  return { runs, jobs, clock, ask, start };
}

test('as many as are allowed work at once, the others in their turn', async () => {
  const { runs, jobs, start } = setUp({ atOnce: 1 });
  const first = start('a');
  start('b');
  start('c');
  const mine = runs.of('k');
  expect(['a', 'b', 'c'].map((id) => mine.stateOf(id, undefined))).toEqual([
    'in_progress',
    'queued',
    'queued',
  ]);
  jobs.get('a')?.finish();
  await first.ended;
  expect(['a', 'b', 'c'].map((id) => mine.stateOf(id, undefined))).toEqual([
    undefined,
    'in_progress',
    'queued',
  ]);
});

test('one that is ended has ended when the caller goes on, at work or waiting', async () => {
  const { runs, jobs, start } = setUp({ atOnce: 1 });
  start('a');
  start('b');
  const mine = runs.of('k');
  expect(await mine.cancel('b', undefined)).toBe(true);
  expect(jobs.get('b')?.signal.reason).toBe('no longer');
  expect(mine.stateOf('b', undefined)).toBeUndefined();
  expect(mine.stateOf('a', undefined)).toBe('in_progress');
  expect(await mine.cancel('a', undefined)).toBe(true);
  expect(await mine.cancel('a', undefined)).toBe(false);
});

test('another key sees and ends nothing', async () => {
  const { runs, jobs, start } = setUp();
  start('a');
  expect(runs.of('other').stateOf('a', undefined)).toBeUndefined();
  expect(await runs.of('other').cancel('a', undefined)).toBe(false);
  expect(jobs.get('a')?.signal.aborted).toBe(false);
});

test('number and size are bounded for a key and in all', () => {
  const { ask, start } = setUp({ perKey: 2, inAll: 3, size: 10, sizeInAll: 25 });
  expect(ask('x', { size: 11 })).toEqual({ kind: 'refused', reason: 'too-large' });
  start('a', { size: 10 });
  start('b', { size: 10 });
  expect(ask('c')).toEqual({ kind: 'refused', reason: 'too-many' });
  expect(ask('d', { key: 'other', size: 6 })).toEqual({ kind: 'refused', reason: 'too-many' });
  start('e', { key: 'other' });
  expect(ask('f', { key: 'third' })).toEqual({ kind: 'refused', reason: 'too-many' });
});

test('when everything stops all are ended, and none begins any more', async () => {
  const { runs, jobs, ask, start } = setUp({ atOnce: 1 });
  start('a');
  start('b');
  await runs.close('stopping');
  expect(['a', 'b'].map((id) => jobs.get(id)?.signal.reason)).toEqual(['stopping', 'stopping']);
  expect(ask('c')).toEqual({ kind: 'refused', reason: 'closing' });
});

test('what another process makes is in progress, and is ended there by whoever is asked', async () => {
  const clock = createFakeClock();
  const { one, other } = openTwo(clock);
  one.start('a');
  const mine = other.runs.of('k');
  expect(mine.stateOf('a', 'one')).toBe('in_progress');
  const foreign = other.runs.of('somebody else').cancel('a', 'one');
  const cancelled = mine.cancel('a', 'one');
  await clock.advance(0);
  expect(await cancelled).toBe(true);
  expect(await foreign).toBe(true);
  expect(one.jobs.get('a')?.signal.reason).toBe('no longer');
  expect(mine.stateOf('a', 'other')).toBeUndefined();
});

test('another key ends nothing at another process either', async () => {
  const clock = createFakeClock();
  const { one, other } = openTwo(clock);
  one.start('a');
  const foreign = other.runs.of('somebody else').cancel('a', 'one');
  await clock.advance(0);
  await foreign;
  expect(one.jobs.get('a')?.signal.aborted).toBe(false);
});

test('a stream is read at a process that does not keep it, as it comes and behind its end', async () => {
  const clock = createFakeClock();
  const { one, other } = openTwo(clock);
  const events = new EventLog();
  const event = (number: number): string => `data: ${number}\n\n`;
  events.add(event(0) + event(1));
  const { ended } = one.start('a', { events });
  const open = async (first: number, key = 'k') => {
    const asked = other.runs.of(key).eventsFrom('a', 'one', first);
    await clock.advance(0);
    return (await asked)?.read(first, new AbortController().signal);
  };
  const next = async (reading: AsyncIterator<string> | undefined, within = 0) => {
    const coming = reading?.next();
    await clock.advance(within);
    return (await coming)?.value;
  };
  const reading = await open(1);
  expect(await next(reading)).toBe(event(1));
  const coming = reading?.next();
  // Longer than the other process waits for an event at a time.
  await clock.advance(6000);
  events.add(event(2));
  await clock.advance(0);
  expect((await coming)?.value).toBe(event(2));
  one.jobs.get('a')?.finish();
  await ended;
  expect(await next(reading)).toBeUndefined();
  const again = await open(0);
  expect([await next(again), await next(again)]).toEqual([
    event(0) + event(1) + event(2),
    undefined,
  ]);
  expect(await next(await open(3))).toBeUndefined();
  expect(await open(4)).toBeUndefined();
  expect(await open(0, 'somebody else')).toBeUndefined();
});

test('a stream whose process is gone is not read on', async () => {
  const clock = createFakeClock();
  const { one, other, leave } = openTwo(clock);
  const events = new EventLog();
  events.add('data: 0\n\n');
  one.start('a', { events });
  const asked = other.runs.of('k').eventsFrom('a', 'one', 0);
  await clock.advance(0);
  const reading = (await asked)?.read(0, new AbortController().signal);
  await reading?.next();
  await leave();
  const coming = reading?.next();
  const failed = expect(coming).rejects.toThrow('not kept');
  await clock.advance(5000);
  await failed;
});

test('what a process made that is gone for 30 s is made no more, and nobody waits for its end', async () => {
  const clock = createFakeClock();
  const { one, other, leave } = openTwo(clock);
  one.start('a');
  const mine = other.runs.of('k');
  await clock.advance(60_000);
  await leave();
  expect(mine.stateOf('a', 'one')).toBe('in_progress');
  const cancelled = mine.cancel('a', 'one');
  await clock.advance(5000);
  expect(await cancelled).toBe(false);
  await clock.advance(25_000);
  expect(mine.stateOf('a', 'one')).toBeUndefined();
  expect(await mine.cancel('a', 'one')).toBe(false);
});

test('what is given up elsewhere is ended by the process that makes it, once that goes on', async () => {
  const clock = createFakeClock();
  const { one, other } = openTwo(clock);
  for (const id of ['a', 'b']) one.start(id);
  other.runs.of('k').giveUp('a', 'one');
  other.runs.of('somebody else').giveUp('b', 'one');
  await clock.advance(0);
  expect(one.jobs.get('a')?.signal.reason).toBe('given up');
  expect(one.jobs.get('b')?.signal.aborted).toBe(false);
});

/** Two workers behind one parent. */
function openTwo(clock: FakeClock) {
  const hub = new Hub(clock);
  const open = (replica: string) => {
    const [parentEnd, channel] = createChannel();
    const end = serveWorker(hub, parentEnd);
    const cluster = createWorkerCluster({ replica, channel, clock, onFault });
    return { ...setUp({}, { cluster, clock, pieces: piecesOf(clock, cluster) }), end };
  };
  const [one, other] = [open('one'), open('other')];
  return {
    ...{ one, other },
    async leave() {
      one.end();
      await clock.advance(0);
    },
  };
}

function piecesOf(clock: FakeClock, { values }: Cluster): RunSharing['pieces'] {
  const sealer = { seal: (text: string) => text, open: (text: string) => text };
  return new SealedValues({ values, sealer, clock, purpose: 'pieces' });
}

function onFault(error: unknown): never {
  throw error;
}

test('a stream can be read for some time behind its end, by its key alone', async () => {
  const { runs, jobs, clock, start } = setUp();
  const events = new EventLog();
  const { ended } = start('a', { events });
  const read = (key: string) => runs.of(key).eventsFrom('a', undefined, 0);
  const isThere = async () => [(await read('k')) === events, (await read('other')) === events];
  expect(await isThere()).toEqual([true, false]);
  jobs.get('a')?.finish();
  await ended;
  await clock.advance(5 * 60_000 - 1);
  expect(await isThere()).toEqual([true, false]);
  await clock.advance(1);
  expect(await isThere()).toEqual([false, false]);
});

test('streams that have ended leave in their order when they are too large together', async () => {
  const { runs, jobs, clock, start } = setUp({ endedSize: 20 });
  for (const id of ['a', 'b', 'c']) {
    const events = new EventLog();
    const { ended } = start(id, { events });
    events.add('12345678\n\n');
    jobs.get(id)?.finish();
    await ended;
  }
  const held = ['a', 'b', 'c'].map((id) => runs.of('k').eventsFrom(id, undefined, 0));
  expect((await Promise.all(held)).map((events) => events !== undefined)).toEqual([
    ...[false, true, true],
  ]);
  await runs.close('over');
  expect(clock.pendingTimers).toBe(0);
});
