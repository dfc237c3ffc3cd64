// The generated pages are what the code says; UPDATE_DOCS=1 writes them anew.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeGridTargets } from '../golden/grid/cells.ts';
import { startApp } from '../support/app.ts';
import { describeErrors, describeRoutes } from './generate.ts';
import { describeGrid } from './translation-grid.ts';

const DOCS = join(import.meta.dirname, '../../docs');

test('docs/routes.md is what the running gateway answers', async () => {
  const app = await startApp();
  checkPage('routes.md', describeRoutes(app.app.server.routes));
  await app.close();
});

test('docs/errors.md is what the protocols write', () => {
  checkPage('errors.md', describeErrors());
});

test('docs/translation-grid.md is what becomes of each feature', async () => {
  checkPage('translation-grid.md', describeGrid());
  await closeGridTargets();
});

function checkPage(name: string, page: string): void {
  const path = join(DOCS, name);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(path, page);
  expect(readFileSync(path, 'utf8')).toBe(page);
}
