// The contract suites over PostgreSQL, where it is installed.

import { afterAll, beforeAll, describe } from 'vitest';
import {
  createTestPostgres,
  POSTGRES_BIN,
  startPostgres,
  type TestPostgres,
  type TestServer,
} from '../support/postgres.ts';
import { describeStores } from './stores.ts';

describe.skipIf(POSTGRES_BIN === undefined)('PostgreSQL', () => {
  let server: TestServer;
  let opened: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
    opened = await createTestPostgres(server);
  });
  afterAll(async () => {
    await opened.close();
    await server.close();
  });

  describeStores('PostgreSQL', async () => {
    await opened.empty();
    return {
      store: opened.stores,
      reopen: () => opened.open(),
      close: async () => undefined,
    };
  });
});
