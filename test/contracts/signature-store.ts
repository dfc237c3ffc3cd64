// What every signature store must do; run over each of them.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SignatureStore, StoredSignature } from '../../src/signatures/cache.ts';
import type { OpenedStore } from './account-store.ts';

const BOUNDS = { now: 1_000, maxEntries: 100 };

export function describeSignatureStore(
  name: string,
  open: () => Promise<OpenedStore<SignatureStore>>,
): void {
  describe(`signature store: ${name}`, () => {
    let opened: OpenedStore<SignatureStore>;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    test('entries come back whole and in the order they were saved last', async () => {
      const { store } = opened;
      const [a, b, c] = [entry('a', { family: 'alpha', on: 'tool-call' }), entry('b'), entry('c')];
      await store.save([a, b], BOUNDS);
      await store.save([c, { ...a, value: 'newer' }], BOUNDS);
      const reopened = await opened.reopen();
      expect(await reopened.load(BOUNDS)).toEqual([b, c, { ...a, value: 'newer' }]);
    });

    test('expired entries are not loaded, nor more than asked for', async () => {
      const { store } = opened;
      await store.save(
        [entry('dead', { expiresAt: 1_000 }), entry('b'), entry('c'), entry('d')],
        BOUNDS,
      );
      const loaded = await store.load({ now: 1_000, maxEntries: 2 });
      expect(loaded.map(({ key }) => key)).toEqual(['c', 'd']);
    });

    test('what is expired or surplus leaves within a hundred saves', async () => {
      const { store } = opened;
      await store.save([entry('dead', { expiresAt: 2_000 })], BOUNDS);
      for (let turn = 0; turn < 100; turn += 1) {
        await store.save([entry(`k${turn}`)], { now: 3_000, maxEntries: 10 });
      }
      const loaded = await store.load({ now: 0, maxEntries: 1_000 });
      expect(loaded.length).toBeLessThan(100);
      expect(loaded.slice(-10).map(({ key }) => key)).toEqual(
        Array.from({ length: 10 }, (_, index) => `k${90 + index}`),
      );
      expect(loaded.map(({ key }) => key)).not.toContain('dead');
    });
  });
}

function entry(key: string, change: Partial<StoredSignature> = {}): StoredSignature {
  return { key, value: `v-${key}`, family: undefined, on: undefined, expiresAt: 9_000, ...change };
}
