// What is recorded of real requests in each protocol, however they end.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRaw } from '../../src/server/raw-socket.test-support.ts';
import { createMemoryRequestStore } from '../support/memory-request-store.ts';
import { createMiddayClock } from '../support/midday-clock.ts';
import { CLIENT_KEY, type MonitoredGateway, startMonitored } from '../support/monitored-gateway.ts';
import { CALL_ONCE, PNG, WEATHER } from '../support/prompts.ts';
import { recordOf as storedRecord } from '../support/request-records.ts';

let gateway: MonitoredGateway;
beforeEach(async () => {
  gateway = await startMonitored();
});
afterEach(() => gateway.close());

const CHAT = '/v1/chat/completions';
const chat = (content: string, more: object = {}) => ({
  model: 'alpha-3-flash',
  messages: [{ role: 'user', content }],
  ...more,
});

const GENERATE = '/v1beta/models/alpha-3-flash';
const ASKED = { contents: [{ parts: [{ text: 'Hello' }] }] };

/** Sends, reads the answer to its end and gives the row. */
async function recordOf(path: string, body: object, headers?: Record<string, string>) {
  const row = gateway.nextRow();
  const answer = await gateway.ask(path, body, headers);
  await answer.text().catch(() => '');
  return row;
}

test('each protocol leaves a record with its models, account, key, tokens and timings', async () => {
  const calls: readonly (readonly [string, object, string, string])[] = [
    [CHAT, chat('Hello there'), 'chat', 'chat/completions'],
    ['/v1/responses', { model: 'alpha-3-flash', input: 'Hello' }, 'responses', 'responses'],
    [
      '/v1/messages',
      { ...chat('Hello there'), max_tokens: 200, stream: true },
      'messages',
      'messages',
    ],
    [
      '/v1beta/models/alpha-3-flash:generateContent',
      { contents: [{ parts: [{ text: 'Hello' }] }] },
      'generate',
      'generateContent',
    ],
    [
      '/v1alpha/models/alpha-3-flash:generateContent',
      { contents: [{ parts: [{ text: 'Hello' }] }] },
      'generate',
      'generateContent',
    ],
    [
      '/v1beta/models/alpha-3-flash:streamGenerateContent',
      { contents: [{ parts: [{ text: 'Hello' }] }] },
      'generate',
      'streamGenerateContent',
    ],
  ];
  for (const [path, body, protocol, surface] of calls) {
    const row = await recordOf(path, body, { 'user-agent': 'test-client/1' });
    expect(row).toMatchObject({
      protocol,
      surface,
      method: 'POST',
      path,
      status: 200,
      outcome: 'ok',
      model: 'alpha-3-flash',
      routedModel: 'alpha-3-flash',
      upstreamModel: 'alpha-3-flash',
      account: 'ann@example.org',
      keyId: 'main',
      keyName: 'Ann',
      clientAddress: '127.0.0.1',
      attempts: 1,
    });
    expect(row.inputTokens).toBeGreaterThan(0);
    expect(row.outputTokens).toBeGreaterThan(0);
    expect(row.firstEventMs).toBeLessThanOrEqual(row.totalMs);
    const detail = await gateway.admin(`/api/requests/${row.id}`);
    expect(detail.body).toMatchObject({
      id: row.id,
      userAgent: 'test-client/1',
      attemptsList: [{ account: 'ann@example.org', outcome: 'ok', status: 200 }],
    });
    expect(detail.text).toContain('chosen');
    expect(detail.body).not.toHaveProperty('clientRequest');
  }
});

test('several prompts or images are several calls, of which only what was asked again is a retry', async () => {
  const calls: readonly (readonly [string, object])[] = [
    ['/v1/completions', { model: 'alpha-3-flash', prompt: ['one', 'two', 'three'] }],
    ['/v1/completions', { model: 'alpha-3-flash', prompt: ['one', 'two', 'three'], stream: true }],
    ['/v1/images/generations', { model: 'alpha-3-pro-image', prompt: 'a pear', n: 3 }],
  ];
  for (const [path, body] of calls) {
    for (const retries of [0, 1]) {
      if (retries > 0) await gateway.addFault({ status: 500 });
      const row = await recordOf(path, body);
      expect([path, row]).toMatchObject([path, { status: 200, attempts: 3 + retries, retries }]);
      const { body: detail } = await gateway.admin(`/api/requests/${row.id}`);
      const attempts = detail.attemptsList as unknown as {
        upstreamCall: number;
        outcome: string;
      }[];
      const good = attempts.filter(({ outcome }) => outcome === 'ok');
      expect(detail).toMatchObject({ upstreamCalls: 3, retries });
      expect(good.map(({ upstreamCall }) => upstreamCall).sort()).toEqual([1, 2, 3]);
    }
  }
});

test('an attempt behind the first one of a plain request is a retry', async () => {
  await gateway.addFault({ status: 500 });
  const row = await recordOf(CHAT, chat('Hello there'));
  expect(row).toMatchObject({ status: 200, attempts: 2, retries: 1 });
  const { body } = await gateway.admin(`/api/requests/${row.id}`);
  expect(body).not.toHaveProperty('upstreamCalls');
});

test('a stream that broke off is an error although its status was 200', async () => {
  await gateway.addFault({ errorAfterEvents: 2, status: 500 });
  const row = await recordOf(CHAT, chat('UPSTREAM-WORDS 40', { stream: true }));
  expect(row).toMatchObject({ status: 200, outcome: 'error', stream: true });
  expect(row.error?.text).toMatch(/./);
});

test('a client that leaves is cancelled, not an error', async () => {
  const row = gateway.nextRow();
  const abort = new AbortController();
  const answer = await fetch(`${gateway.url}${CHAT}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': CLIENT_KEY,
    },
    body: JSON.stringify(chat('UPSTREAM-SLOW 50 UPSTREAM-WORDS 400', { stream: true })),
    signal: abort.signal,
  });
  await answer.body?.getReader().read();
  abort.abort();
  expect(await row).toMatchObject({ status: 499, outcome: 'cancelled' });
});

test('an upload that is refused is an error, also when its client leaves without reading why', async () => {
  const row = gateway.nextRow();
  const { port } = new URL(gateway.url);
  const connection = openRaw(Number(port));
  const head = ['Host: a', `X-Api-Key: ${CLIENT_KEY}`, 'Content-Type: application/json'];
  connection.write(
    `POST ${CHAT} HTTP/1.1\r\n${head.join('\r\n')}\r\nContent-Length: 200000000\r\n\r\n{`,
  );
  await connection.until((text) => text.includes(' 413 '));
  connection.socket.destroy();
  expect(await row).toMatchObject({ status: 413, outcome: 'error', attempts: 0 });
});

test('a refused body, an unknown model and an upstream that fails are errors with their words', async () => {
  expect(await recordOf(CHAT, { model: 'alpha-3-flash', messages: 'no' })).toMatchObject({
    status: 400,
    outcome: 'error',
    attempts: 0,
    error: { text: expect.stringContaining('messages') },
  });
  expect(await recordOf(CHAT, chat('UPSTREAM-STATUS 400'))).toMatchObject({
    status: 400,
    outcome: 'error',
    attempts: 1,
  });
  const { admin } = gateway;
  const errors = await admin('/api/requests?status=4xx');
  expect(errors.body.total).toBe(2);
  const overview = await admin('/api/overview');
  expect(overview.body).toMatchObject({
    accounts: { total: 1 },
    recentErrors: [{ status: 400 }, { status: 400 }],
  });
});

test('a request refused for another field is found by the model it named, in its body, form or path', async () => {
  const model = 'alpha-3-flash';
  const hot = { ...chat('Hello', { temperature: 'hot' }), max_tokens: 9 };
  const form = new FormData();
  form.set('model', model);
  form.set('temperature', 'hot');
  const refused: readonly (readonly [string, object])[] = [
    [CHAT, hot],
    [CHAT, { ...hot, model: ` models/${model}` }],
    ['/v1/responses', { ...hot, input: 'Hello' }],
    ['/v1/messages', { ...hot, stream: true }],
    ['/v1/messages/count_tokens', { ...hot, messages: 'no' }],
    ['/v1/embeddings', { model, input: 7 }],
    ['/v1/audio/transcriptions', form],
    [`/v1beta/models/${model}:generateContent`, { contents: 7, model: 'another' }],
  ];
  for (const [path, body] of refused) {
    expect([path, await recordOf(path, body)]).toMatchObject([path, { status: 400, model }]);
  }
  const { body } = await gateway.admin(`/api/requests?status=400&model=${model}`);
  expect(body.total).toBe(refused.length);
});

test('of a refused request no name is kept that is no text, and none in full that is too long', async () => {
  for (const model of [7, null, ['alpha-3-flash'], { name: 'x' }]) {
    expect(await recordOf(CHAT, chat('Hello', { model }))).toMatchObject({
      status: 400,
      model: '',
    });
  }
  const row = await recordOf(CHAT, chat('Hello', { model: 'x'.repeat(9_000), n: 'two' }));
  expect(row).toMatchObject({ status: 400, model: `${'x'.repeat(256)}…` });
});

const WORDS = 'The API is off for this project; key sk-abcdef123456.';

test('each attempt of a record says what became of it, in the words of the upstream or of the fault', async () => {
  await gateway.addFault({ status: 403, message: WORDS });
  const { id, error } = await recordOf(CHAT, chat('Hello'));
  // No other account could be asked: the client is told what the upstream says, without credentials.
  expect(error?.text).toContain('The API is off');
  expect(error?.text).not.toContain('sk-abcdef');
  const { body, text } = await gateway.admin(`/api/requests/${id}`);
  expect(body).toMatchObject({
    attemptsList: [{ status: 403, detail: { text: expect.stringContaining('The API is off') } }],
  });
  expect(text).not.toContain('sk-abcdef');
});

test('a request that gave its own id is found by it, and two of one id are two records', async () => {
  const first = await recordOf(CHAT, chat('One'), { 'x-request-id': 'mine' });
  const second = await recordOf(CHAT, chat('Two'), { 'x-request-id': 'mine' });
  expect(first.id).not.toBe(second.id);
  expect((await gateway.admin('/api/requests/mine')).body).toMatchObject({ id: second.id });
  expect((await gateway.admin(`/api/requests/${first.id}`)).body).toMatchObject({ id: first.id });
  expect((await gateway.admin('/api/requests/none')).status).toBe(404);
});

test('bodies are kept only when wanted: shortened media, whole texts and tool calls of streams', async () => {
  gateway.settings.keepsBodies = true;
  const image = {
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${'iVBOR'.repeat(400)}${PNG}` },
  };
  await recordOf(
    CHAT,
    chat('x', { messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, image] }] }),
  );
  const stream = await recordOf(
    CHAT,
    chat(CALL_ONCE, {
      stream: true,
      tools: [
        {
          type: 'function',
          function: { name: WEATHER.name, parameters: WEATHER.schema },
        },
      ],
    }),
  );
  const detail = await gateway.admin(`/api/requests/${stream.id}`);
  expect(detail.body).toMatchObject({
    clientRequest: { isWhole: true },
    upstreamRequest: { isWhole: true },
    response: { isWhole: true },
  });
  const { blocks } = detail.body.response as { blocks: { kind: string }[] };
  expect(blocks).toContainEqual(
    expect.objectContaining({ kind: 'tool-call', name: 'weather', arguments: '{"city":"Paris"}' }),
  );
  const [, withImage] = (await gateway.admin('/api/requests')).body.requests as { id: string }[];
  const shown = await gateway.admin(`/api/requests/${withImage?.id}`);
  expect(shown.body.clientRequest).toMatchObject({ isWhole: false });
  expect(shown.text).not.toContain('iVBORiVBOR');
  expect((await gateway.admin('/api/requests?search=%22city%22')).body.total).toBe(1);
});

test.each([
  ['a stream', CHAT, chat('Hello', { stream: true }), 'candidates'],
  ['a whole response', CHAT, chat('Hello'), 'candidates'],
  [
    'a stream in the wire of the upstream',
    `${GENERATE}:streamGenerateContent?alt=sse`,
    ASKED,
    'candidates',
  ],
  ['a whole one in the wire of the upstream', `${GENERATE}:generateContent`, ASKED, 'candidates'],
  ['several responses in one', CHAT, chat('Hello', { n: 2 }), 'candidates'],
  ['a refusal', CHAT, chat('Hello', { messages: 'nope' }), undefined],
])(
  'of %s it is kept what the upstream sent, and the bytes the client got',
  async (_name, path, body, fieldOfUpstream) => {
    gateway.settings.keepsBodies = true;
    const row = gateway.nextRow();
    const got = await (await gateway.ask(path, body)).text();
    const { upstreamResponse, clientResponse } = (
      await gateway.admin(`/api/requests/${(await row).id}`)
    ).body as Record<string, { text: string; isWhole: boolean } | undefined>;
    expect(clientResponse).toEqual({ text: got, isWhole: true });
    if (fieldOfUpstream === undefined) return expect(upstreamResponse).toBeUndefined();
    expect(upstreamResponse?.isWhole).toBe(true);
    const events = upstreamResponse?.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events?.every((event) => fieldOfUpstream in event || 'usageMetadata' in event)).toBe(
      true,
    );
  },
);

test('a body that was refused is kept whole, and what could not be read says so', async () => {
  gateway.settings.keepsBodies = true;
  const shown = async (path: string, body: object | string) => {
    const row = gateway.nextRow();
    await (typeof body === 'string' ? gateway.askRaw(path, body) : gateway.ask(path, body));
    return (await gateway.admin(`/api/requests/${(await row).id}`)).body;
  };
  for (const change of [{ messages: 'nope' }, { temperature: 'hot' }]) {
    expect(await shown(CHAT, chat('Hello', change))).toMatchObject({
      ...{ status: 400, keepsBodies: true, replay: 'possible' },
      clientRequest: { isWhole: true },
    });
  }
  const unread = await shown(CHAT, '{"model":');
  expect(unread).toMatchObject({ status: 400, keepsBodies: true, replay: 'unread' });
  expect(unread).not.toHaveProperty('clientRequest');
  const counted = { ...chat('Hello'), max_tokens: 9 };
  expect(await shown('/v1/messages/count_tokens', counted)).toMatchObject({
    replay: 'other-operation',
  });
  const form = new FormData();
  form.append('model', 'alpha-3-flash');
  form.append('temperature', 'hot');
  form.append('file', new Blob(['RIFF']), 'a.wav');
  expect(await shown('/v1/audio/transcriptions', form)).toMatchObject({ replay: 'in-part' });
  gateway.settings.keepsBodies = false;
  expect(await shown(CHAT, chat('Hello'))).toMatchObject({
    ...{ keepsBodies: false, replay: 'not-kept' },
  });
});

test('an empty gateway shows empty lists, no usage and a quiet hour', async () => {
  expect((await gateway.admin('/api/requests')).body).toEqual({ requests: [], total: 0 });
  const usage = await gateway.admin('/api/usage?by=model&timeZone=Asia/Kolkata&step=day');
  expect(usage.status).toBe(200);
  expect(usage.body.buckets).toEqual([]);
  const overview = await gateway.admin('/api/overview');
  expect(overview.body).toMatchObject({ live: { requestsPerMinute: 0, inFlight: 0 } });
  expect(overview.body.series).toHaveLength(60);
  expect((await gateway.admin('/api/logs')).body).toEqual({ lines: [] });
});

test('usage and metrics count what was asked and answered', async () => {
  await recordOf(CHAT, chat('Hello there'));
  await recordOf(CHAT, chat('UPSTREAM-STATUS 400'));
  const usage = await gateway.admin('/api/usage?by=key');
  expect(usage.body.buckets).toMatchObject([
    { group: 'main', groupName: 'Ann', requests: 2, errors: 1 },
  ]);
  const metrics = await fetch(`${gateway.url}/metrics`);
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/);
  const text = await metrics.text();
  expect(text).toContain(
    'isthmus_requests_total{protocol="chat",upstream="sandbox",family="alpha",model="alpha-3-flash",outcome="ok",reason=""} 1',
  );
  expect(text).toContain(
    'isthmus_request_duration_seconds_count{protocol="chat",upstream="sandbox",family="alpha",outcome="ok"} 1',
  );
  expect(text).not.toContain('ann@example.org');
});

test('usage by model counts what was refused or found no account, and no name nobody offers', async () => {
  await recordOf(CHAT, chat('Hello there'));
  await recordOf(CHAT, { model: 'alpha-3-flash', messages: 'nope' });
  await gateway.askRaw('/v1beta/models/alpha-3-flash:generateContent', '{"contents":');
  await recordOf(CHAT, { model: 'made-up-by-a-client', messages: 'nope' });
  gateway.disable('ann');
  expect((await recordOf(CHAT, chat('Hello there'))).status).toBe(503);
  const usage = await gateway.admin('/api/usage?by=model');
  expect(usage.body.buckets).toMatchObject([
    { group: '', requests: 1, errors: 1 },
    { group: 'alpha-3-flash', requests: 4, errors: 3 },
  ]);
});

test('the keys that used the most are shown by time, and all others together', async () => {
  await gateway.close();
  const store = createMemoryRequestStore();
  gateway = await startMonitored({ store, mainKeyName: () => 'Anna' });
  const at = createMiddayClock().now() - 3_600_000;
  const used = (keyId: string, inputTokens: number) =>
    storedRecord({ id: `${keyId}-${inputTokens}`, at, keyId, keyName: keyId, inputTokens });
  await store.save([used('main', 90), used('main', 9), used('k1', 40), used('k2', 1)]);
  const usage = await gateway.admin('/api/usage/leading?by=key&leading=1&limit=2');
  expect(usage.body).toMatchObject({
    totals: [{ requests: 4, inputTokens: 140 }],
    buckets: [{ group: 'main', groupName: 'Anna', requests: 2, inputTokens: 99 }],
    others: [{ requests: 2, inputTokens: 41 }],
    groups: [
      { group: 'main', groupName: 'Anna', inputTokens: 99 },
      { group: 'k1', groupName: 'k1', inputTokens: 40 },
    ],
    groupCount: 3,
  });
  const none = await gateway.admin('/api/usage/leading?by=key&owner=nobody');
  expect(none.body).toMatchObject({ totals: [], buckets: [], others: [], groups: [] });
  expect((await gateway.admin('/api/usage/leading?leading=0')).status).toBe(400);
});

test('usage of a key goes by its name after the key was removed', async () => {
  await gateway.close();
  let name: string | undefined = 'Ann';
  gateway = await startMonitored({ mainKeyName: () => name });
  await recordOf(CHAT, chat('Hello there'));
  const shown = async () => (await gateway.admin('/api/usage?by=key')).body.buckets;
  name = 'Anna';
  expect(await shown()).toMatchObject([{ group: 'main', groupName: 'Anna' }]);
  name = undefined;
  expect(await shown()).toMatchObject([{ group: 'main', groupName: 'Ann' }]);
});

test('wrong filters are refused by name', async () => {
  for (const [query, field] of [
    ['cursor=x', 'cursor'],
    ['status=7xx', 'status'],
    ['limit=0', 'limit'],
    ['unknown=1', 'unknown'],
  ]) {
    const answer = await gateway.admin(`/api/requests?${query}`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`${field}`)]);
  }
  expect((await gateway.admin('/api/usage?timeZone=Mars/Base')).status).toBe(400);
  expect((await gateway.admin('/api/usage?from=0&step=hour')).text).toContain('longer step');
});

test('records are removed as well while they wait to be saved', async () => {
  await gateway.close();
  gateway = await startMonitored({ gathers: true });
  const { id } = await recordOf(CHAT, chat('Hello'));
  expect((await gateway.admin(`/api/requests/${id}`)).status).toBe(200);
  const removal = await gateway.admin('/api/requests', 'DELETE');
  expect(removal.body).toEqual({ removed: 1 });
  expect((await gateway.admin(`/api/requests/${id}`)).status).toBe(404);
});
