// A whole day of fifty accounts that nobody looks after.

import { expect, test } from 'vitest';
import { liveThroughDay } from '../pool/day.ts';

test('a day without anybody: 99.9 % of the requests succeed while some account has room', async () => {
  const { asked, failures, excused, troubles } = await liveThroughDay({
    accounts: 50,
    signedIn: 20,
    hours: 24,
    requestsPerHalfHour: 60,
    quota: 18,
    seed: 2,
  });
  const success = 1 - failures.length / (asked - excused);
  process.stdout.write(
    `day: ${asked} requests, ${failures.length} failed, ${excused} without any room, ` +
      `${(success * 100).toFixed(2)} % succeeded, troubles ${JSON.stringify(troubles)}\n`,
  );
  expect(success, failures.join('\n')).toBeGreaterThanOrEqual(0.999);
  expect(excused).toBeLessThan(asked / 10);
}, 600_000);
