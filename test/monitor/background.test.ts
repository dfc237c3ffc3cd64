// Answers made in the background are recorded once, as they ended.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';
import { type MonitoredGateway, startMonitored } from '../support/monitored-gateway.ts';

let gateway: MonitoredGateway;
beforeEach(async () => {
  gateway = await startMonitored();
});
afterEach(() => gateway.close());

const ASKED = { model: 'alpha-3-flash', input: 'Hello there', background: true };

test('an answer made in the background is one record, complete when the answer is', async () => {
  const row = gateway.nextRow();
  const answer = await gateway.ask('/v1/responses', ASKED);
  const body = parseJson(await answer.text());
  expect(body).toMatchObject({ status: 'queued' });
  const { id } = await row;
  const shown = await gateway.admin(`/api/requests/${id}`);
  expect(shown.body).toMatchObject({
    outcome: 'ok',
    status: 200,
    attempts: 1,
    clientAddress: '127.0.0.1',
    stream: false,
  });
  expect(shown.body.outputTokens).toBeGreaterThan(0);
  expect((await gateway.admin('/api/requests')).body).toMatchObject({ total: 1 });
});

test('one that is cancelled is the client’s own end, one that fails is an error', async () => {
  const cancelled = gateway.nextRow();
  const slow = { ...ASKED, input: 'UPSTREAM-SLOW 60000 Hello' };
  const body = parseJson(await (await gateway.ask('/v1/responses', slow)).text());
  const id = isJsonObject(body) ? String(body.id) : '';
  await gateway.ask(`/v1/responses/${id}/cancel`, {});
  expect(await cancelled).toMatchObject({ status: 499 });
  await gateway.addFault({ status: 400, message: 'No.', count: 1 });
  const failed = gateway.nextRow();
  await (await gateway.ask('/v1/responses', ASKED)).text();
  expect(await failed).toMatchObject({ status: 400 });
});
