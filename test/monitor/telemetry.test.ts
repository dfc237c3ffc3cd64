// What reaches an OpenTelemetry collector of real requests, and that nothing is loaded without one.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTelemetry } from '../../src/compose/telemetry.ts';
import { resolveSettings } from '../../src/config/effective.ts';
import { readEnvironment } from '../../src/config/env.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import type { Telemetry } from '../../src/telemetry/telemetry.ts';
import { type FakeCollector, startCollector } from '../support/fake-collector.ts';
import { CLIENT_KEY, type MonitoredGateway, startMonitored } from '../support/monitored-gateway.ts';
import { runScript } from '../support/run-program.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const ROOT = join(import.meta.dirname, '../..');
const SOURCE = join(ROOT, 'src');

let collector: FakeCollector;
let telemetry: Telemetry | undefined;
let gateway: MonitoredGateway;
beforeEach(async () => {
  collector = await startCollector();
  const settings = resolveSettings({
    environment: readEnvironment({
      variables: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-key',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=door,team=a%20b',
      },
      readText: () => '',
    }),
    file: {},
  });
  telemetry = await openTelemetry({
    settings: () => settings,
    book: { find: () => undefined },
    upstreams: { get: () => undefined },
    accountKey: Buffer.from('key'),
    proxyFor: () => undefined,
    version: '1.2.3',
    clock: createSystemClock(),
    log: { warn: () => {} },
  });
  gateway = await startMonitored({
    settings: { enabled: false },
    accounts: ['ann', 'bob'],
    onRecord: (record, ended) => telemetry?.observe(record, ended),
  });
});
afterEach(async () => {
  await gateway.close();
  await collector.close();
});

const chat = (content: string, more: object = {}) => ({
  model: 'alpha-3-flash',
  messages: [{ role: 'user', content }],
  ...more,
});

/** Asks, reads the answers to their ends, and has everything exported. */
async function ask(...calls: readonly Parameters<MonitoredGateway['ask']>[]): Promise<void> {
  for (const call of calls) await (await gateway.ask(...call)).text().catch(() => '');
  await gateway.close();
  await telemetry?.close();
}

test('a streamed request continues the trace of its client, each attempt below it', async () => {
  await gateway.addFault({ status: 429, count: 1 });
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01` };
  await ask(['/v1/chat/completions', chat('canary words', { stream: true }), headers]);
  const [limited, served, edge] = collector.spans();
  expect(edge).toMatchObject({
    name: 'chat alpha-3-flash',
    kind: 'server',
    traceId: TRACE,
    parentSpanId: SPAN,
    isError: false,
    attributes: {
      'gen_ai.request.model': 'alpha-3-flash',
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': expect.any(Number),
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
    },
  });
  expect(limited).toMatchObject({
    kind: 'client',
    parentSpanId: edge?.spanId,
    isError: true,
    attributes: { 'error.type': 'rate-limited' },
  });
  expect(served).toMatchObject({ kind: 'client', parentSpanId: edge?.spanId, isError: false });
  expect(served?.startAt).toBeGreaterThanOrEqual(limited?.endAt ?? Number.NaN);
  expect(served?.endAt).toBe(edge?.endAt);
  expect(collector.points('gen_ai.client.operation.time_to_first_chunk')).toMatchObject([
    { count: 1 },
  ]);
  expect(collector.text()).not.toMatch(/canary/);
  expect(collector.text()).not.toContain(CLIENT_KEY);
});

test('every protocol and operation is named, with what it used', async () => {
  const text = { parts: [{ text: 'Hello' }] };
  await ask(
    ['/v1/messages', chat('Hello', { max_tokens: 100 })],
    ['/v1beta/models/alpha-3-flash:generateContent', { contents: [text] }],
    ['/v1beta/models/alpha-3-flash:countTokens', { contents: [text] }],
    ['/v1/chat/completions', chat('Hello', { messages: 'none' })],
    ['/v1/chat/completions', { ...chat('Hello'), model: CLIENT_KEY }],
  );
  const edges = collector.spans().filter(({ kind }) => kind === 'server');
  expect(edges.map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
    ['chat alpha-3-flash', undefined],
    ['generate_content alpha-3-flash', undefined],
    ['count_tokens alpha-3-flash', undefined],
    ['chat alpha-3-flash', expect.any(String)],
    ['chat', expect.any(String)],
  ]);
  const used = collector.points('gen_ai.client.token.usage');
  expect(used.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
  expect(collector.text()).not.toContain(CLIENT_KEY);
});

test('what a request asks for besides its words is told, in every protocol', async () => {
  const sampling = { temperature: 0.5, top_p: 0.9, seed: 7, presence_penalty: 0.25 };
  const format = { response_format: { type: 'json_object' } };
  const config = { topK: 5, maxOutputTokens: 50, candidateCount: 1, stopSequences: ['canary'] };
  await ask(
    ['/v1/chat/completions', chat('Hello', { ...sampling, ...format, n: 2, stop: 'canary' })],
    ['/v1/messages', chat('Hello', { max_tokens: 100, top_k: 3 })],
    [
      '/v1beta/models/alpha-3-flash:generateContent',
      { contents: [{ parts: [{ text: 'Hello' }] }], generationConfig: config },
    ],
    ['/v1/images/generations', { model: 'alpha-3-pro-image', prompt: 'A canary', n: 2 }],
    ['/v1/completions', { model: 'alpha-3-flash', prompt: ['A canary', 'B'], n: 2, seed: 7 }],
  );
  const edges = collector.spans().filter(({ kind }) => kind === 'server');
  const told = edges.map(({ attributes }) =>
    Object.fromEntries(
      Object.entries(attributes)
        .filter(([name]) => /^gen_ai\.(request|output)\./.test(name))
        .map(([name, value]) => [name.replace(/^gen_ai\.(request\.)?/, ''), value])
        .filter(([name]) => name !== 'model' && name !== 'stream'),
    ),
  );
  const drawn = { 'choice.count': 2, 'output.type': 'image' };
  expect(told).toEqual([
    { ...sampling, 'choice.count': 2, 'output.type': 'json' },
    { max_tokens: 100, top_k: 3 },
    { max_tokens: 50, top_k: 5 },
    drawn,
    { 'choice.count': 4, max_tokens: 16, seed: 7 },
  ]);
  expect(collector.text()).not.toContain('canary');
});

test('headers and the name of the service come from the environment', async () => {
  await ask(['/v1/chat/completions', chat('Hello')]);
  expect(collector.headers[0]).toMatchObject({ authorization: 'Bearer collector-key' });
  expect(collector.resource()).toMatchObject({ 'service.name': 'door', team: 'a b' });
});

test('without an endpoint nothing of it is loaded', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const count = () => loaded.filter((url) => url.includes('@opentelemetry')).length;
    const { openTelemetry } = await import('./src/compose/telemetry.ts');
    const settings = (telemetry) => () => ({ upstreams: [], telemetry });
    const none = await openTelemetry({ settings: settings(undefined) });
    const before = count();
    const endpoint = 'http://127.0.0.1:9';
    const telemetry = { endpoint, sampler: 'always_on', samplerRatio: 1, serviceName: 's' };
    await openTelemetry({ settings: settings(telemetry), clock: {}, version: '1', proxyFor: () => undefined });
    console.log(JSON.stringify([none === undefined, before, count() > 0]));
    process.exit(0);
  `;
  expect(JSON.parse(await runScript(script))).toEqual([true, 0, true]);
});

test('only what is loaded for an endpoint knows the libraries', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.includes('.test'),
  );
  const importers = (pattern: RegExp): readonly string[] =>
    files.filter((name) => pattern.test(readFileSync(join(SOURCE, name), 'utf8')));
  const outside = (name: string): boolean => !name.startsWith('telemetry/');
  expect(importers(/from '@opentelemetry/).length).toBeGreaterThan(0);
  expect(importers(/from '@opentelemetry/).filter(outside)).toEqual([]);
  expect(importers(/^import (?!type)[^;]*\/telemetry\//m).filter(outside)).toEqual([]);
  expect(importers(/await import\('[^']*\/telemetry\//)).toEqual(['compose/telemetry.ts']);
});
