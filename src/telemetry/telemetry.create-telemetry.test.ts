import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import { type FakeCollector, startCollector } from '../../test/support/fake-collector.ts';
import { recordOf } from '../../test/support/request-records.ts';
import { GatewayError } from '../canonical/error.ts';
import { createRedactors } from '../lib/redact.ts';
import type { EndedRequest } from '../monitor/record.ts';
import { writeRecord } from '../monitor/write-record.ts';
import { createTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const ACCOUNT = 'canary@example.org';

let collector: FakeCollector;
let clock: FakeClock;
let warnings: object[];
beforeEach(async () => {
  collector = await startCollector();
  clock = createFakeClock();
  warnings = [];
});
afterEach(() => collector.close());

function start(change: Partial<TelemetryOptions> = {}): Telemetry {
  return createTelemetry({
    endpoint: collector.url,
    serviceName: 'isthmus',
    sampler: 'parentbased_always_on',
    samplerRatio: 1,
    version: '1.2.3',
    instanceId: 'one',
    accountKey: 'key',
    destinationOf: () => ({ provider: 'gcp.gemini', address: 'upstream.example', port: 443 }),
    clock,
    log: { warn: (fields) => void warnings.push(fields) },
    ...change,
  });
}

/** A stream that a second attempt answered. */
function ended(change: Partial<EndedRequest> = {}): EndedRequest {
  const attempt = { accountId: ACCOUNT, accountLabel: ACCOUNT, modelId: 'm-1', considered: [] };
  return {
    requestId: 'req_1',
    isIdGiven: false,
    protocol: 'chat',
    route: '/v1/chat/completions',
    pathModel: '',
    method: 'POST',
    path: '/v1/chat/completions',
    call: { model: 'client-name', stream: true },
    body: { messages: ['canary prompt'] },
    status: 200,
    clientKeyId: 'main',
    clientAddress: '203.0.113.9',
    userAgent: 'canary agent',
    session: 'canary session',
    traceparent: `00-${TRACE}-${SPAN}-01`,
    credentials: ['sk-canary'],
    receipt: [],
    facts: {
      routedModel: 'm',
      upstreamModel: 'm-1',
      accountLabel: ACCOUNT,
      attempts: [
        {
          ...attempt,
          outcome: 'rate-limited',
          status: 429,
          startedAt: clock.monotonic() - 900,
          durationMs: 100,
        },
        {
          ...attempt,
          outcome: 'ok',
          status: 200,
          startedAt: clock.monotonic() - 700,
          durationMs: 200,
        },
      ],
      timings: {},
      answers: [
        {
          usage: {
            promptTokens: 10,
            cachedTokens: 4,
            cacheWrites: { tokens: 3 },
            toolPromptTokens: 1,
            answerTokens: 5,
            thoughtTokens: 2,
          },
          modelVersion: 'm-1-002',
          finishReasons: ['max-tokens'],
          imageCount: 0,
        },
      ],
    },
    endedAt: clock.now(),
    endedAtMonotonic: clock.monotonic(),
    totalMs: 1000,
    firstEventMs: 500,
    ...change,
  };
}

function observe(telemetry: Telemetry, request: EndedRequest): void {
  const record = writeRecord(
    request,
    {
      redactorFor: createRedactors(() => []),
      keyOf: () => ({
        ...{ name: 'canary key name', owner: 'canary owner' },
        ...{ team: 'canary team', tags: ['canary tag'] },
      }),
      targetOf: () => undefined,
      priceOf: () => undefined,
      createId: (prefix) => `${prefix}2`,
    },
    false,
  );
  telemetry.observe(record, request);
}

async function exportAll(...requests: readonly EndedRequest[]): Promise<FakeCollector> {
  const telemetry = start();
  for (const request of requests) observe(telemetry, request);
  await telemetry.close();
  return collector;
}

test('a request is one span at the edge and one below it for each attempt', async () => {
  await exportAll(ended());
  const [first, second, edge] = collector.spans();
  expect(collector.spans()).toHaveLength(3);
  const now = clock.now();
  expect(edge).toEqual({
    name: 'chat client-name',
    kind: 'server',
    traceId: TRACE,
    spanId: edge?.spanId,
    parentSpanId: SPAN,
    isError: false,
    startAt: now - 1000,
    endAt: now,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'client-name',
      'gen_ai.request.stream': true,
      'gen_ai.response.model': 'm-1-002',
      'gen_ai.response.finish_reasons': ['length'],
      'gen_ai.response.time_to_first_chunk': 0.5,
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.usage.cache_creation.input_tokens': 3,
      'gen_ai.usage.reasoning.output_tokens': 2,
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'isthmus.protocol': 'chat',
      'isthmus.request.id': 'req_1',
    },
  });
  const attempt = {
    name: 'chat m-1',
    kind: 'client',
    traceId: TRACE,
    parentSpanId: edge?.spanId,
  };
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'gcp.gemini',
    'gen_ai.request.model': 'm-1',
    'server.address': 'upstream.example',
    'server.port': 443,
    'isthmus.account.hash': expect.stringMatching(/^[\da-f]{16}$/),
  };
  expect(first).toEqual({
    ...attempt,
    spanId: first?.spanId,
    isError: true,
    startAt: now - 900,
    endAt: now - 800,
    attributes: { ...attributes, 'http.response.status_code': 429, 'error.type': 'rate-limited' },
  });
  expect(second).toEqual({
    ...attempt,
    spanId: second?.spanId,
    isError: false,
    startAt: now - 700,
    endAt: now,
    attributes: { ...attributes, 'http.response.status_code': 200 },
  });
});

test('durations, first chunks and tokens are metrics with the boundaries of the conventions', async () => {
  await exportAll(ended(), ended({ totalMs: 3000 }));
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'gcp.gemini',
    'gen_ai.request.model': 'm',
    'gen_ai.response.model': 'm-1-002',
    'server.address': 'upstream.example',
    'server.port': 443,
  };
  expect(collector.points('gen_ai.client.operation.duration')).toEqual([
    { unit: 's', count: 2, sum: 4, bounds: expect.arrayContaining([0.01, 81.92]), attributes },
  ]);
  expect(collector.points('gen_ai.client.operation.time_to_first_chunk')).toMatchObject([
    { unit: 's', count: 2, sum: 1, attributes },
  ]);
  expect(collector.points('gen_ai.client.token.usage')).toEqual([
    {
      unit: '{token}',
      count: 2,
      sum: 22,
      bounds: expect.arrayContaining([1, 67_108_864]),
      attributes: { ...attributes, 'gen_ai.token.type': 'input' },
    },
    {
      unit: '{token}',
      count: 2,
      sum: 14,
      bounds: expect.anything(),
      attributes: { ...attributes, 'gen_ai.token.type': 'output' },
    },
  ]);
});

test.each([
  ['/v1/messages', 'generate', 'chat'],
  ['/v1/responses', 'generate', 'chat'],
  ['/v1/completions', 'generate', 'text_completion'],
  ['/v1beta/models/{model}:generateContent', 'generate', 'generate_content'],
  ['/v1/images/generations', 'generate', 'generate_content'],
  ['/v1/embeddings', 'embed', 'embeddings'],
  ['/v1beta/models/{model}:batchEmbedContents', 'embed', 'embeddings'],
  ['/v1/messages/count_tokens', 'count-tokens', 'count_tokens'],
])('%s is the operation it is', async (route, operation, name) => {
  await exportAll(ended({ route, operation }));
  const edge = collector.spans().find(({ kind }) => kind === 'server');
  expect(edge?.name).toBe(`${name} client-name`);
  expect(edge?.attributes).toMatchObject({ 'gen_ai.operation.name': name, 'http.route': route });
});

test('a failure names its class, and is an error only where the client did nothing wrong', async () => {
  const failed = (kind: 'invalid-request' | 'timeout' | 'client-gone', status: number) =>
    ended({
      status,
      facts: {
        attempts: [],
        timings: {},
        error: new GatewayError({
          kind,
          source: kind === 'timeout' ? 'upstream' : 'client',
          message: 'canary message',
        }),
      },
    });
  await exportAll(
    failed('invalid-request', 400),
    failed('timeout', 504),
    failed('client-gone', 499),
    ended({ status: 503, facts: { attempts: [], timings: {} } }),
    ended({ status: 404, facts: { attempts: [], timings: {} } }),
  );
  const spans = collector.spans();
  expect(spans.map(({ attributes, isError }) => [attributes['error.type'], isError])).toEqual([
    ['invalid-request', false],
    ['timeout', true],
    ['client-gone', false],
    ['503', true],
    ['404', false],
  ]);
  // Nothing is known of the model, so that its name may be anything.
  expect(spans[0]?.name).toBe('chat');
  expect(spans[0]?.attributes).toMatchObject({
    'gen_ai.request.model': 'client-name',
    'gen_ai.provider.name': 'isthmus',
  });
  const types = collector
    .points('gen_ai.client.operation.duration')
    .map(({ attributes }) => attributes['error.type']);
  expect(types).toEqual(['invalid-request', 'timeout', 'client-gone', '503', '404']);
  expect(collector.points('gen_ai.client.token.usage')).toEqual([]);
  expect(collector.text()).not.toContain('canary');
});

test('a stream that breaks off is an error of its attempt, too', async () => {
  const request = ended();
  const error = new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: 'x',
    failure: { kind: 'path' },
  });
  await exportAll(ended({ facts: { ...request.facts, error } }));
  expect(
    collector
      .spans()
      .map(({ kind, attributes, isError }) => [kind, attributes['error.type'], isError]),
  ).toEqual([
    ['client', 'rate-limited', true],
    ['client', 'path', true],
    ['server', 'upstream-unavailable', true],
  ]);
});

test('the times of attempts do not depend on how long it takes to write them', async () => {
  let steps = 0;
  const passing = () => {
    steps += 1;
    return clock.now() + steps * 1000;
  };
  const request = ended({ totalMs: 60_000 });
  const telemetry = start({ clock: { ...clock, now: passing, monotonic: passing } });
  observe(telemetry, request);
  await telemetry.close();
  const [first, second] = collector.spans();
  expect((second?.startAt ?? 0) - (first?.startAt ?? 0)).toBe(200);
  expect((first?.endAt ?? 0) - (first?.startAt ?? 0)).toBe(100);
});

test('a trace that the client does not keep is not kept here, and its metrics are', async () => {
  await exportAll(ended({ traceparent: `00-${TRACE}-${SPAN}-00` }));
  expect(collector.spans()).toEqual([]);
  expect(collector.points('gen_ai.client.operation.duration')).toHaveLength(1);
});

test.each([`00-${TRACE}-${SPAN}-ff`, `01-${TRACE}-${SPAN}-01-more`])(
  '%s is a trace of the client, of a later version as well',
  async (traceparent) => {
    await exportAll(ended({ traceparent }));
    const edge = collector.spans().find(({ kind }) => kind === 'server');
    expect([edge?.traceId, edge?.parentSpanId]).toEqual([TRACE, SPAN]);
  },
);

test.each([
  '',
  'sk-canary-0123456789',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  `01-${TRACE}-${SPAN}-01-${'x'.repeat(600)}`,
])('%s is no trace, and begins one of our own', async (traceparent) => {
  await exportAll(ended({ traceparent }));
  const edge = collector.spans().find(({ kind }) => kind === 'server');
  expect(edge?.parentSpanId).toBeUndefined();
  expect(edge?.traceId).toMatch(/^[\da-f]{32}$/);
});

test('the sampler of the operator decides', async () => {
  const telemetry = start({ sampler: 'parentbased_traceidratio', samplerRatio: 0 });
  observe(telemetry, ended({ traceparent: undefined }));
  observe(telemetry, ended());
  await telemetry.close();
  expect(new Set(collector.spans().map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
});

test('headers, paths and the description of the service are those of the operator', async () => {
  const telemetry = start({
    endpoint: `${collector.url}/base/`,
    headers: { authorization: 'Bearer abc' },
    serviceName: 'door',
    resourceAttributes: { 'deployment.environment.name': 'test', 'service.name': 'other' },
  });
  observe(telemetry, ended());
  await telemetry.close();
  expect([...collector.paths].sort()).toEqual(['/base/v1/metrics', '/base/v1/traces']);
  for (const headers of collector.headers) {
    expect(headers).toMatchObject({
      authorization: 'Bearer abc',
      'content-type': 'application/json',
    });
  }
  expect(collector.resource()).toMatchObject({
    'service.name': 'door',
    'service.version': '1.2.3',
    'service.instance.id': 'one',
    'deployment.environment.name': 'test',
  });
});

test('nothing of what was said, by whom and with which key leaves the gateway', async () => {
  const { call, ...rest } = ended();
  await exportAll({
    ...rest,
    call: { model: 'sk-canary', stream: call?.stream ?? false },
    traceparent: 'sk-canary',
  });
  expect(collector.spans()).toHaveLength(3);
  expect(collector.text()).not.toMatch(/canary|203\.0\.113\.9/);
});

test('a model name that is a credential is none on its way upstream either', async () => {
  const { facts, ...rest } = ended();
  const attempts = facts.attempts.map((attempt) => ({
    ...attempt,
    modelId: 'sk-canary-0123456789',
  }));
  await exportAll({
    ...rest,
    facts: { ...facts, upstreamModel: 'sk-canary-0123456789', attempts },
  });
  expect(collector.spans()).toHaveLength(3);
  expect(collector.text()).not.toContain('canary');
});

test('accounts are told apart without being named', async () => {
  const [{ attempts }] = [ended().facts];
  const [one] = attempts;
  if (one === undefined) throw new Error('no attempt');
  const facts = {
    timings: {},
    attempts: [one, { ...one, accountId: 'bob@example.org' }, { ...one, accountId: ACCOUNT }],
  };
  await exportAll(ended({ facts }));
  const [first, second, third] = collector
    .spans()
    .map(({ attributes }) => attributes['isthmus.account.hash']);
  expect(first).toBe(third);
  expect(first).not.toBe(second);
});

test('a request of which nothing can be made is counted, not thrown', () => {
  const telemetry = start({
    destinationOf: () => {
      throw new Error('no');
    },
  });
  telemetry.observe(recordOf(), ended());
  expect(telemetry.droppedSpans).toBe(1);
  expect(warnings).toHaveLength(1);
});

test('a collector that refuses costs a count and one line', async () => {
  collector.answerWith(400);
  const telemetry = start();
  observe(telemetry, ended());
  await telemetry.close();
  expect(telemetry.droppedSpans).toBe(3);
  expect(warnings).toEqual([{ collector: collector.url, reason: 'Bad Request' }]);
});

test('a dead collector holds the end up for two seconds at most', async () => {
  const telemetry = start({ endpoint: 'http://127.0.0.1:9/secret-path' });
  observe(telemetry, ended());
  let isClosed = false;
  const closing = telemetry.close().then(() => {
    isClosed = true;
  });
  await clock.advance(1999);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await closing;
  expect(telemetry.droppedSpans).toBe(3);
  expect(warnings).toEqual([
    { collector: 'http://127.0.0.1:9', reason: 'The gateway ended before.' },
  ]);
});
