import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { told } from '../lib/localized-message.ts';
import { createAccount } from './account.test-support.ts';
import { StoreError } from './account-store.ts';
import { HEALTHY } from './health.ts';
import { createStateSaver } from './state-saver.ts';

/** How the store meets the next saves of an account; the default takes them at once. */
type Meet = (what: string) => Promise<void> | undefined;

function setUp(meet: Meet = () => undefined) {
  const clock = createFakeClock();
  const saved: string[] = [];
  const gone = new Set<string>();
  let revision = 0;
  const save = async (what: string): Promise<void> => {
    saved.push(what);
    await meet(what);
  };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const saver = createStateSaver({
    store: {
      saveHealth: (id, { revocations }) => save(`health ${id} ${revocations}`),
      saveQuotas: (id) => save(`quotas ${id}`),
    },
    find: (id) =>
      gone.has(id)
        ? undefined
        : createAccount('a', { health: { ...HEALTHY, revocations: revision } }),
    clock,
    random: () => 0,
    log,
  });
  return { clock, saved, gone, saver, change: () => (revision += 1) };
}

const unavailable = () => Promise.reject(new StoreError('unavailable', told`no disk`));

test('an account the store knows no more is not tried again', async () => {
  const { clock, saved, saver } = setUp(() =>
    Promise.reject(new StoreError('missing', told`no such account`)),
  );
  saver.mark('a', 'health');
  await clock.advance(600_000);
  expect(saved).toEqual(['health a 0']);
});

test('an account that was removed meanwhile is not saved', async () => {
  const { clock, saved, gone, saver } = setUp();
  saver.mark('a', 'health');
  gone.add('a');
  await clock.advance(10_000);
  expect(saved).toEqual([]);
});

test('a store that is away is asked for one account at a time, and ever less often', async () => {
  const { clock, saved, saver } = setUp(unavailable);
  for (const id of ['a', 'b', 'c']) saver.mark(id, 'health');
  const times: number[] = [];
  for (let step = 0; step < 1200; step += 1) {
    const before = saved.length;
    await clock.advance(250);
    if (saved.length > before) times.push((step + 1) * 250);
  }
  // 0.5 s, then 1, 2, 4 … 60 s less a half for chance.
  expect(times.slice(0, 6)).toEqual([500, 1000, 2000, 4000, 8000, 16_000]);
  expect(saved).toHaveLength(times.length);
  const gaps = times.map((at, index) => at - (times[index - 1] ?? 0));
  expect(Math.max(...gaps)).toBe(30_000);
});

test('one account that cannot be saved keeps no other from it, and none of its parts is lost', async () => {
  let isBroken = true;
  const { clock, saved, saver } = setUp((what) =>
    isBroken && what.includes(' a') ? Promise.reject(new Error('odd')) : undefined,
  );
  saver.mark('a', 'health');
  saver.mark('a', 'quotas');
  saver.mark('b', 'health');
  await clock.advance(500);
  expect(saved).toEqual(['health a 0', 'health b 0']);
  isBroken = false;
  await clock.advance(1000);
  expect(saved.slice(2)).toEqual(['health a 0', 'quotas a']);
});

test('marks are flushed on close, as far as a store that fails takes them in three tries', async () => {
  let failures = 0;
  const { saved, saver } = setUp((what) => {
    if (what.includes(' b') || failures === 2) return undefined;
    failures += 1;
    return unavailable();
  });
  saver.mark('a', 'health');
  await saver.close();
  expect(saved).toEqual(['health a 0', 'health a 0', 'health a 0']);
});
