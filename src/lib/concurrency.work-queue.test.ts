import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createWorkQueue } from './concurrency.ts';

function setUp() {
  const clock = createFakeClock();
  const queue = createWorkQueue({ clock, maxConcurrent: 2, spacingMs: 100 });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (name: string, isUrgent = false): void =>
    queue.add(
      () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, resolve));
      },
      { isUrgent },
    );
  return { clock, queue, begun, add, end: (name: string) => ends.get(name)?.() };
}

test('jobs begin some time apart, and no more than a few are under way', async () => {
  const { clock, begun, add, end } = setUp();
  for (const name of ['a', 'b', 'c']) add(name);
  expect(begun).toEqual(['a']);
  await clock.advance(99);
  expect(begun).toEqual(['a']);
  await clock.advance(1);
  expect(begun).toEqual(['a', 'b']);
  await clock.advance(10_000);
  expect(begun).toEqual(['a', 'b']);
  end('a');
  await clock.advance(0);
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('what is urgent goes before what waits', async () => {
  const { clock, begun, add, end } = setUp();
  for (const name of ['a', 'b', 'c']) add(name);
  add('soon', true);
  await clock.advance(100);
  end('a');
  end('soon');
  await clock.advance(100);
  expect(begun).toEqual(['a', 'soon', 'b']);
});

test('a closed queue begins nothing of what waited', async () => {
  const { clock, queue, begun, add } = setUp();
  for (const name of ['a', 'b', 'c']) add(name);
  queue.close();
  await clock.advance(10_000);
  expect(begun).toEqual(['a']);
  expect(clock.pendingTimers).toBe(0);
});
