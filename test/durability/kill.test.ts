// Nothing acknowledged is lost by `kill -9`, and no secret is on the disk in clear. Two hundred kills: test/slow.

import { expect, test } from 'vitest';
import { runKills } from './kill-runs.ts';

test('writers killed again and again lose nothing, leak nothing and leave private files', {
  timeout: 60_000,
}, async () => {
  const report = await runKills(4, (run) => 40 + run * 43);
  expect(report).toMatchObject({ wrong: [], leaks: [], exposed: [] });
  expect(report.inspected).toEqual([
    'isthmus.db',
    'isthmus.db-shm',
    'isthmus.db-wal',
    'secret.key',
  ]);
  expect(report.acknowledged).toBeGreaterThan(150);
});
