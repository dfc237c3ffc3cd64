// The merged route table, as a golden file: a changed line is a changed public interface.

import { expect, test } from 'vitest';
import { listRoutes } from '../../src/server/list-routes.test-support.ts';
import { startApp } from '../support/app.ts';

test('the routes of the whole gateway', async () => {
  const app = await startApp();
  const lines = listRoutes(app.app.server.routes);
  await app.close();
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./routes.golden');
});
