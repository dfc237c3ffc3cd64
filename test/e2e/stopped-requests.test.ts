// An operator stops a request: its client gets the error of its protocol, its upstream call ends, its record says who.

import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';
import { checkStreamText } from '../support/stream-grammar/check-stream-text.ts';
import { askSurface, SURFACE_CALLS } from '../support/surface-calls.ts';

const FIRST_EVENT =
  'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Once upon"}]}}],' +
  '"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2}}\n\n';

/** An upstream that says two words and then nothing more. */
let upstream: RawUpstream;
let gateway: PoolApp;
/** Resolves when the call that came last is over there. */
let left: Promise<unknown> = Promise.resolve();

beforeAll(async () => {
  const models = SURFACE_CALLS.map(({ model }) => model);
  upstream = await startRawUpstream(models, (response: ServerResponse) => {
    left = new Promise((resolve) => response.once('close', resolve));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(FIRST_EVENT);
  });
  gateway = await startPoolApp({
    environment: { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'k' },
    file: { proxy: { monitor: { bodies: true } } },
  });
});
afterAll(async () => {
  await gateway.close();
  upstream.close();
});

async function api(method: string, path: string): Promise<JsonObject & { status: number }> {
  const answer = await fetch(`${gateway.url}${path}`, { method });
  const body = parseJson((await answer.text()) || '{}');
  return { ...(isJsonObject(body) ? body : {}), status: answer.status };
}

async function findRunning(): Promise<JsonObject> {
  const { requests } = await api('GET', '/api/running-requests');
  const [running] = Array.isArray(requests) ? requests : [];
  return isJsonObject(running) ? running : {};
}

/** Waits until this is known of it, and stops it. */
async function stopRunning(known: 'outputTokens' | 'account'): Promise<JsonObject> {
  let running: JsonObject = {};
  await expect
    .poll(async () => {
      running = await findRunning();
      return running[known];
    })
    .toBeDefined();
  expect((await api('POST', `/api/running-requests/${running.id}/stop`)).status).toBe(204);
  await left;
  return running;
}

const WORDS = SURFACE_CALLS.filter(({ name }) => !['images', 'embeddings'].includes(name));

describe('a request that an operator stops', () => {
  test.each(WORDS)('ends in its own error as $name', async (call) => {
    const answer = await askSurface(gateway.url, call, { text: 'Hello', stream: true });
    const text = answer.text();
    const running = await stopRunning('outputTokens');
    expect(running).toMatchObject({ attempt: 1, stream: true, outputTokens: 2 });
    expect(await text).toContain('Once');
    expect(await text).toContain('stopped the request');
    expect(checkStreamText(call.grammar ?? 'chat', await text)).toBe('error');
    expect(await api('GET', `/api/requests/${running.requestId}`)).toMatchObject({
      ...{ outcome: 'cancelled', inputTokens: 7, outputTokens: 2 },
      error: { text: 'Stopped by local.' },
      response: { blocks: [{ kind: 'text', text: 'Once upon' }] },
    });
  });

  test('is refused where its answer had not begun, in a way that asks for no retry', async () => {
    const [call] = WORDS;
    if (call === undefined) throw new Error('There is no surface.');
    const asked = askSurface(gateway.url, call, { text: 'Hello', stream: false });
    await stopRunning('account');
    const answer = await asked;
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([403, 'false']);
    expect((await findRunning()).id).toBeUndefined();
  });

  test('is told of in the audit log, and once', async () => {
    const { entries } = await api('GET', '/api/audit?about=POST');
    expect(Array.isArray(entries) && entries.length).toBe(WORDS.length + 1);
    expect((await api('POST', '/api/running-requests/nobody-1/stop')).status).toBe(404);
  });

  test('ends where an operator sent it again', async () => {
    const { requests } = await api('GET', '/api/requests?status=cancelled&protocol=chat');
    const [recorded] = Array.isArray(requests) ? requests.filter(isJsonObject) : [];
    const replay = fetch(`${gateway.url}/api/requests/${recorded?.id}/replay`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
    });
    await stopRunning('account');
    const text = 'An operator of this gateway stopped the request.';
    expect(parseJson(await (await replay).text())).toMatchObject({ status: 403, text });
    expect((await findRunning()).id).toBeUndefined();
  });

  test('fails as a response when it was made in the background', async () => {
    const asked = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'alpha-3-flash', input: 'Hello', background: true }),
    });
    const queued = parseJson(await asked.text());
    const id = isJsonObject(queued) ? queued.id : undefined;
    await stopRunning('account');
    await expect
      .poll(() => api('GET', `/v1/responses/${id}`))
      .toMatchObject({ error: { message: expect.stringContaining('stopped the request') } });
  });

  test('holds nothing against the account that served it', async () => {
    const { accounts } = await api('GET', '/api/accounts');
    const [account] = Array.isArray(accounts) ? accounts : [];
    expect(account).toMatchObject({ status: { kind: 'active' } });
  });
});
