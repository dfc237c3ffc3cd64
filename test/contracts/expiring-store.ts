// What every store of texts that expire must do; run over each of them.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExpiringStore, StoredText } from '../../src/lib/expiring-store.ts';
import type { OpenedStore } from './account-store.ts';

const BOUNDS = { now: 1_000, maxEntries: 100, maxSize: 100_000 };

export function describeExpiringStore(
  name: string,
  open: () => Promise<OpenedStore<ExpiringStore>>,
): void {
  describe(`trace store: ${name}`, () => {
    let opened: OpenedStore<ExpiringStore>;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    test('traces come back whole and in the order they were saved last', async () => {
      const { store } = opened;
      const [a, b, c] = [entry('a', { json: '{"a":"é"}' }), entry('b'), entry('c')];
      await store.save([a, b], BOUNDS);
      await store.save([c, { ...a, json: '{"newer":true}' }], BOUNDS);
      const reopened = await opened.reopen();
      expect(await reopened.load(BOUNDS)).toEqual([b, c, { ...a, json: '{"newer":true}' }]);
    });

    test('expired traces are not loaded, nor more or larger ones than asked for', async () => {
      const { store } = opened;
      const large = entry('large', { json: JSON.stringify('x'.repeat(50_000)) });
      await store.save([large, entry('dead', { expiresAt: 1_000 }), entry('b')], BOUNDS);
      await store.save([entry('c'), entry('d')], BOUNDS);
      const keysWithin = async (change: Partial<typeof BOUNDS>) =>
        (await store.load({ ...BOUNDS, ...change })).map(({ key }) => key);
      expect(await keysWithin({})).toEqual(['large', 'b', 'c', 'd']);
      expect(await keysWithin({ maxEntries: 2 })).toEqual(['c', 'd']);
      expect(await keysWithin({ maxSize: 40_000 })).toEqual(['b', 'c', 'd']);
      expect(await keysWithin({ now: 9_000 })).toEqual([]);
    });

    test('what is expired or surplus leaves within a hundred saves', async () => {
      const { store } = opened;
      await store.save([entry('dead', { expiresAt: 2_000 })], BOUNDS);
      for (let turn = 0; turn < 100; turn += 1) {
        await store.save([entry(`k${turn}`)], { ...BOUNDS, now: 3_000, maxEntries: 10 });
      }
      const loaded = await store.load({ ...BOUNDS, now: 0, maxEntries: 1_000 });
      expect(loaded.length).toBeLessThan(100);
      expect(loaded.slice(-10).map(({ key }) => key)).toEqual(
        Array.from({ length: 10 }, (_, index) => `k${90 + index}`),
      );
      expect(loaded.map(({ key }) => key)).not.toContain('dead');
    });

    test('all traces together stay near their size, however few saves they came with', async () => {
      const { store } = opened;
      const json = JSON.stringify('x'.repeat(20_000));
      for (let turn = 0; turn < 20; turn += 1) {
        await store.save([entry(`k${turn}`, { json })], BOUNDS);
      }
      const loaded = await store.load({ ...BOUNDS, maxSize: 10_000_000 });
      expect(loaded.length).toBeLessThanOrEqual(5);
      expect(loaded.at(-1)?.key).toBe('k19');
    });
  });
}

function entry(key: string, change: Partial<StoredText> = {}): StoredText {
  return { key, json: `{"key":"${key}"}`, expiresAt: 9_000, ...change };
}
