// The contract suites over every store there is; those of PostgreSQL are in stores-postgres.test.ts.

import { createTestDatabase } from '../support/database.ts';
import { createMemoryAccessStores } from '../support/memory-access-stores.ts';
import { createMemoryAccountStore } from '../support/memory-account-store.ts';
import { createMemoryExpiringStore } from '../support/memory-expiring-store.ts';
import { createMemoryRequestStore } from '../support/memory-request-store.ts';
import { createMemorySignatureStore } from '../support/memory-signature-store.ts';
import { describeAccessStores } from './access-stores.ts';
import { describeAccountStore, type OpenedStore } from './account-store.ts';
import { describeExpiringStore } from './expiring-store.ts';
import { describeRequestStore } from './request-store.ts';
import { describeSignatureStore } from './signature-store.ts';
import { describeStores } from './stores.ts';

describeAccountStore('memory', async () => inMemory(createMemoryAccountStore()));
describeAccessStores('memory', async () => inMemory(createMemoryAccessStores()));
describeRequestStore('memory', async () => inMemory(createMemoryRequestStore()));
describeSignatureStore('memory', async () => inMemory(createMemorySignatureStore()));
describeExpiringStore('memory', async () => inMemory(createMemoryExpiringStore()));

describeStores('SQLite', async () => {
  const database = await createTestDatabase();
  return {
    store: database.stores,
    reopen: () => database.open(),
    close: () => database.close(),
  };
});

function inMemory<Store>(store: Store): OpenedStore<Store> {
  return { store, reopen: async () => store, close: async () => undefined };
}
