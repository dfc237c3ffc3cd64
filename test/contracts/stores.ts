// What all stores of one database must do; run over each database there is.

import type { openStores } from '../../src/stores/stores.ts';
import { describeAccessStores } from './access-stores.ts';
import { describeAccountStore, type OpenedStore } from './account-store.ts';
import { describeExpiringStore } from './expiring-store.ts';
import { describeDurableResponseStore } from './kept-answer-store.ts';
import { describeLeaseStore } from './lease-store.ts';
import { describeRequestFigures } from './request-figures.ts';
import { describeRequestStore } from './request-store.ts';
import { describeSignatureStore } from './signature-store.ts';

type Stores = Awaited<ReturnType<typeof openStores>>;

export function describeStores(name: string, open: () => Promise<OpenedStore<Stores>>): void {
  const only =
    <Name extends keyof Stores>(which: Name) =>
    async (): Promise<OpenedStore<Stores[Name]>> => {
      const { store, reopen, close } = await open();
      return { close, store: store[which], reopen: async () => (await reopen())[which] };
    };
  describeAccountStore(name, only('accounts'));
  describeAccessStores(name, only('access'));
  describeRequestStore(name, only('requests'));
  describeRequestFigures(name, open);
  describeSignatureStore(name, only('signatures'));
  describeExpiringStore(name, only('callTraces'));
  // What is stored of sessions has the form of traces.
  describeExpiringStore(`${name}, of sessions`, only('sessions'));
  describeDurableResponseStore(name, only('storedResponses'));
  describeLeaseStore(name, only('leases'));
}
