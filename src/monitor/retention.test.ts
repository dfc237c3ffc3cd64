import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createRetention } from './retention.ts';

const settings = { retentionMs: 1_000, maxBytes: 500 };

function open(sweep: () => Promise<boolean>) {
  const clock = createFakeClock();
  const warnings: string[] = [];
  const retention = createRetention({
    store: { sweep },
    clock,
    settings: () => settings,
    log: { warn: (_fields, message) => void warnings.push(message) },
  });
  return { clock, retention, warnings };
}

test('what is too old or too much leaves in small steps, and is looked for every five minutes', async () => {
  const asked: unknown[] = [];
  const isDone = [false, false, true, true];
  const clock = createFakeClock();
  const retention = createRetention({
    store: {
      async sweep(limits) {
        asked.push({ ...limits, at: clock.now() });
        return isDone.shift() ?? true;
      },
    },
    clock,
    settings: () => settings,
    log: { warn: () => undefined },
  });
  const startedAt = clock.now();
  await clock.advance(29_999);
  expect(asked).toEqual([]);
  await clock.advance(1 + 50 + 50);
  const at = startedAt + 30_000;
  expect(asked).toEqual(
    [at, at + 50, at + 100].map((now) => ({
      oldest: now - 1_000,
      closedBefore: now - 1_800_000,
      oldestUsage: now - 366 * 86_400_000,
      maxBytes: 500,
      reducedBytes: 250,
      at: now,
    })),
  );
  await clock.advance(299_999);
  expect(asked).toHaveLength(3);
  await clock.advance(1);
  expect(asked).toHaveLength(4);
  await retention.close();
});

test('a store that fails is told once, asked again later, and again told when it fails anew', async () => {
  let isBroken = true;
  let tries = 0;
  const { clock, retention, warnings } = open(async () => {
    tries += 1;
    if (isBroken) throw new Error('disk full');
    return true;
  });
  await clock.advance(30_000);
  await clock.advance(600_000);
  expect([tries, warnings.length]).toEqual([3, 1]);
  isBroken = false;
  await clock.advance(300_000);
  isBroken = true;
  await clock.advance(300_000);
  expect([tries, warnings.length]).toEqual([5, 2]);
  await retention.close();
});

test('closing waits for the step under way and lets no other begin', async () => {
  const step = Promise.withResolvers<boolean>();
  let tries = 0;
  const { clock, retention } = open(() => {
    tries += 1;
    return step.promise;
  });
  await clock.advance(30_000);
  let isClosed = false;
  const closing = retention.close().then(() => {
    isClosed = true;
  });
  await clock.advance(600_000);
  expect(isClosed).toBe(false);
  step.resolve(false);
  await closing;
  expect([tries, clock.pendingTimers]).toEqual([1, 0]);
});
