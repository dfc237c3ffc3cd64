// The contract of the door's stores over every set of them there is.

import { createTestDatabase } from '../support/database.ts';
import { createMemoryDoorStores } from '../support/memory-door-stores.ts';
import { describeDoorStores } from './door-stores.ts';

describeDoorStores('memory', async () => {
  const store = createMemoryDoorStores();
  return { store, reopen: async () => store, close: async () => undefined };
});

describeDoorStores('SQLite', async () => {
  const database = await createTestDatabase();
  return {
    store: database.stores.door,
    reopen: async () => (await database.open()).door,
    close: () => database.close(),
  };
});
