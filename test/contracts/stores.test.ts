// The contract suites over every store there is.

import { createTestDatabase } from '../support/database.ts';
import { createMemoryAccountStore } from '../support/memory-account-store.ts';
import { createMemorySignatureStore } from '../support/memory-signature-store.ts';
import { createMemoryTraceStore } from '../support/memory-trace-store.ts';
import { describeAccountStore, type OpenedStore } from './account-store.ts';
import { describeDurableResponseStore } from './kept-answer-store.ts';
import { describeSignatureStore } from './signature-store.ts';
import { describeTraceStore } from './trace-store.ts';

describeAccountStore('memory', async () => inMemory(createMemoryAccountStore()));
describeAccountStore('SQLite', async () => {
  const database = await createTestDatabase();
  return {
    store: database.stores.accounts,
    reopen: async () => (await database.open()).accounts,
    close: () => database.close(),
  };
});

describeSignatureStore('memory', async () => inMemory(createMemorySignatureStore()));
describeSignatureStore('SQLite', async () => {
  const database = await createTestDatabase();
  return {
    store: database.stores.signatures,
    reopen: async () => (await database.open()).signatures,
    close: () => database.close(),
  };
});

describeTraceStore('memory', async () => inMemory(createMemoryTraceStore()));
describeTraceStore('SQLite', async () => {
  const database = await createTestDatabase();
  return {
    store: database.stores.callTraces,
    reopen: async () => (await database.open()).callTraces,
    close: () => database.close(),
  };
});

// What is stored of sessions has the form of traces.
describeTraceStore('SQLite, of sessions', async () => {
  const database = await createTestDatabase();
  return {
    store: database.stores.sessions,
    reopen: async () => (await database.open()).sessions,
    close: () => database.close(),
  };
});

describeDurableResponseStore('SQLite', async () => {
  const database = await createTestDatabase();
  return {
    store: database.stores.storedResponses,
    reopen: async () => (await database.open()).storedResponses,
    close: () => database.close(),
  };
});

function inMemory<Store>(store: Store): OpenedStore<Store> {
  return { store, reopen: async () => store, close: async () => undefined };
}
