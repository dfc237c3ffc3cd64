// The contract of the door's stores over every set of them there is.

import { createTestDatabase } from '../support/database.ts';
import { createMemoryAccessStores } from '../support/memory-access-stores.ts';
import { describeAccessStores } from './access-stores.ts';

describeAccessStores('memory', async () => {
  const store = createMemoryAccessStores();
  return { store, reopen: async () => store, close: async () => undefined };
});

describeAccessStores('SQLite', async () => {
  const database = await createTestDatabase();
  return {
    store: database.stores.access,
    reopen: async () => (await database.open()).access,
    close: () => database.close(),
  };
});
