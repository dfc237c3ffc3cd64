// What the settings of an upstream allow of calls, at once and in a window, is kept without asking more.

import type { ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { type ApiAnswer, type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';

const running: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of running.splice(0).toReversed()) await close();
});

function answer(response: ServerResponse): void {
  const content = { role: 'model', parts: [{ text: 'Hello.' }] };
  const body = { candidates: [{ content, finishReason: 'STOP', index: 0 }] };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

async function startOver(
  settings: JsonObject,
  onCall: (response: ServerResponse) => void,
): Promise<PoolApp> {
  const upstream = await startRawUpstream(['house-1', 'house-2'], onCall);
  running.push(() => upstream.close());
  const file = { upstreams: { own: { profile: 'generic', base_url: upstream.url, ...settings } } };
  const app = await startPoolApp({ file });
  running.push(() => app.close());
  for (const label of ['Ada', 'Bob']) {
    const account = { upstream: 'own', kind: 'api-key', key: `up-${label}-0123`, label };
    await app.must('POST', '/api/accounts', account);
  }
  return app;
}

const ask = (app: PoolApp, model = 'house-1'): Promise<ApiAnswer> =>
  app.api('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });

test.each([
  [{ max_concurrency: 3 }, 3],
  [{ max_concurrency_per_account: 1 }, 2],
])(
  'of many requests no more are at the upstream at once than %j allows',
  async (settings, most) => {
    const open: ServerResponse[] = [];
    let highest = 0;
    const app = await startOver(settings, (response) => {
      open.push(response);
      highest = Math.max(highest, open.length);
    });
    const answers = Promise.all(Array.from({ length: 8 }, () => ask(app)));
    for (let answered = 0; answered < 8; answered += 1) {
      const full = Math.min(most, 8 - answered);
      await expect.poll(() => open.length, { interval: 1 }).toBe(full);
      for (const response of open.splice(0, 1)) answer(response);
    }
    expect((await answers).map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(highest).toBe(most);
  },
);

test('a limit of calls in a window is kept for each account, and begins anew with the next', async () => {
  let calls = 0;
  const limits = { 'House-1': { requests: 2, window_minutes: 60 } };
  const app = await startOver({ limits }, (response) => {
    calls += 1;
    answer(response);
  });
  const statuses = async (times: number): Promise<readonly number[]> => {
    const all: number[] = [];
    for (let nth = 0; nth < times; nth += 1) all.push((await ask(app)).status);
    return all;
  };
  expect(await statuses(5)).toEqual([200, 200, 200, 200, 429]);
  expect(calls).toBe(4);
  expect((await ask(app, 'house-2')).status).toBe(200);
  app.clock.skip(3_600_000);
  expect(await statuses(1)).toEqual([200]);
});
