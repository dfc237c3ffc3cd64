// A few unattended hours; the whole day is in the slow suite.

import { expect, test } from 'vitest';
import { liveThroughDay } from './day.ts';

test('some hours without anybody: nearly all requests are answered while some account has room', async () => {
  const { asked, failures } = await liveThroughDay({
    accounts: 20,
    signedIn: 4,
    hours: 2,
    requestsPerHalfHour: 30,
    quota: 24,
    seed: 1,
  });
  expect(failures).toEqual([]);
  expect(asked).toBe(120);
});
