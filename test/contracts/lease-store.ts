// What every store of leases must do; run over each of them.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LeaseStore } from '../../src/cluster/leases.ts';
import type { OpenedStore } from './account-store.ts';

const LONG = 60_000;

export function describeLeaseStore(
  name: string,
  open: () => Promise<OpenedStore<LeaseStore>>,
): void {
  describe(`lease store: ${name}`, () => {
    let opened: OpenedStore<LeaseStore>;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    test('one holder at a time has a lease, and the other ones get it when it was let go', async () => {
      const { store } = opened;
      expect(await store.take('work', 'a', LONG)).toEqual({ fence: 1 });
      expect(await store.take('work', 'b', LONG)).toBeUndefined();
      expect(await store.take('other', 'b', LONG)).toEqual({ fence: 1 });
      await store.release('work', 'b', 1);
      expect(await store.take('work', 'b', LONG)).toBeUndefined();
      await store.release('work', 'a', 1);
      expect(await store.take('work', 'b', LONG)).toEqual({ fence: 2 });
    });

    test('who holds a lease takes it again with the same fence', async () => {
      const { store } = opened;
      await store.take('work', 'a', LONG);
      expect(await store.take('work', 'a', LONG)).toEqual({ fence: 1 });
    });

    test('a lease that ended has a new fence for whoever takes it', async () => {
      const { store } = opened;
      await store.take('work', 'a', 0);
      expect(await store.take('work', 'b', 0)).toEqual({ fence: 2 });
      expect(await store.take('work', 'b', LONG)).toEqual({ fence: 3 });
    });

    test('fences survive a restart', async () => {
      await opened.store.take('work', 'a', LONG);
      await opened.store.release('work', 'a', 1);
      expect(await (await opened.reopen()).take('work', 'a', LONG)).toEqual({ fence: 2 });
    });

    test('of ten that ask at once one gets it', async () => {
      const { store } = opened;
      const holders = Array.from({ length: 10 }, (_, index) => `holder-${index}`);
      const taken = await Promise.all(holders.map((holder) => store.take('work', holder, LONG)));
      expect(taken.filter((one) => one !== undefined)).toEqual([{ fence: 1 }]);
    });
  });
}
