// How long answers take and how attempts ended, as the admin API shows it.

import { afterEach, expect, test } from 'vitest';
import { createMemoryRequestStore } from '../support/memory-request-store.ts';
import { createMiddayClock } from '../support/midday-clock.ts';
import { type MonitoredGateway, startMonitored } from '../support/monitored-gateway.ts';
import { recordOf } from '../support/request-records.ts';

const HOUR_MS = 3_600_000;

let gateway: MonitoredGateway;
afterEach(() => gateway.close());

test('latency is shown by time and group, with the filters that usage has', async () => {
  const store = createMemoryRequestStore();
  gateway = await startMonitored({ store });
  const at = createMiddayClock().now() - HOUR_MS;
  await store.save([
    recordOf({ id: 'a', at, upstreamModel: 'm1', totalMs: 1000, outputTokens: 50 }),
    recordOf({ id: 'b', at, upstreamModel: 'm2', owner: 'ada', totalMs: 4000, outputTokens: 100 }),
  ]);
  const all = (await gateway.admin('/api/latency?by=model')).body;
  expect(all).toMatchObject({
    all: { duration: { count: 2 }, tokensPerSecond: 30 },
    groups: [
      { group: 'm1', duration: { count: 1 }, tokensPerSecond: 50 },
      { group: 'm2', duration: { count: 1 }, tokensPerSecond: 25 },
    ],
  });
  for (const filter of ['model=m2', 'owner=ada']) {
    const { body } = await gateway.admin(`/api/latency?by=model&${filter}`);
    expect(body).toMatchObject({ all: { duration: { count: 1 } }, groups: [{ group: 'm2' }] });
  }
  const { groups } = (await gateway.admin('/api/latency?by=model&limit=1')).body;
  expect(groups).toMatchObject([{ group: 'm2' }]);
  expect((await gateway.admin('/api/latency?step=minute')).status).toBe(400);
});

test('outcomes of the last day are shown by account and half hour', async () => {
  const store = createMemoryRequestStore();
  gateway = await startMonitored({ store });
  const { details, ...rest } = recordOf({ id: 'a', at: createMiddayClock().now() });
  const attemptsList = ['path', 'ok'].map((outcome, nth) => ({
    ...{ account: `a${nth}`, model: 'm', outcome, considered: [] },
  }));
  await store.save([{ ...rest, details: { ...details, attemptsList } }]);
  const { body } = await gateway.admin('/api/outcomes');
  const zeros = Array(47).fill(0);
  expect(body).toMatchObject({
    stepMs: HOUR_MS / 2,
    accounts: [
      { account: 'a0', good: [...zeros, 0], failed: [...zeros, 1] },
      { account: 'a1', good: [...zeros, 1], failed: [...zeros, 0] },
    ],
  });
  const alone = (await gateway.admin('/api/outcomes?account=a1')).body;
  expect(alone).toMatchObject({ accounts: [{ account: 'a1' }] });
});
