// What requests cost: in their records, in usage, in the figures and in exports, all the same.

import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import type { RequestRow } from '../../src/monitor/record.ts';
import { createPriceBook } from '../../src/pricing/prices.ts';
import {
  type MonitoredGateway,
  type MonitoredOptions,
  startMonitored,
} from '../support/monitored-gateway.ts';

let gateway: MonitoredGateway;
afterEach(() => gateway.close());

const book = createPriceBook({ 'alpha-3-flash': { input: 1, output: 10, thought: 20 } });
const priced =
  (billing: 'metered' | 'flat-rate'): NonNullable<MonitoredOptions['priceOf']> =>
  ({ upstreamId, modelId }) => {
    const price = book.find({ upstreamId, isLocal: true }, modelId);
    return price && { price, billing };
  };

async function ask(model = 'alpha-3-flash'): Promise<RequestRow> {
  const row = gateway.nextRow();
  const body = { model, messages: [{ role: 'user', content: 'Hello there' }] };
  await (await gateway.ask('/v1/chat/completions', body)).text();
  return row;
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

test('list, detail, usage, figures and exports say the same cost, which its parts add up to', async () => {
  gateway = await startMonitored({ priceOf: priced('metered') });
  const row = await ask();
  const { inputTokens = 0, outputTokens = 0, thoughtTokens = 0, costNanos = 0 } = row;
  const text = outputTokens - thoughtTokens;
  expect(costNanos).toBe(inputTokens * 1000 + text * 10_000 + thoughtTokens * 20_000);
  expect(row).toMatchObject({ flatRateNanos: undefined, cacheSavingsNanos: 0, costBasis: 'own' });
  await gateway.monitor.flush();

  const { body: detail } = await gateway.admin(`/api/requests/${row.id}`);
  const [charge] = listOf(detail.charges);
  const parts = listOf(charge?.parts).map(({ count, rate }) => Number(count) * Number(rate) * 1000);
  expect(detail.costNanos).toBe(costNanos);
  expect(parts.reduce((sum, part) => sum + part, 0)).toBe(costNanos);

  const { body: usage } = await gateway.admin('/api/usage?by=key');
  expect(listOf(usage.buckets)).toMatchObject([{ pricedRequests: 1, costNanos, flatRateNanos: 0 }]);

  const { text: figures } = await gateway.admin('/metrics');
  expect(figures).toContain(
    `isthmus_cost_usd_total{model="alpha-3-flash",billing="metered"} ${costNanos / 1e9}`,
  );

  for (const kind of ['requests', 'usage']) {
    const csv = (await gateway.admin(`/api/export/${kind}`)).text.trimEnd().split('\r\n');
    expect(csv).toHaveLength(2);
    const at = csv[0]?.split(',').indexOf('cost') ?? -1;
    expect(csv[1]?.split(',')[at]).toBe(String(costNanos / 1e9));
    const json = parseJson((await gateway.admin(`/api/export/${kind}?format=json`)).text);
    expect(listOf(json)).toMatchObject([{ cost: costNanos / 1e9, currency: 'USD' }]);
  }
});

test('of an account at a flat rate it is what it would have cost', async () => {
  gateway = await startMonitored({ priceOf: priced('flat-rate') });
  const row = await ask();
  expect(row.costNanos).toBeUndefined();
  expect(row.flatRateNanos).toBeGreaterThan(0);
});

test('without a price there is no cost anywhere, and not one of 0', async () => {
  gateway = await startMonitored();
  const row = await ask();
  expect([row.costNanos, row.flatRateNanos, row.costBasis]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  await gateway.monitor.flush();
  const { text } = await gateway.admin('/api/export/usage?format=json');
  const [sum] = listOf(parseJson(text));
  expect(sum).toMatchObject({ priced_requests: 0 });
  expect(sum).not.toHaveProperty('cost');
  expect((await gateway.admin('/metrics')).text).not.toContain('isthmus_cost_usd_total{');
});

test('an export has every record of the filter, page by page, and a formula is a text in it', async () => {
  gateway = await startMonitored();
  for (let count = 0; count < 5; count += 1) await ask();
  await ask('=cmd|calc');
  await gateway.monitor.flush();
  const all = (await gateway.admin('/api/export/requests')).text.trimEnd().split('\r\n');
  expect(all).toHaveLength(7);
  expect(all.some((line) => line.includes(",'=cmd|calc,"))).toBe(true);
  const failed = (await gateway.admin('/api/export/requests?status=ok')).text
    .trimEnd()
    .split('\r\n');
  expect(failed).toHaveLength(6);
  expect((await gateway.admin('/api/export/requests?status=ok&to=1&format=json')).text).toBe(
    '[]\n',
  );
});
