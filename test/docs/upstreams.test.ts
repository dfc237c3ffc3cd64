// The examples of docs/upstreams.md and the targets of docs/models.md work, with servers of the two wires as upstreams.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QUIRK_PRESETS, UPSTREAM_PROFILES } from '../../src/config/values.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { startApp, startGateway } from '../support/app.ts';
import { type FakeChatUpstream, startChatUpstream } from '../support/chat-upstream.ts';
import {
  type MessagesUpstreamServer,
  startMessagesUpstream,
} from '../support/messages-upstream.ts';
import { runProgram } from '../support/run-program.ts';
import { readCodeBlocks } from './code-blocks.ts';

type Gateway = Awaited<ReturnType<typeof startGateway>>;

const blocks = readCodeBlocks();
const onPage = blocks.filter(({ place }) => place.startsWith('docs/upstreams.md'));
const asking = onPage.filter(({ code }) => /^curl /m.test(code));

let messages: MessagesUpstreamServer;
let chat: FakeChatUpstream;
let gateway: Gateway;

beforeAll(async () => {
  messages = await startMessagesUpstream({ models: ['claude-sonnet-4-6', 'claude-opus-4-6'] });
  chat = await startChatUpstream(['gpt-5']);
  const address = chat.url.replace(/\/v1$/, '');
  const upstreams = {
    anthropic: { profile: 'anthropic', base_url: messages.url },
    openai: { profile: 'openai', base_url: chat.url },
    openrouter: { profile: 'openai-compatible', base_url: chat.url },
    azure: { ...upstreamOf('azure'), base_url: `${address}/openai/v1` },
    'azure-east': { ...upstreamOf('azure-east'), base_url: address },
  };
  const targets = configWith('"targets"');
  gateway = await startGateway({ file: { ...targets, upstreams } });
  for (const upstream of Object.keys(upstreams)) await addAccount(gateway, upstream, 'its-own-key');
});
afterAll(async () => {
  await gateway.close();
  await chat.close();
  await messages.close();
});

test.each(asking)('$place', async ({ code }) => {
  const output = await runProgram('sh', ['-ec', atGateway(code)]);
  expect(parseJson(output)).toMatchObject({ model: expect.any(String) });
  expect(parseJson(output)).not.toHaveProperty('error');
});

test('a deployment of Azure is the model of a request to its v1 API', async () => {
  chat.answer(() => ({ kind: 'message', message: { content: 'Good answer.' } }));
  expect((await ask('azure/my-deployment')).status).toBe(200);
  const call = chat.calls.find(({ path }) => path === '/openai/v1/chat/completions');
  expect(call?.body).toMatchObject({ model: 'my-deployment' });
  expect(call?.headers.authorization).toBe('Bearer its-own-key');
});

test('a deployment of Azure is asked for at its own path, with the version and the key in its header', async () => {
  chat.answer(() => ({ kind: 'message', message: { content: 'Good answer.' } }));
  expect((await ask('azure-east/gpt-4o')).status).toBe(200);
  const call = chat.calls.find(({ path }) => path.includes('/deployments/'));
  expect(call?.path).toBe('/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21');
  expect(call?.headers['api-key']).toBe('its-own-key');
  expect(call?.headers.authorization).toBeUndefined();
});

test('the targets of docs/models.md go on to the next step when the first is at its limit', async () => {
  expect((await ask('smart')).headers.get('x-isthmus-model')).toBe('claude-opus-4-6');
  messages.script(() => ({ kind: 'status', status: 429, type: 'rate_limit_error', message: '' }));
  const next = await ask('smart');
  expect([next.status, next.headers.get('x-isthmus-model')]).toEqual([200, 'gpt-5']);
  expect((await ask('smart', { 'X-Isthmus-Fallback': 'off' })).status).toBe(429);
});

test('another gateway is an upstream by each of its protocols', async () => {
  const peer = await startApp();
  const { upstreams } = configWith('"peer-chat"');
  if (!isJsonObject(upstreams)) throw new Error('The example has no upstreams.');
  const text = JSON.stringify(upstreams).replaceAll('http://gateway.example:8045', peer.url);
  const front = await startGateway({ file: { upstreams: parseJson(text) ?? {} } });
  for (const upstream of Object.keys(upstreams)) {
    await addAccount(front, upstream, 'the-key-of-the-peer');
    const answer = await ask(`${upstream}/alpha-3-flash`, {}, front);
    expect(await answer.text()).toContain('HELLO-FROM-UPSTREAM');
  }
  await front.close();
  await peer.close();
});

test('every profile and every known difference is on the page', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/upstreams.md'), 'utf8');
  const named = (name: string) => page.includes(`\`${name}\``) || page.includes(`"${name}"`);
  expect([...UPSTREAM_PROFILES, ...QUIRK_PRESETS].filter((name) => !named(name))).toEqual([]);
});

function configWith(text: string): JsonObject {
  const code = blocks.find((block) => block.language === 'json' && block.code.includes(text))?.code;
  const file = parseJson(code ?? '');
  if (!isJsonObject(file)) throw new Error(`No example has ${text}.`);
  return file;
}

function upstreamOf(id: string): JsonObject {
  const { upstreams } = configWith(`"${id}"`);
  const found = isJsonObject(upstreams) ? upstreams[id] : undefined;
  if (!isJsonObject(found)) throw new Error(`No example has ${id}.`);
  return found;
}

async function addAccount({ url }: Gateway, upstream: string, key: string): Promise<void> {
  const response = await fetch(`${url}/api/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ upstream, kind: 'api-key', key, label: upstream }),
  });
  expect(response.status).toBe(201);
}

function ask(model: string, headers: Record<string, string> = {}, { url } = gateway) {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  });
}

function atGateway(code: string): string {
  return code.replaceAll('http://127.0.0.1:8045', gateway.url);
}
