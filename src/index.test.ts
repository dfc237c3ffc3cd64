import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeTestFolder } from '../test/support/test-folder.ts';
import { createGateway, type Gateway, type GatewayOptions } from './index.ts';

const KEY = 'sk-embedded-0123456789';
const BASE = 'http://localhost';
const AUTHORIZED = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
const QUESTION = {
  model: 'alpha-3-flash',
  messages: [{ role: 'user' as const, content: 'Hello' }],
};

/** On a data folder of its own, with the accounts of the sandbox. */
async function open(options: GatewayOptions = {}): Promise<Gateway> {
  const dataDir = makeTestFolder('embedded');
  const environment = { API_KEY: KEY, ...options.environment };
  const gateway = await createGateway({ dataDir, port: 0, ...options, environment });
  onTestFinished(() => gateway.close());
  return gateway;
}

/** Sends one event of an answer, then nothing more; `gone` resolves when the gateway has left it. */
async function startEndlessUpstream(): Promise<{
  readonly url: string;
  readonly gone: Promise<void>;
}> {
  let leave: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ object: 'list', data: [{ id: 'slow-model', object: 'model' }] }),
      );
      return;
    }
    response.on('close', leave);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const choices = [
      { index: 0, delta: { role: 'assistant', content: 'Once' }, finish_reason: null },
    ];
    const chunk = {
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'slow-model',
      choices,
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, gone };
}

test('official SDKs work with it by their custom fetch, without any port', async () => {
  const { fetch } = await open();
  const openai = new OpenAI({ apiKey: KEY, baseURL: `${BASE}/v1`, fetch });
  const whole = await openai.chat.completions.create(QUESTION);
  expect(whole.choices[0]?.message.content).toContain('Hello');
  let streamed = '';
  for await (const chunk of await openai.chat.completions.create({ ...QUESTION, stream: true })) {
    streamed += chunk.choices[0]?.delta.content ?? '';
  }
  expect(streamed).toBe(whole.choices[0]?.message.content);
  const anthropic = new Anthropic({ apiKey: KEY, baseURL: BASE, fetch });
  const message = await anthropic.messages.create({ ...QUESTION, max_tokens: 100 });
  expect(message.content[0]).toMatchObject({ type: 'text' });
});

test('a stream comes event by event, and aborting it ends the work at the upstream', async () => {
  const { url, gone } = await startEndlessUpstream();
  const { fetch } = await open({
    environment: {
      UPSTREAM_PROFILE: 'openai-compatible',
      UPSTREAM_BASE_URL: url,
      UPSTREAM_API_KEYS: 'upstream-key-1',
    },
  });
  const abort = new AbortController();
  const request = new Request(`${BASE}/v1/chat/completions`, {
    ...{ method: 'POST', headers: AUTHORIZED, signal: abort.signal },
    body: JSON.stringify({ ...QUESTION, model: 'slow-model', stream: true }),
  });
  const response = await fetch(request);
  const reader = response.body?.getReader();
  const first = await reader?.read();
  expect(new TextDecoder().decode(first?.value)).toContain('Once');
  const next = reader?.read();
  abort.abort(new Error('enough'));
  await expect(next).rejects.toThrow();
  await gone;
});

test('who asks is nobody it knows unless an address is given, so that a key is needed', async () => {
  const { fetch } = await open({ port: 8045 });
  const url = 'http://127.0.0.1:8045/v1/models';
  expect((await fetch(url)).status).toBe(401);
  expect((await fetch(url, { headers: AUTHORIZED })).status).toBe(200);
  expect((await fetch(url, { clientAddress: '127.0.0.1' })).status).toBe(200);
  expect((await fetch(url, { clientAddress: '203.0.113.9' })).status).toBe(401);
});

test('answers keep status and headers, and those without a body have none', async () => {
  const { fetch } = await open();
  const missing = await fetch(`${BASE}/nothing`, { headers: AUTHORIZED });
  expect([missing.status, missing.headers.get('x-request-id') !== null]).toEqual([404, true]);
  expect(missing.headers.get('connection')).toBeNull();
  const page = await fetch(`${BASE}/health`, { method: 'HEAD' });
  expect(page.body).toBeNull();
  const preflight = await fetch(`${BASE}/v1/models`, { method: 'OPTIONS' });
  expect([preflight.status, preflight.body]).toEqual([204, null]);
});

test('it listens as well, and both ways reach the same gateway', async () => {
  const gateway = await open();
  const { url, port } = await gateway.listen();
  const overPort = await fetch(`${url}/health`);
  expect(await overPort.json()).toEqual(await (await gateway.fetch(`${BASE}/health`)).json());
  const second = await open({ port });
  await expect(second.listen()).rejects.toThrow('Choose another port');
});

test('several are independent of each other and change nothing of the process', async () => {
  const listeners = (): unknown[] =>
    process.eventNames().map((name) => [name, process.listenerCount(name)]);
  const before = listeners();
  const first = await open();
  const second = await open({ environment: { API_KEY: 'sk-another-0123456789' } });
  const statuses = [first, second].map(
    async ({ fetch }) => (await fetch(`${BASE}/v1/models`, { headers: AUTHORIZED })).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 401]);
  await first.close();
  await expect(first.fetch(`${BASE}/health`)).rejects.toThrow('closed');
  await expect(first.listen()).rejects.toThrow('closed');
  expect((await second.fetch(`${BASE}/health`)).status).toBe(200);
  await second.close();
  expect(listeners()).toEqual(before);
});

test('settings that a program gives stand in for the file, which stays as it is', async () => {
  const dataDir = makeTestFolder('embedded');
  const settings = { proxy: { custom_mapping: { 'my-model': 'alpha-3-flash' } } };
  const lines: string[] = [];
  const gateway = await createGateway({
    ...{ dataDir, settings, authMode: 'off', logLevel: 'info' },
    onLog: (text) => lines.push(text),
  });
  const body = JSON.stringify({ ...QUESTION, model: 'my-model' });
  const headers = { 'content-type': 'application/json' };
  const answer = await gateway.fetch(`${BASE}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body,
  });
  expect(answer.status).toBe(200);
  await answer.text();
  await gateway.close();
  expect(lines.join('')).toContain('/v1/chat/completions');
  await expect(createGateway({ dataDir, settings: { proxy: { port: 'x' } } })).rejects.toThrow(
    'proxy.port',
  );
  const unset = { environment: { PORT: 'many' } };
  await expect(createGateway({ dataDir, ...unset })).rejects.toThrow('PORT');
});

test.each(['20.20.2', '24.6.0'])(
  'a program on node %s is told which one it takes',
  async (node) => {
    vi.stubGlobal('process', { version: `v${node}`, versions: { node } });
    onTestFinished(() => {
      vi.unstubAllGlobals();
    });
    await expect(createGateway()).rejects.toThrow(
      `isthmus needs node 24.7 or newer, and this is v${node}.`,
    );
  },
);

test('nothing that old versions do not understand is loaded before', () => {
  const source = readFileSync(new URL('index.ts', import.meta.url), 'utf8');
  expect(source.match(/^(?:import|export) (?!type|const).*/gm)).toBeNull();
});
