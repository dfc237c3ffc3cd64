// A key's requests at the same time: streams hold their place until they end, whichever way they end.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseJson } from '../../src/lib/json.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';

const BEGINNING =
  'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Once upon"}]}}]}\n\n';
const MESSAGES = [{ role: 'user', content: 'Hello' }];
const CALLS = {
  '/v1/chat/completions': { model: 'alpha-3-flash', messages: MESSAGES },
  '/v1/responses': { model: 'alpha-3-flash', input: 'Hello', background: true },
  '/v1/messages': { model: 'alpha-3-flash', max_tokens: 9, messages: MESSAGES },
  '/v1beta/models/alpha-3-flash:generateContent': { contents: [{ parts: [{ text: 'Hello' }] }] },
} as const;

/** An upstream that begins and never ends. */
let upstream: RawUpstream;
let gateway: PoolApp;
let secret: unknown;

beforeAll(async () => {
  upstream = await startRawUpstream(['alpha-3-flash'], (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(BEGINNING);
  });
  gateway = await startPoolApp({
    environment: { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'k' },
  });
});
afterAll(async () => {
  await gateway.close();
  upstream.close();
});

function ask(path: keyof typeof CALLS, more: object = {}, signal?: AbortSignal) {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...CALLS[path], ...more }),
    signal: signal ?? null,
  });
}

test('one request too many is refused in the shape of its protocol, and one that ends makes room', async () => {
  ({ secret } = await gateway.must('POST', '/api/keys', { name: 'Ada', maxConcurrency: 2 }));
  const leaving = new AbortController();
  const stream = await ask('/v1/chat/completions', { stream: true }, leaving.signal);
  expect(stream.status).toBe(200);
  // One that runs in the background counts too, though it was answered.
  const queued = parseJson(await (await ask('/v1/responses')).text());
  expect(queued).toMatchObject({ status: 'queued' });
  for (const path of Object.keys(CALLS) as (keyof typeof CALLS)[]) {
    const refused = await ask(path);
    expect([path, refused.status, refused.headers.get('retry-after')]).toEqual([path, 429, '1']);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('2 requests at the same time') },
    });
  }
  leaving.abort();
  const next = new AbortController();
  const isLetIn = async () => {
    const answer = await ask('/v1/messages', { stream: true }, next.signal);
    return answer.status;
  };
  await expect.poll(isLetIn).toBe(200);
  next.abort();
});
