import { expect, test } from 'vitest';
import { EventLog } from './background-runs.ts';

const event = (number: number): string => `data: ${number}\n\n`;
const { signal: never } = new AbortController();

function read(log: EventLog, first: number, signal = never) {
  const reading = log.read(first, signal);
  return async (): Promise<string | undefined> => (await reading.next()).value;
}

test('who comes late has all of it, and who comes again what is behind', async () => {
  const log = new EventLog();
  log.add(event(0) + event(1));
  const next = read(log, 0);
  expect(await next()).toBe(event(0) + event(1));
  const coming = next();
  log.add(event(2));
  expect(await coming).toBe(event(2));
  log.end();
  expect(await next()).toBeUndefined();
  const again = read(log, 1);
  expect([await again(), await again()]).toEqual([event(1) + event(2), undefined]);
});

test('a long stream is given in pieces of whole events', async () => {
  const log = new EventLog();
  const long = `data: ${'x'.repeat(200_000)}\n\n`;
  log.add(long + long + long);
  log.end();
  expect(await log.due(0, never)).toEqual({ text: long + long, next: 2, isOver: false });
  expect(await log.due(2, never)).toEqual({ text: long, next: 3, isOver: true });
});

test('an event that comes in pieces is given when it is whole', async () => {
  const log = new EventLog();
  const next = read(log, 0);
  const coming = next();
  log.add('data: "');
  log.add('long');
  log.add(`"\n\n${event(1)}data:`);
  expect(await coming).toBe(`data: "long"\n\n${event(1)}`);
  log.add(' 2\n\n');
  expect(await next()).toBe(event(2));
});

test('the oldest leave when they are too many, and what came last never does', async () => {
  const log = new EventLog(2 * event(0).length);
  for (const number of [0, 1, 2, 3]) log.add(event(number));
  expect([0, 1, 3, 4, 5].map((number) => log.canReadFrom(number))).toEqual([
    ...[false, true, true, true, false],
  ]);
  expect(log.size).toBe(3 * event(0).length);
  await expect(read(log, 0)()).rejects.toThrow('not kept');
  expect(await read(log, 2)()).toBe(event(2) + event(3));
  log.end();
  expect([4, 5].map((number) => log.canReadFrom(number))).toEqual([true, false]);
  expect(await read(log, 4)()).toBeUndefined();
});

test('a reader that leaves waits no longer', async () => {
  const log = new EventLog();
  const abort = new AbortController();
  const coming = read(log, 0, abort.signal)();
  abort.abort(new Error('left'));
  await expect(coming).rejects.toThrow('left');
});
