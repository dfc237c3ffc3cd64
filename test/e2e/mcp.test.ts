// The MCP services, asked by the official client over a real socket, before a provider that can fail.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { sendJson } from '../support/loopback.ts';
import {
  beginEvents,
  type McpProvider,
  progressEvent,
  startMcpProvider,
} from '../support/mcp-provider.ts';

const PROVIDER_KEY = 'provider-secret-key';
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const SEARCH = '/mcp/web_search/mcp';
const VISION = '/mcp/vision/mcp';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Setup extends TestApp {
  readonly provider: McpProvider;
}

function settingsOf({ url }: Pick<McpProvider, 'url'>, more: JsonObject = {}): JsonObject {
  return {
    enabled: true,
    base_url: url,
    api_key: PROVIDER_KEY,
    mcp: {
      ...{ enabled: true, web_search_enabled: true, vision_enabled: true },
      web_search_url: `${url}/search`,
      vision_model: 'eyes-1',
    },
    ...more,
  };
}

async function start(more: JsonObject = {}): Promise<Setup> {
  const provider = await startMcpProvider();
  closers.push(() => provider.close());
  const extprov = settingsOf(provider, more);
  const app = await startApp({ environment: STRICT, file: { proxy: { extprov } } });
  closers.push(() => app.close());
  return { ...app, provider };
}

interface ConnectOptions {
  readonly mode?: 'legacy' | 'auto';
  readonly key?: string;
}

async function connect(
  { url }: Pick<TestApp, 'url'>,
  path: string,
  { mode = 'legacy', key = KEY }: ConnectOptions = {},
) {
  const transport = new StreamableHTTPClientTransport(new URL(url + path), {
    requestInit: { headers: { authorization: `Bearer ${key}`, cookie: 'mine=1', 'x-mine': '1' } },
    reconnectionOptions: {
      ...{ initialReconnectionDelay: 1, maxReconnectionDelay: 1 },
      ...{ reconnectionDelayGrowFactor: 1, maxRetries: 3 },
    },
  });
  const client = new Client({ name: 'judge', version: '1' }, { versionNegotiation: { mode } });
  closers.push(() => client.close());
  await client.connect(transport);
  return { client, transport };
}

async function post(
  { url }: Pick<TestApp, 'url'>,
  path: string,
  { headers = {}, body = INITIALIZE }: { headers?: Record<string, string>; body?: string } = {},
) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });
  const text = await response.text();
  return { response, text };
}

/** The status and the message, once the shape is that of JSON-RPC. */
async function refusal(...asked: Parameters<typeof post>): Promise<string> {
  const { response, text } = await post(...asked);
  const body = parseJson(text);
  expect(body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: expect.any(Number) } });
  const error = isJsonObject(body) && isJsonObject(body.error) ? body.error : {};
  return `${response.status} ${error.message}`;
}

const INITIALIZE = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  },
});

test('the official client opens a session with the service of the provider, lists and calls its tools, and ends it', async () => {
  const app = await start();
  const { client, transport } = await connect(app, SEARCH);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['search']);
  const progress: number[] = [];
  const result = await client.callTool(
    { name: 'search', arguments: { query: 'cats' } },
    { onprogress: ({ progress: at }) => progress.push(at) },
  );
  expect(result.content).toEqual([{ type: 'text', text: 'found' }]);
  expect(progress).toEqual([1]);
  await transport.terminateSession();
  expect(app.provider.seen.at(-1)).toMatchObject({ method: 'DELETE', path: '/search' });
});

test.each([
  ['application/json', (text: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, result: text })],
  ['text/event-stream', (text: string) => `data: {"jsonrpc":"2.0","id":1,"result":"${text}"}\n\n`],
])('what an answer of the provider (%s) says of its key is not told', async (type, write) => {
  const app = await start();
  app.provider.script.fault = (_call, response) => {
    const encoded = Buffer.from(`Bearer ${PROVIDER_KEY}`).toString('base64');
    const text = write(`You sent ${PROVIDER_KEY}, ${encoded}.`);
    response.writeHead(200, { 'content-type': type });
    const at = text.indexOf(PROVIDER_KEY) + 5;
    response.write(text.slice(0, at), () => setImmediate(() => response.end(text.slice(at))));
    return true;
  };
  const { text } = await post(app, SEARCH);
  expect(text).toContain('You sent [redacted], ');
  expect(text).not.toContain(Buffer.from(PROVIDER_KEY).toString('base64').slice(2, 14));
});

test('the provider gets its own key and session, and no credential, cookie or foreign header of the client', async () => {
  const app = await start();
  const { client, transport } = await connect(app, SEARCH);
  await client.listTools();
  const [call] = app.provider.calls('tools/list');
  expect(call?.headers).toMatchObject({
    authorization: `Bearer ${PROVIDER_KEY}`,
    'mcp-session-id': 'session-1',
    'mcp-protocol-version': expect.stringMatching(/^20/),
    'accept-encoding': 'identity',
  });
  const names = Object.keys(call?.headers ?? {});
  expect(names.filter((name) => /cookie|x-|forwarded|api-key|origin/.test(name))).toEqual([]);
  expect(JSON.stringify(app.provider.seen)).not.toContain(KEY);
  expect(transport.sessionId).toMatch(/^session-1\.[\w-]{22}$/);
});

test('a session is good for the key alone that has it', async () => {
  const app = await start();
  const { transport } = await connect(app, SEARCH);
  const { secret } = await app.app.access.keys.create({ name: 'other' });
  const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  const session = { 'mcp-session-id': transport.sessionId ?? '' };
  const other = { ...session, authorization: `Bearer ${secret}` };
  expect(await refusal(app, SEARCH, { headers: other, body: list })).toMatch(/^404 .*session/);
  expect(await refusal(app, SEARCH, { headers: { 'mcp-session-id': 'session-1' } })).toMatch(
    /^404/,
  );
  expect(app.provider.calls('tools/list')).toEqual([]);
  const { text } = await post(app, SEARCH, { headers: session, body: list });
  expect(text).toContain('"search"');
});

test('what the provider tells by itself reaches a client that listens', async () => {
  const app = await start();
  const { client } = await connect(app, SEARCH);
  const { promise, resolve } = Promise.withResolvers<string>();
  client.setNotificationHandler('notifications/tools/list_changed', ({ method }) =>
    resolve(method),
  );
  expect(await promise).toBe('notifications/tools/list_changed');
});

test('a stream that is listened to ends when the gateway does, and holds nothing up', async () => {
  const app = await start();
  const { transport } = await connect(app, SEARCH);
  const response = await fetch(app.url + SEARCH, {
    headers: {
      authorization: `Bearer ${KEY}`,
      accept: 'text/event-stream',
      'mcp-session-id': transport.sessionId ?? '',
    },
  });
  expect(response.status).toBe(200);
  const text = response.text();
  await app.app.server.close();
  expect(await text).toContain('list_changed');
});

test('a stream that is listened to goes on through other changes, and not once its service is off', async () => {
  const app = await start();
  const opened = Promise.withResolvers<(text: string) => void>();
  app.provider.script.fault = ({ method }, response) => {
    if (method !== 'GET') return false;
    beginEvents(response);
    opened.resolve((text) => void response.write(`data: ${text}\n\n`));
    return true;
  };
  const headers = { authorization: `Bearer ${KEY}`, accept: 'text/event-stream' };
  const response = fetch(app.url + SEARCH, { headers });
  const tell = await opened.promise;
  tell('one');
  const reader = (await response).body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async () => (await reader?.read())?.value;
  expect(await next()).toContain('one');
  const more = { models: { haiku: 'another' } };
  await app.editConfig({ proxy: { extprov: settingsOf(app.provider, more) } });
  tell('two');
  expect(await next()).toContain('two');
  await app.editConfig({ proxy: { extprov: settingsOf(app.provider, { enabled: false }) } });
  tell('three');
  await expect(next()).rejects.toThrow();
});

test('a call whose stream is cut goes on where it was: the client asks for the rest by the last event', async () => {
  const app = await start();
  app.provider.script.fault = ({ body }, response) => {
    if (body.method !== 'tools/call') return false;
    beginEvents(response);
    response.write(progressEvent(body), () => response.destroy());
    return true;
  };
  const { client } = await connect(app, SEARCH);
  const result = await client.callTool({ name: 'search', arguments: {} }, { onprogress: () => {} });
  expect(result.content).toEqual([{ type: 'text', text: 'found after all' }]);
  const resumed = app.provider.seen.find(({ headers }) => headers['last-event-id'] !== undefined);
  expect(resumed?.headers['last-event-id']).toMatch(/-1$/);
});

test('an answer that breaks off is cut off, not ended', async () => {
  const app = await start();
  app.provider.script.fault = (_call, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"jsonrpc":', () => response.destroy());
    return true;
  };
  await expect(post(app, SEARCH)).rejects.toThrow();
});

test('when the client leaves, the call of the provider ends', async () => {
  const app = await start();
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  app.provider.script.fault = (_call, response) => {
    beginEvents(response);
    response.write(': here\n\n');
    response.on('close', () => resolve());
    begun.resolve();
    return true;
  };
  const leave = new AbortController();
  const response = await fetch(app.url + SEARCH, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: INITIALIZE,
    signal: leave.signal,
  });
  await begun.promise;
  expect(response.status).toBe(200);
  leave.abort();
  await promise;
});

test.each<[string, (response: Parameters<McpProvider['script']['fault']>[1]) => void, RegExp]>([
  ['refuses the key', (response) => sendJson(response, 401, {}), /^503 .*refuses the key/],
  ['takes no more', (response) => sendJson(response, 429, {}), /^429 .*no more calls/],
  ['fails', (response) => sendJson(response, 500, {}), /^502 .*failed with status 500/],
  ['is elsewhere', (response) => response.writeHead(302, { location: '/x' }).end(), /^502 /],
  [
    'shows a page',
    (response) => response.setHeader('content-type', 'text/html').end('<p>'),
    /^502/,
  ],
  ['closes the connection', (response) => response.destroy(), /^502 /],
])('a provider that %s is an error of JSON-RPC', async (_what, fault, wanted) => {
  const app = await start();
  app.provider.script.fault = (_call, response) => {
    fault(response);
    return true;
  };
  expect(await refusal(app, SEARCH)).toMatch(wanted);
});

test('a provider that is down is a 502, and what it says of a bad message reaches the client without its key', async () => {
  const app = await start();
  app.provider.script.fault = (_call, response) => {
    const error = { code: -32_602, message: `bad ${PROVIDER_KEY}` };
    sendJson(response, 400, { jsonrpc: '2.0', id: null, error });
    return true;
  };
  const { response, text } = await post(app, SEARCH);
  expect(response.status).toBe(400);
  expect(text).toContain('-32602');
  expect(text).not.toContain(PROVIDER_KEY);
  await app.provider.close();
  closers.shift();
  expect(await refusal(app, SEARCH)).toMatch(/^502 .*could not be reached/);
});

test('a session that the provider has forgotten is a 404, by which clients begin a new one', async () => {
  const app = await start();
  const { transport } = await connect(app, SEARCH);
  app.provider.sessions.clear();
  const headers = { 'mcp-session-id': transport.sessionId ?? '' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  expect(await refusal(app, SEARCH, { headers, body })).toMatch(/^404/);
});

test('the gates of the model routes stand before it: key, type, size, method', async () => {
  const app = await start();
  expect(await refusal(app, SEARCH, { headers: { authorization: 'Bearer wrong' } })).toMatch(
    /^401/,
  );
  expect(await refusal(app, SEARCH, { headers: { 'content-type': 'text/plain' } })).toMatch(/^415/);
  expect(await refusal(app, '/mcp/nothing', {})).toMatch(/^404/);
  expect(await refusal(app, VISION, { body: '{"a":' })).toMatch(/^400 .*not valid JSON/);
  const deep = '['.repeat(1000);
  expect(await refusal(app, SEARCH, { body: deep })).toMatch(/^400 .*nested deeper/);
  const { body } = await fetch(app.url + VISION, { headers: { authorization: `Bearer ${KEY}` } });
  await body?.cancel();
  expect(app.provider.seen).toEqual([]);
});

test('the models of a key say which services it may use, and its requests are counted', async () => {
  const app = await start();
  const { keys } = app.app.access;
  const named = await keys.create({ name: 'one', allowedModels: ['claude-*'] });
  const headers = { authorization: `Bearer ${named.secret}` };
  expect(await refusal(app, SEARCH, { headers })).toMatch(/^403 .*mcp\/web_search/);
  expect((await fetch(app.url + SEARCH, { headers })).status).toBe(403);
  const slow = await keys.create({
    name: 'two',
    allowedModels: ['mcp/web_search'],
    requestsPerMinute: 1,
  });
  const counted = { authorization: `Bearer ${slow.secret}` };
  expect((await post(app, SEARCH, { headers: counted })).response.status).toBe(200);
  expect(await refusal(app, SEARCH, { headers: counted })).toMatch(/^429/);
});

test.each([
  [SEARCH, { enabled: false }, 'proxy.extprov.enabled'],
  [SEARCH, { api_key: '' }, 'proxy.extprov.api_key'],
  [SEARCH, { mcp: {} }, 'proxy.extprov.mcp.enabled'],
  [SEARCH, { mcp: { enabled: true } }, 'proxy.extprov.mcp.web_search_enabled'],
  [SEARCH, { mcp: { enabled: true, web_search_enabled: true } }, 'mcp.web_search_url'],
  ['/mcp/web_reader/mcp', {}, 'proxy.extprov.mcp.web_reader_enabled'],
  [VISION, { mcp: { enabled: true } }, 'proxy.extprov.mcp.vision_enabled'],
] as const)('%s under %j is a 404 that names the setting', async (path, more, setting) => {
  const app = await start(more);
  const said = await refusal(app, path);
  expect(said).toMatch(/^404 /);
  expect(said).toContain(setting);
});

test('what is switched on and off counts from the next request on', async () => {
  const app = await start({ mcp: {} });
  expect(await refusal(app, SEARCH)).toMatch(/^404/);
  await app.editConfig({ proxy: { extprov: settingsOf(app.provider) } });
  expect((await post(app, SEARCH)).response.status).toBe(200);
  await app.editConfig({ proxy: { extprov: settingsOf(app.provider, { enabled: false }) } });
  expect(await refusal(app, SEARCH)).toMatch(/^404/);
});

const ONE = { image: `data:image/png;base64,${PICTURE}` };

test.each(['legacy', 'auto'] as const)(
  'a client of either revision (%s) has its pictures looked at by the model of the provider',
  async (mode) => {
    const app = await start();
    const { client } = await connect(app, VISION, { mode });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['describe_image', 'compare_images', 'read_text'],
      ...['explain_diagram', 'explain_interface', 'explain_error'],
    ]);
    const asked = { name: 'describe_image', arguments: { ...ONE, question: 'Which colour?' } };
    const result = await client.callTool(asked);
    expect(result.content).toEqual([{ type: 'text', text: 'A small red square.' }]);
    const call = app.provider.seen.find(({ path }) => path === '/v1/messages');
    expect(call?.headers['x-api-key']).toBe(PROVIDER_KEY);
    const source = { type: 'base64', media_type: 'image/png', data: PICTURE };
    const text = expect.stringContaining('Which colour?');
    expect(call?.body).toMatchObject({
      model: 'eyes-1',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source },
            { type: 'text', text },
          ],
        },
      ],
    });
  },
);

test('two pictures are compared in one question, and bare base64 is taken as well', async () => {
  const app = await start();
  const { client } = await connect(app, VISION);
  const pictures = { first_image: PICTURE, second_image: ONE.image, media_type: 'image/png' };
  await client.callTool({ name: 'compare_images', arguments: pictures });
  const call = app.provider.seen.find(({ path }) => path === '/v1/messages');
  const image = expect.objectContaining({ type: 'image' });
  expect(call?.body.messages).toEqual([
    { role: 'user', content: [image, image, expect.objectContaining({ type: 'text' })] },
  ]);
});

test.each([
  ['/etc/passwd', /not read from paths/],
  ['~/shot.png', /not read from paths/],
  ['C:\\shots\\one.png', /not read from paths/],
  ['file:///etc/passwd', /not read from paths/],
  ['https://example.com/one.png', /proxy\.fetch_remote_media is off/],
  ['data:text/html;base64,PGgxPmhlbGxvPC9oMT4=', /no picture of a known type/],
])('the picture %s is refused, and nobody is asked', async (image, why) => {
  const app = await start();
  const { client } = await connect(app, VISION);
  const result = await client.callTool({ name: 'read_text', arguments: { image } });
  expect(result).toMatchObject({ isError: true });
  expect(JSON.stringify(result.content)).toMatch(why);
  expect(app.provider.seen).toEqual([]);
});

test('a look at a picture is in the list of requests, with the model that was asked', async () => {
  const app = await start();
  const { client } = await connect(app, VISION);
  await client.callTool({ name: 'describe_image', arguments: ONE });
  await expect
    .poll(async () => {
      const headers = { authorization: `Bearer ${KEY}` };
      const answer = await fetch(`${app.url}/api/requests`, { headers });
      const { requests } = (await answer.json()) as { requests: readonly JsonObject[] };
      return requests;
    })
    .toEqual([expect.objectContaining({ protocol: 'messages', model: 'eyes-1', status: 200 })]);
});

test('a look at a picture is under the rules of the key of its client', async () => {
  const app = await start({ mcp: { enabled: true, vision_enabled: true } });
  const { secret } = await app.app.access.keys.create({ name: 'k', allowedModels: ['claude-*'] });
  const { client } = await connect(app, VISION, { key: secret });
  const refused = await client.callTool({ name: 'explain_error', arguments: ONE });
  expect(refused).toMatchObject({ isError: true });
  // Without a model of its own it is the default of the sonnet family.
  expect(JSON.stringify(refused.content)).toContain('extmodel-4.7');
  expect(app.provider.seen).toEqual([]);
});

test('in every mode the provider looks at pictures, also where it serves no requests; no name leads to it then', async () => {
  const app = await start({ dispatch_mode: 'off' });
  const { client } = await connect(app, VISION);
  const result = await client.callTool({ name: 'explain_diagram', arguments: ONE });
  expect(result.isError).not.toBe(true);
  const before = app.provider.seen.length;
  const named = await fetch(`${app.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'extprov/eyes-1', max_tokens: 10 },
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  });
  expect(named.status).toBe(404);
  expect(app.provider.seen).toHaveLength(before);
});

test('when the provider fails, the tool says so and the client goes on', async () => {
  const app = await start();
  app.provider.script.fault = ({ path }, response) => {
    if (path !== '/v1/messages') return false;
    const error = { type: 'error', error: { type: 'authentication_error', message: 'no' } };
    sendJson(response, 401, error);
    return true;
  };
  const { client } = await connect(app, VISION);
  const failed = await client.callTool({ name: 'describe_image', arguments: ONE });
  expect(failed).toMatchObject({ isError: true });
  expect(JSON.stringify(failed)).not.toContain(PROVIDER_KEY);
  expect((await client.listTools()).tools).toHaveLength(6);
});

test('when the client leaves, the look at its picture ends', async () => {
  const app = await start();
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  app.provider.script.fault = ({ path }, response) => {
    if (path !== '/v1/messages') return false;
    response.on('close', () => ended.resolve());
    begun.resolve();
    return true;
  };
  const { client } = await connect(app, VISION);
  const asked = client.callTool({ name: 'describe_image', arguments: ONE });
  const lost = asked.catch((error: unknown) => error);
  await begun.promise;
  await client.close();
  await ended.promise;
  expect(await lost).toBeInstanceOf(Error);
});
