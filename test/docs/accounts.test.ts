// The commands of docs/accounts.md and docs/upstreams.md, and the paths of the former, are those there are.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';
import { startAdmin } from '../../src/admin/admin.test-support.ts';
import { runCommand } from '../../src/cli/run-command.test-support.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');
const PAGE = read('accounts.md');

test('every command line is one that is understood', async () => {
  const lines = `${PAGE}\n${read('upstreams.md')}`
    .split('\n')
    .filter((line) => line.startsWith('isthmus '))
    .map((line) => line.replace(/ +#.*/, ''));
  expect(lines.length).toBeGreaterThan(12);
  for (const line of lines) {
    let hasConnected = false;
    const connect = async () => {
      hasConnected = true;
      throw new Error('far enough');
    };
    await expect(runCommand(line.replace('isthmus ', ''), { connect })).rejects.toThrow(
      'far enough',
    );
    expect([line, hasConnected]).toEqual([line, true]);
  }
});

test('every path is one of the admin API, with that method where one is named', async () => {
  const admin = await startAdmin();
  await admin.close();
  const known = admin.routes.map(({ method, path }) => `${method} ${path}`);
  const named = [...PAGE.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/api\/[^\s`?]+)/g)];
  expect(named.length).toBeGreaterThan(20);
  for (const [, route = ''] of named) expect(known).toContain(route);
});
