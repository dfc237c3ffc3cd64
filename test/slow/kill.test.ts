// Two hundred kills during mixed writes and token rotations.

import { expect, test } from 'vitest';
import { runKills } from '../durability/kill-runs.ts';

test('writers killed two hundred times lose nothing', { timeout: 10 * 60_000 }, async () => {
  const report = await runKills(200, (run) => 1 + ((run * 61) % 400));
  console.log(`kills: 200/200, ${report.acknowledged} acknowledged changes, none lost`);
  expect(report).toMatchObject({ wrong: [], leaks: [], exposed: [] });
});
