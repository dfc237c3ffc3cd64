import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  ADA,
  ask,
  FOREVER_MS,
  GRACE,
  type SendOptions,
  startTestSandbox,
} from './sandbox.test-support.ts';
import { createDefaultAccounts } from './state.ts';

const GENERATE = '/v1beta/models/alpha-3-flash:generateContent';
const STREAM = '/v1beta/models/alpha-3-flash:streamGenerateContent';
const SSE = `${STREAM}?alt=sse`;

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
beforeEach(() => sandbox.send('/sandbox/faults', { method: 'DELETE' }));
afterAll(() => sandbox.close());

const send = (path: string, options?: SendOptions) => sandbox.send(path, options);
const eventsOf = (text: string) => text.split('\r\n\r\n').slice(0, -1);

test('V114 both prefixes and all three ways to give a key work', async () => {
  const body = ask('hi');
  const none = { authorization: '' };
  const bare = { headers: none, body };
  expect((await send(GENERATE.replace('v1beta', 'v1'), { body })).status).toBe(200);
  expect((await send(`${GENERATE}?key=${ADA.key}`, bare)).status).toBe(200);
  const header = { ...none, 'x-vendora-api-key': GRACE.key };
  expect((await send(GENERATE, { body, headers: header })).status).toBe(200);
});

test('V161 a missing or wrong key is 401', async () => {
  for (const authorization of ['', 'Bearer wrong']) {
    const reply = await send(GENERATE, { body: ask('hi'), headers: { authorization } });
    expect(reply.json).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } });
  }
});

test('P165 the project is absent or the own one', async () => {
  const withProject = (project: string) => send(GENERATE, { body: ask('hi', { project }) });
  expect((await withProject(ADA.project)).status).toBe(200);
  expect((await withProject('')).status).toBe(400);
  expect((await withProject(GRACE.project)).status).toBe(404);
});

test('V116 refusals have the generate-content form with the violated fields', async () => {
  const reply = await send(GENERATE, { body: ask('hi', { nope: 1 }) });
  expect(reply.json).toMatchObject({
    error: {
      code: 400,
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'type.vendoraapis.example/vendora.rpc.BadRequest' }],
    },
  });
});

test.each([
  ['an unknown model', 'POST', '/v1/models/alpha-9:generateContent', 404],
  ['an unknown path', 'GET', '/v1beta/files', 404],
  ['an operation that is not offered', 'POST', '/v1/models/alpha-3-flash:tuneContent', 404],
  ['a wrong method', 'DELETE', '/v1beta/models', 404],
])('%s is refused', async (_name, method, path, status) => {
  const options = method === 'POST' ? { method, body: ask('hi') } : { method };
  expect((await send(path, options)).status).toBe(status);
});

test('a body that is no JSON is refused', async () => {
  expect((await send(GENERATE, { body: '{' })).status).toBe(400);
  const plain = { 'content-type': 'text/plain' };
  expect((await send(GENERATE, { body: '{}', headers: plain })).status).toBe(400);
});

test('a body that comes in many pieces is read whole, and one that is no JSON is refused at any size', async () => {
  const words = '"x'.repeat(150_000);
  const small = ask(`look at ${words} and ${words}`);
  const large = ask('', { contents: Array(6).fill(small.contents).flat() });
  for (const body of [small, large]) {
    expect((await send(GENERATE, { body })).status).toBe(200);
    const cut = JSON.stringify(body).slice(0, -1);
    const refused = await send(GENERATE, { body: cut });
    expect([refused.status, refused.text]).toEqual([400, expect.stringMatching('is not JSON')]);
  }
});

test('a stream is server-sent events with CRLF, or one JSON array', async () => {
  const events = eventsOf((await send(SSE, { body: ask('hi') })).text);
  expect(events.length).toBeGreaterThan(2);
  expect(events.every((event) => event.startsWith('data: {'))).toBe(true);
  expect(events.at(-1)).toContain('"finishReason":"STOP"');
  const array: unknown = JSON.parse((await send(STREAM, { body: ask('hi') })).text);
  expect(array).toHaveLength(events.length);
});

test('V115 tokens are counted by both spellings', async () => {
  const contents = ask('four characters a token');
  const full = { generateContentRequest: { model: 'models/alpha-3-flash', ...contents } };
  const paths = [':countTokens', '/countTokens'].map((end) => `/v1beta/models/alpha-3-flash${end}`);
  for (const path of paths) {
    for (const body of [contents, full]) {
      expect((await send(path, { body })).json).toMatchObject({ totalTokens: 6 });
    }
  }
  const body = { ...contents, safetySettings: [] };
  expect((await send(paths[0] ?? '', { body })).status).toBe(400);
});

test('the eight models are listed in pages, with their limits', async () => {
  const page = (await send('/v1beta/models?pageSize=5')).json;
  expect(page.models).toHaveLength(5);
  const rest = (await send(`/v1beta/models?pageSize=5&pageToken=${page.nextPageToken}`)).json;
  expect(rest.models).toHaveLength(3);
  expect((await send('/v1/models/beta-opus-4-6-thinking')).json).toMatchObject({
    name: 'models/beta-opus-4-6-thinking',
    inputTokenLimit: 1_048_576,
    maxOutputTokens: 64_000,
    supportsThinking: true,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  });
});

test('the quota route tells what is left', async () => {
  const fresh = await startTestSandbox([{ ...ADA, quota: { requests: 4, windowMs: 3_600_000 } }]);
  await fresh.send(GENERATE, { body: ask('hi') });
  await fresh.send(GENERATE, { body: ask('hi', { nope: 1 }) });
  const { json } = await fresh.send('/v1beta/quota');
  await fresh.close();
  expect(json).toMatchObject({ tier: 'ultra', project: ADA.project });
  expect(json.models).toContainEqual({
    name: 'alpha-3-flash',
    remainingFraction: 0.75,
    remainingAmount: '3',
    resetTime: '2026-01-01T13:00:00.000Z',
  });
});

test('UPSTREAM-STATUS answers with that error, 429 with a delay', async () => {
  expect((await send(SSE, { body: ask('UPSTREAM-STATUS 503') })).status).toBe(503);
  const { json } = await send(GENERATE, { body: ask('UPSTREAM-STATUS 429') });
  expect(JSON.stringify(json)).toContain('RetryInfo","retryDelay":"1s"');
});

test('UPSTREAM-SLOW pauses between the events of a stream', async () => {
  const before = sandbox.clock.sleeps.length;
  const events = eventsOf((await send(SSE, { body: ask('UPSTREAM-SLOW 250') })).text);
  const pauses = sandbox.clock.sleeps.slice(before);
  expect(pauses).toEqual(Array.from({ length: events.length - 1 }, () => 250));
});

test('UPSTREAM-CUT breaks off without a proper end', async () => {
  for (const path of [SSE, STREAM, GENERATE]) {
    await expect(send(path, { body: ask('UPSTREAM-CUT') })).rejects.toThrow();
  }
});

const addFault = (fault: Record<string, string | number | boolean>) =>
  send('/sandbox/faults', { body: fault });

test('a scripted error comes with its reason and delay, then is used up', async () => {
  await addFault({ status: 429, reason: 'QUOTA_EXHAUSTED', retryDelay: '2h21m25.8s', delayMs: 5 });
  const { status, text } = await send(GENERATE, { body: ask('hi') });
  expect([status, sandbox.clock.sleeps.at(-1)]).toEqual([429, 5]);
  expect(text).toContain('"reason":"QUOTA_EXHAUSTED"');
  expect(text).toContain('"retryDelay":"2h21m25.8s"');
  expect((await send(GENERATE, { body: ask('hi') })).status).toBe(200);
});

test('a truncated stream can look complete', async () => {
  await addFault({ cutAfterEvents: 2, cutKind: 'end' });
  expect(eventsOf((await send(SSE, { body: ask('hi') })).text)).toHaveLength(2);
  await addFault({ cutAfterBytes: 10, cutKind: 'end' });
  expect((await send(GENERATE, { body: ask('hi') })).text).toHaveLength(10);
});

test('V068 an empty stream, P091 a broken line, an error in mid-stream', async () => {
  await addFault({ emptyStream: true });
  expect((await send(SSE, { body: ask('hi') })).text).toBe('');
  await addFault({ garbage: true });
  const [, broken = ''] = eventsOf((await send(SSE, { body: ask('hi') })).text);
  expect(() => JSON.parse(broken.slice('data: '.length))).toThrow();
  await addFault({ errorAfterEvents: 1, status: 503 });
  const events = eventsOf((await send(SSE, { body: ask('hi') })).text);
  expect(events[1]).toMatch(/^data: \{"error":\{"code":503/);
  await addFault({ errorAfterEvents: 1, rawError: true });
  expect((await send(SSE, { body: ask('hi') })).text).toMatch(/\r\n\r\n\{\n {2}"error"/);
});

test('P090 a caller that leaves ends the answer', async () => {
  await addFault({ pauseMs: FOREVER_MS });
  const leaving = new AbortController();
  const response = await fetch(sandbox.url + SSE, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADA.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(ask('hi')),
    signal: leaving.signal,
  });
  leaving.abort();
  await expect(response.text()).rejects.toThrow();
  await vi.waitFor(async () => {
    const { requests } = (await send('/sandbox/requests')).json;
    expect(Array.isArray(requests) && requests.at(-1)).toMatchObject({ ended: 'client-gone' });
  });
});

test('faults are listed, and refused when unknown', async () => {
  await addFault({ status: 500, count: 3 });
  expect((await send('/sandbox/faults')).json).toEqual({
    faults: [{ id: expect.any(Number), remaining: 3, status: 500 }],
  });
  expect((await addFault({ nope: 1 })).status).toBe(400);
});

test('the last requests can be read, without any key', async () => {
  await send(`${GENERATE}?key=${ADA.key}`, { body: ask('remember me') });
  const { text, json } = await send('/sandbox/requests');
  expect(text).not.toContain(ADA.key);
  const requests = Array.isArray(json.requests) ? json.requests : [];
  expect(requests.at(-1)).toMatchObject({
    account: ADA.email,
    path: GENERATE,
    body: ask('remember me'),
    status: 200,
    ended: 'complete',
  });
});

test('the controls are closed to web pages', async () => {
  const origin = { origin: 'https://page.example' };
  expect((await send('/sandbox/requests', { headers: origin })).status).toBe(403);
  const rebound = await sendRaw('GET /sandbox/requests HTTP/1.1\r\nHost: page.example\r\n');
  expect(rebound).toMatch(/^HTTP\/1.1 403/);
});

test('a request target that is no address does not hurt', async () => {
  expect(await sendRaw('GET //[ HTTP/1.1\r\nHost: x\r\n')).toMatch(/^HTTP\/1.1 40[04]/);
});

test('default accounts have keys of their own in every process', () => {
  const [ada, grace] = createDefaultAccounts();
  expect([ada?.email, ada?.tier]).toEqual(['ada@sandbox.example', 'ultra']);
  expect([grace?.email, grace?.tier]).toEqual(['grace@sandbox.example', 'pro']);
  expect(new Set([ada?.key, grace?.key, createDefaultAccounts()[0]?.key]).size).toBe(3);
});

function sendRaw(head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString();
    });
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
    socket.write(`${head}Connection: close\r\n\r\n`);
  });
}
