import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import type { GatewayError } from '../../canonical/error.ts';
import { type BodyHolder, createBodyBudget } from './body.ts';

type BodySize = Parameters<ReturnType<typeof createBodyBudget>['take']>[1];

const MEGABYTE = 1_048_576;
const SMALL_CONTAINER = { limit: 256 * MEGABYTE, heapLimit: 228 * MEGABYTE };

const text = (megabytes: number): BodySize => ({
  bytes: megabytes * MEGABYTE,
  isAscii: true,
  tokens: 0,
});

const by = (clientKeyId: string, clientAddress = '192.0.2.1'): BodyHolder => ({
  clientKeyId,
  clientAddress,
  heldBytes: 0,
});

function start() {
  const clock = createFakeClock();
  const budget = createBodyBudget(clock, SMALL_CONTAINER);
  /** What becomes of a body: nothing for one that has its room now. */
  const tell = (holder: BodyHolder, size: BodySize): string | undefined => {
    try {
      budget.take(holder, size);
      return undefined;
    } catch (error) {
      const { kind, retryAfterMs } = error as GatewayError;
      return `${kind} ${retryAfterMs}`;
    }
  };
  return { clock, budget, tell };
}

const WAIT = 'overloaded 1000';

test.each([
  ['plain text', text(36), undefined],
  ['more of it', text(40), 'too-large undefined'],
  ['text of other characters', { ...text(23), isAscii: false }, undefined],
  ['more of that', { ...text(26), isAscii: false }, 'too-large undefined'],
  ['many turns', { ...text(17), tokens: 500_000 }, undefined],
  ['more turns', { ...text(20), tokens: 600_000 }, 'too-large undefined'],
  ['nothing but tokens', { ...text(4), tokens: 2_000_000 }, 'too-large undefined'],
])(
  'A3: in a container of 256 MB one body alone of %s has its room or is too large',
  (_kind, size, told) => {
    expect(start().tell(by('a'), size)).toBe(told);
  },
);

test('A3: what is too large is told with the memory it needs and the memory there is', () => {
  const { budget } = start();
  expect(() => budget.check(by('a'), text(99))).toThrow(
    /needs about 347 MB of memory .* memory limit of this gateway \(256 MB\) leaves 130 MB/,
  );
});

test('A3: what only has to wait is refused with a wait, and finds room behind the others', () => {
  const { budget, tell } = start();
  const first = by('a');
  expect(tell(first, text(25))).toBeUndefined();
  const other = by('b', '192.0.2.2');
  expect(tell(other, text(20))).toBe(WAIT);
  budget.release(first);
  expect(tell(other, text(20))).toBeUndefined();
});

test('A4: fifteen slow uploads of one key hold what has come of them, whatever they announce', () => {
  const { budget, tell } = start();
  for (let count = 0; count < 15; count += 1) {
    const slow = by('slow');
    budget.check(slow, text(20));
    expect(tell(slow, text(0.2))).toBeUndefined();
  }
  expect(tell(by('other'), text(20))).toBeUndefined();
});

test('A4: one key never has so much that small bodies of others find no room', () => {
  const { tell } = start();
  for (let count = 0; count < 100; count += 1) tell(by('greedy', `192.0.2.${count}`), text(4));
  for (const other of ['b', 'c', 'd'])
    expect(tell(by(other, '198.51.100.1'), text(2))).toBeUndefined();
});

test('A4: one address never has so much either, with however many keys', () => {
  const { tell } = start();
  for (let count = 0; count < 100; count += 1) tell(by(`key-${count}`), text(4));
  expect(tell(by('other', '198.51.100.1'), text(4))).toBeUndefined();
});

test('callers of this machine share nothing but the whole when they have keys of their own', () => {
  const { tell } = start();
  expect(tell(by('a', '127.0.0.1'), text(20))).toBeUndefined();
  expect(tell(by('a', '127.0.0.1'), text(10))).toBe(WAIT);
  expect(tell(by('b', '127.0.0.1'), text(10))).toBeUndefined();
});

test('whoever takes all the room again and again waits while others want some', async () => {
  const { budget, clock, tell } = start();
  const giant = by('giant');
  expect(tell(giant, text(36))).toBeUndefined();
  expect(tell(by('other', '192.0.2.2'), text(10))).toBe(WAIT);
  budget.release(giant);
  expect(tell(giant, text(36))).toBe(WAIT);
  expect(tell(giant, text(25))).toBeUndefined();
  budget.release(giant);
  await clock.advance(10_000);
  expect(tell(giant, text(36))).toBeUndefined();
});

test('answers of upstreams have the same memory, and wait for it like bodies', () => {
  const { budget, tell } = start();
  expect(tell(by('a'), text(20))).toBeUndefined();
  const answer = { heldBytes: 0 };
  budget.answers.take(answer, 15 * MEGABYTE);
  const other = { heldBytes: 0 };
  expect(() => budget.answers.take(other, 25 * MEGABYTE)).toThrow(/The answer is larger than/);
  expect(tell(by('b', '192.0.2.2'), text(10))).toBe(WAIT);
  budget.answers.release(answer);
  expect(tell(by('b', '192.0.2.2'), text(10))).toBeUndefined();
});

test('an answer that never fits into the memory is not asked for again', () => {
  const { budget } = start();
  expect(() => budget.answers.take({ heldBytes: 0 }, 99 * MEGABYTE)).toThrow(
    expect.objectContaining({ kind: 'too-large', source: 'gateway', retryAfterMs: undefined }),
  );
});

test('a body that is refused half-way gives back what it held', () => {
  const { tell } = start();
  tell(by('a'), text(20));
  const half = by('b', '192.0.2.2');
  expect(tell(half, text(10))).toBeUndefined();
  expect(tell(half, text(20))).toBe(WAIT);
  expect(half.heldBytes).toBe(0);
});
