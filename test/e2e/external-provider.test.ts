// The external provider of `proxy.extprov`: which Messages requests it serves, as which model, with which headers.

import { createServer, type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { createDefaultAccounts, createSandbox } from '@isthmus/sandbox';
import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { createMiddayClock } from '../support/midday-clock.ts';
import { createPassingClock, until } from '../support/passing-clock.ts';
import { startPoolApp } from '../support/pool-app.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
}

/** A service of the Messages protocol that answers with its own name, or with the status it is told to. */
async function startProvider() {
  const seen: Seen[] = [];
  /** `headers` sends them and is silent then, `nothing` is silent at once. */
  const say: {
    status: number;
    headers: object;
    silentAfter?: 'nothing' | 'headers';
    /** What its model list names; without any it has no list. */
    models?: readonly string[];
  } = { status: 200, headers: {} };
  const server = createServer(async (request, response) => {
    const text = await readText(request);
    const parsed = text === '' ? {} : parseJson(text);
    const body = isJsonObject(parsed) ? parsed : {};
    const path = request.url ?? '';
    seen.push({ path, headers: request.headers, body });
    const answer = answerTo({ path, body }, say);
    const error = { type: 'error', error: { type: 'rate_limit_error', message: 'no more' } };
    // Its list would be waited for.
    const silentAfter = path.startsWith('/v1/models') ? undefined : say.silentAfter;
    if (silentAfter === 'nothing') return;
    if (silentAfter === 'headers') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return;
    }
    response.writeHead(say.status, { 'content-type': 'application/json', ...say.headers });
    response.end(JSON.stringify(say.status === 200 ? answer : error));
  });
  const { url, close } = await serveOnLoopback(server);
  closers.push(close);
  return { url, seen, say };
}

function answerTo(
  { path, body }: Pick<Seen, 'path' | 'body'>,
  { models }: { readonly models?: readonly string[] },
): JsonObject {
  if (path.includes('count_tokens')) return { input_tokens: 42 };
  if (!path.startsWith('/v1/models')) return messageOf(body.model);
  return models === undefined ? {} : { data: models.map((id) => ({ type: 'model', id })) };
}

function messageOf(model: unknown): JsonObject {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: String(model),
    content: [{ type: 'text', text: 'PROVIDER' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 1 },
  };
}

async function start(mode: string, more: JsonObject = {}, models?: readonly string[]) {
  const provider = await startProvider();
  if (models !== undefined) provider.say.models = models;
  const extprov = {
    ...{ enabled: true, base_url: provider.url, api_key: 'provider-secret-key' },
    ...{ dispatch_mode: mode, ...more },
  };
  const app = await startApp({ file: { proxy: { extprov } } });
  closers.push(() => app.close());
  return { ...app, provider };
}

async function ask(
  { url }: Pick<TestApp, 'url'>,
  headers: Record<string, string> = {},
  model = 'claude-opus-4-6',
): Promise<string> {
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello there, how are you?' }],
    }),
  });
  const text = await response.text();
  if (response.status !== 200) return `${response.status} ${text}`;
  return text.includes('PROVIDER') ? 'provider' : 'account';
}

const MODELS = { opus: 'big', sonnet: 'middle', haiku: 'small' };

test('V154: a model is asked for by its exact entry, the family in its name, its name as it is, its own name', async () => {
  const model_mapping = { 'claude-opus-special': 'mine' };
  const app = await start('exclusive', { models: MODELS, model_mapping });
  const names = {
    'claude-opus-4-6': 'big',
    'Claude-Sonnet-5': 'middle',
    'claude-3-5-haiku-latest': 'small',
    'claude-opus-special': 'mine',
    'beta-opus-special': 'mine',
    'Claude-Opus-Special': 'mine',
    'gpt-5': 'gpt-5',
    'extprov/claude-opus-4-6': 'big',
  };
  for (const name of Object.keys(names)) expect(await ask(app, {}, name)).toBe('provider');
  const asked = app.provider.seen.filter(({ path }) => path.endsWith('/messages'));
  expect(asked.map(({ body }) => body.model)).toEqual(Object.values(names));
});

test.each([undefined, ['big', 'middle', 'small']])(
  'V154 exclusive: names that its model list lacks are asked for as they are (list: %s)',
  async (list) => {
    const model_mapping = { 'claude-opus-special': 'mine' };
    const app = await start('exclusive', { models: MODELS, model_mapping }, list);
    const names = ['claude-opus-special', 'alpha-3-flash', 'gemini-3-flash', 'a-name-of-its-own'];
    for (const name of names) expect(await ask(app, {}, name)).toBe('provider');
    const asked = app.provider.seen.filter(({ path }) => path.endsWith('/messages'));
    expect(asked.map(({ body }) => body.model)).toEqual(['mine', ...names.slice(1)]);
  },
);

test('exclusive: it serves every Messages request and no other, with the headers of its client and its own key', async () => {
  const app = await start('exclusive', { models: MODELS });
  const headers = {
    'anthropic-beta': 'mine-2026-01-01,interleaved-thinking-2025-05-14',
    'anthropic-version': '2023-06-01',
    'x-api-key': 'a-client-key',
    'user-agent': 'some-client/1.0',
  };
  expect(await ask(app, headers)).toBe('provider');
  const [call] = app.provider.seen.filter(({ path }) => path.startsWith('/v1/messages'));
  expect(call?.body).toMatchObject({ model: 'big', max_tokens: 100 });
  expect(call?.headers).toMatchObject({
    'x-api-key': 'provider-secret-key',
    'user-agent': 'some-client/1.0',
    'anthropic-version': '2023-06-01',
  });
  expect(String(call?.headers['anthropic-beta']).split(',').sort()).toEqual([
    'claude-code-20250219',
    'interleaved-thinking-2025-05-14',
    'mine-2026-01-01',
  ]);
  const chat = await fetch(`${app.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  expect(await chat.text()).not.toContain('PROVIDER');
});

test('its token counts are the counts of Messages clients', async () => {
  const app = await start('exclusive');
  const response = await fetch(`${app.url}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'claude-opus-4-6', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  expect(await response.json()).toEqual({ input_tokens: 42 });
});

test('off: it is never asked', async () => {
  const app = await start('off');
  expect(await ask(app)).toBe('account');
  expect(app.provider.seen).toEqual([]);
});

test('fallback: it serves exactly when no account can', async () => {
  const app = await start('fallback');
  expect(await ask(app)).toBe('account');
  await app.sandbox.addFault({ status: 429, count: 100 });
  expect(await ask(app)).toBe('provider');
  await app.sandbox.clearFaults();
  expect(app.provider.seen.filter(({ path }) => path === '/v1/messages')).toHaveLength(1);
});

test('fallback: a model that no account offers is the provider’s, and so is nothing a client forbids it', async () => {
  const app = await start('fallback');
  expect(await ask(app, {}, 'a-model-of-its-own')).toBe('provider');
  await app.sandbox.addFault({ status: 429, count: 100 });
  expect(await ask(app, { 'x-isthmus-fallback': 'off' })).toMatch(/^429/);
});

test('pooled: it gets its share of new sessions, and a session stays where it began', async () => {
  const app = await start('pooled');
  const first = new Map<string, string>();
  for (let session = 0; session < 60; session += 1) {
    const headers = { 'x-session-id': `session-${session}` };
    first.set(headers['x-session-id'], await ask(app, headers));
  }
  const share = [...first.values()].filter((by) => by === 'provider').length / first.size;
  expect(share).toBeGreaterThan(0.12);
  expect(share).toBeLessThan(0.55);
  for (const [session, by] of [...first].slice(0, 20)) {
    expect(await ask(app, { 'x-session-id': session })).toBe(by);
  }
});

test('its token counts go with the session that is the provider’s, and no others', async () => {
  const app = await start('pooled');
  for (let session = 0; session < 12; session += 1) {
    const headers = { 'x-session-id': `session-${session}` };
    const by = await ask(app, headers);
    const response = await fetch(`${app.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        model: 'claude-opus-4-6',
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    });
    const { input_tokens: counted } = (await response.json()) as { input_tokens: number };
    expect(counted === 42 ? 'provider' : 'account').toBe(by);
  }
});

test.each(['exclusive', 'pooled', 'fallback'])(
  'who asks for it by its id gets the model it has of that name (%s)',
  async (mode) => {
    const app = await start(mode, { models: MODELS });
    expect(await ask(app, {}, 'extprov/its-own')).toBe('provider');
    expect(app.provider.seen.at(-1)?.body.model).toBe('its-own');
  },
);

test.each([
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
  ['/v1/responses', { input: 'Hi' }],
  ['/v1beta/models/claude-opus-4-6:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }],
] as const)(
  'a client of %s learns why the provider alone has no model for it',
  async (path, body) => {
    const provider = await startProvider();
    const { url } = provider;
    const extprov = { enabled: true, base_url: url, api_key: 'k', dispatch_mode: 'exclusive' };
    const app = await startPoolApp({ environment: {}, file: { proxy: { extprov } } });
    closers.push(() => app.close());
    const send = async (model: string, to: string = path): Promise<string> => {
      const response = await fetch(`${app.url}${to}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, ...body }),
      });
      return `${response.status} ${await response.text()}`;
    };
    const refused = await send('claude-opus-4-6');
    expect(refused).toMatch(
      /^404 .*answers Messages requests .POST .v1.messages.*extprov.claude-opus-4-6/,
    );
    const named = await send(
      'extprov/claude-opus-4-6',
      path.replace('claude-opus', 'extprov%2Fclaude-opus'),
    );
    expect(named).toMatch(/^200 .*PROVIDER/);
    expect(await send('claude-opus-4-6', '/v1/embeddings')).not.toContain('answers Messages');
  },
);

/**
 * Two accounts and the provider on a clock that the test moves on. The provider has its turn at once, unless `random` is
 * told otherwise.
 */
async function startOnClock(mode: string, random = () => 0) {
  const provider = await startProvider();
  const accounts = createDefaultAccounts();
  const sandbox = createSandbox({ accounts, clock: createMiddayClock() });
  const { url } = await sandbox.start();
  closers.push(() => sandbox.close());
  const app = await startPoolApp({
    clock: createPassingClock(),
    random,
    environment: {
      UPSTREAM_PROFILE: 'sandbox',
      UPSTREAM_BASE_URL: url,
      UPSTREAM_API_KEYS: accounts.map(({ key }) => key).join(','),
    },
    file: {
      proxy: {
        extprov: {
          ...{ enabled: true, base_url: provider.url, api_key: 'provider-secret-key' },
          dispatch_mode: mode,
        },
      },
    },
  });
  closers.push(() => app.close());
  return { app, provider };
}

test('pooled: an account that the client or the settings name goes before the turn of the provider', async () => {
  let turn = 0;
  const { app } = await startOnClock('pooled', () => turn);
  let asked = 0;
  const wanting = (account?: string) => {
    asked += 1;
    const session = { 'x-session-id': `session-${asked}` };
    return ask(
      app,
      account === undefined ? session : { ...session, 'x-preferred-account': account },
    );
  };
  const fix = (account: string | null) =>
    app.must('PATCH', '/api/config/pool', { fixed_account: account });
  expect(await wanting()).toBe('provider');
  expect(await wanting('key-1@env')).toBe('account');
  await fix('key-2@env');
  expect(await wanting()).toBe('account');
  turn = 0.99;
  expect(await wanting('extprov')).toBe('account');
  await fix(null);
  expect(await wanting()).toBe('account');
  expect(await wanting('extprov')).toBe('provider');
  await fix('extprov');
  expect(await wanting()).toBe('provider');
});

test('a session of the provider stays with it over a restart', async () => {
  let turn = 0;
  const { app } = await startOnClock('pooled', () => turn);
  expect(await ask(app, { 'x-session-id': 'one' })).toBe('provider');
  turn = 0.99;
  await app.restart();
  expect(await ask(app, { 'x-session-id': 'two' })).toBe('account');
  expect(await ask(app, { 'x-session-id': 'one' })).toBe('provider');
});

test.each(['nothing', 'headers'] as const)(
  'a provider that sends %s and is silent for two minutes is left for an account',
  async (silentAfter) => {
    const { app, provider } = await startOnClock('pooled');
    provider.say.silentAfter = silentAfter;
    let by: string | undefined;
    const asked = ask(app).then((answer) => {
      by = answer;
    });
    await until(() => provider.seen.some(({ path }) => path === '/v1/messages'), 'asked');
    await app.clock.advance(119_000);
    expect(by).toBeUndefined();
    await app.clock.advance(1_500);
    await asked;
    expect(by).toBe('account');
  },
);

test('a change of the settings counts from the next request on, and switches it off', async () => {
  const app = await start('exclusive');
  expect(await ask(app)).toBe('provider');
  await app.config.update({ proxy: { extprov: { dispatch_mode: 'off' } } });
  expect(await ask(app)).toBe('account');
  await app.config.update({ proxy: { extprov: { dispatch_mode: 'exclusive', enabled: false } } });
  expect(await ask(app)).toBe('account');
});

test('a provider that is at its limit is told as such', async () => {
  const app = await start('exclusive');
  app.provider.say.status = 429;
  expect(await ask(app)).toMatch(/^429/);
});

test('what its answers say of the rate limits is shown as such, and nothing left keeps it from no request', async () => {
  const app = await start('exclusive', { models: MODELS });
  app.provider.say.headers = {
    'anthropic-ratelimit-requests-limit': '50',
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': '2100-01-01T00:00:00Z',
  };
  expect(await ask(app)).toBe('provider');
  const shown = await (await fetch(`${app.url}/api/quota`)).json();
  const { accounts } = shown as { accounts: readonly JsonObject[] };
  expect(accounts.find(({ label }) => label === 'extprov')).toMatchObject({
    quotas: [{ model: 'big', percent: 0, source: 'rate', isProtected: false }],
  });
  expect(shown).not.toMatchObject({ families: [{ family: 'big' }] });
  expect(await ask(app)).toBe('provider');
});
