// The model lists of a gateway over upstreams of other model lists, and where names go there.

import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { listen } from '../support/listen.ts';
import { type PoolApp, startPoolApp } from '../support/pool-app.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';

const running: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of running.splice(0).toReversed()) await close();
});

interface Gateway extends PoolApp {
  /** The ids by which the upstream was asked. */
  readonly asked: readonly string[];
}

async function startOver(models: readonly string[], proxy: JsonObject = {}): Promise<Gateway> {
  const asked: string[] = [];
  const upstream: RawUpstream = await startRawUpstream(models, (response, path) => {
    asked.push(/models\/([^:]+):/.exec(path)?.[1] ?? path);
    const content = { role: 'model', parts: [{ text: 'Hello.' }] };
    const body = { candidates: [{ content, finishReason: 'STOP', index: 0 }] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  running.push(() => upstream.close());
  const environment = {
    UPSTREAM_PROFILE: 'generic',
    UPSTREAM_BASE_URL: upstream.url,
    UPSTREAM_API_KEYS: 'up-key-0123456789',
  };
  const app = await startPoolApp({ environment, file: { proxy } });
  running.push(() => app.close());
  return Object.assign(app, { asked });
}

const entries = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** The names of each list of the gateway. */
async function listsOf(app: PoolApp): Promise<Readonly<Record<string, readonly string[]>>> {
  const idsOf = async (path: string, field: string, key: string): Promise<readonly string[]> =>
    entries((await app.must('GET', path))[field]).map((one) =>
      String(one[key]).replace(/^models\//, ''),
    );
  return {
    chat: await idsOf('/v1/models', 'data', 'id'),
    native: await idsOf('/v1beta/models', 'models', 'name'),
    claude: await idsOf('/v1/models/claude', 'data', 'id'),
    admin: await idsOf('/api/models', 'models', 'id'),
  };
}

const chat = (app: PoolApp, model: string) =>
  app.api('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });

test('B1: every list names what the two models of an upstream serve and nothing else', async () => {
  const app = await startOver(['house-1', 'house-2'], {
    custom_mapping: { mine: 'house-1', gone: 'house-9', 'gpt-*': 'house-2' },
  });
  const names = ['house-1', 'house-2', 'mine'];
  expect(await listsOf(app)).toEqual({ chat: names, native: names, claude: [], admin: names });
  for (const name of [...names, 'gpt-5']) expect((await chat(app, name)).status).toBe(200);
  for (const name of ['alpha-3-flash', 'gemini-3-pro', 'claude-sonnet-4-6', 'gone']) {
    expect((await chat(app, name)).status).toBe(404);
    expect((await app.api('GET', `/v1beta/models/${name}`)).status).toBe(404);
  }
  expect((await app.must('GET', '/v1beta/models/mine')).name).toBe('models/mine');
});

test.each(['gemini', 'alpha'])(
  'B2: an upstream of nothing but %s-4-pro and %s-4-flash serves every well-known text name',
  async (words) => {
    const app = await startOver([`${words}-4-pro`, `${words}-4-flash`]);
    const { chat: names = [], claude = [] } = await listsOf(app);
    expect(names).toContain('alpha-3-flash');
    expect(claude).toEqual(expect.arrayContaining(['beta-sonnet-4-6', 'claude-opus-4-6']));
    expect(names.filter((name) => /image|embedding/.test(name))).toEqual([]);
    for (const name of [
      ...names,
      'gpt-5',
      'gemini-2.5-pro',
      'claude-sonnet-4-5',
      'o3',
      'gpt-4.1-nano',
    ]) {
      expect([name, (await chat(app, name)).status]).toEqual([name, 200]);
    }
    const isKnown = (id: string): boolean => id === `${words}-4-pro` || id === `${words}-4-flash`;
    expect(app.asked.every(isKnown)).toBe(true);
  },
);

test('B2: the newest stable model is asked, unless the configuration prefers another', async () => {
  const models = ['gemini-3-flash-preview', 'gemini-3.8-flash', 'gemini-2.5-flash'];
  const app = await startOver(models);
  await chat(app, 'alpha-3-flash');
  await chat(app, 'gpt-4o-mini');
  await app.must('PATCH', '/api/config/mapping', { my: 'alpha-3-flash' });
  await chat(app, 'my');
  expect(app.asked).toEqual(['gemini-3.8-flash', 'gemini-3.8-flash', 'gemini-3.8-flash']);
  const preferring = await startOver(models, { families: { flash: ['gemini-2.5-flash'] } });
  await chat(preferring, 'alpha-3-flash');
  await chat(preferring, 'gemini-3.8-flash');
  expect(preferring.asked).toEqual(['gemini-2.5-flash', 'gemini-3.8-flash']);
  const route = await preferring.must('GET', '/api/route?model=gpt-4o-mini');
  expect(route).toMatchObject({
    target: 'alpha-3-flash',
    servedAs: 'gemini-2.5-flash',
    error: null,
  });
});

test('B10: a mapping to a misspelt model is saved with a warning, and explained with what was meant', async () => {
  const app = await startOver(['gemini-4-flash']);
  const saved = await app.must('PATCH', '/api/config/mapping', {
    'my-*': 'alpha-3-flsh',
    pic: 'alpha-3-pro-image',
  });
  expect(saved.warnings).toMatchObject([
    { text: expect.stringContaining('Did you mean "alpha-3-flash"?') },
    { text: expect.stringContaining('no enabled account is known to offer now') },
  ]);
  const route = await app.must('GET', '/api/route?model=my-x');
  expect(route).toMatchObject({ target: null, servedAs: null });
  expect(route.error).toMatchObject({
    text: expect.stringContaining('Did you mean "alpha-3-flash"?'),
  });
  const translated = await app.api('POST', '/api/translate', {
    protocol: 'chat',
    body: { model: 'my-x', messages: [{ role: 'user', content: 'Hi' }] },
  });
  expect(translated.status).toBe(404);
  expect(translated.text).toContain('Did you mean');
  expect((await chat(app, 'my-x')).text).not.toContain('Did you mean');
  const picture = await app.must('GET', '/api/route?model=pic');
  expect(picture).toMatchObject({ target: 'alpha-3-pro-image', servedAs: null });
  expect(picture.error).toMatchObject({
    text: expect.stringContaining('No enabled account offers'),
  });
});

test('C8: the models of a key are the names it sends, wherever the mapping leads them', async () => {
  const app = await startOver(['gemini-4-flash'], { custom_mapping: { mine: 'alpha-3-flash' } });
  const { secret } = await app.must('POST', '/api/keys', { name: 'ada', allowedModels: ['mine'] });
  const ask = async (model: string): Promise<number> => {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
    const answer = await fetch(`${app.url}/v1/chat/completions`, { method: 'POST', headers, body });
    await answer.body?.cancel();
    return answer.status;
  };
  expect(await ask('mine')).toBe(200);
  for (const name of ['alpha-3-flash', 'gemini-4-flash', 'gpt-4o-mini'])
    expect(await ask(name)).toBe(403);
});

test('a key is told of no model that it may not use, however near', async () => {
  const app = await startOver(['house-off', 'house-one']);
  const secretOf = async (allowedModels: string[]): Promise<string> => {
    const name = allowedModels.join();
    return String((await app.must('POST', '/api/keys', { name, allowedModels })).secret);
  };
  const read = async (secret: string, path: string, body?: JsonObject): Promise<string> => {
    const method = body === undefined ? 'GET' : 'POST';
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
    const text = body === undefined ? null : JSON.stringify(body);
    const answer = await fetch(app.url + path, { method, headers, body: text });
    expect(answer.status).toBe(404);
    return answer.text();
  };
  const asked = { model: 'house-onf', messages: [{ role: 'user', content: 'Hi' }] };
  const [few, all] = [await secretOf(['house-on*']), await secretOf(['house-*'])];
  for (const path of ['/v1/chat/completions', '/v1/messages/count_tokens']) {
    expect(await read(few, path, asked)).toContain('house-one');
    expect(await read(all, path, asked)).toContain('house-off');
  }
  expect(await read(few, '/v1/models/house-onf')).toContain('house-one');
  expect(await read(all, '/v1/models/house-onf')).toContain('house-off');
  const none = await secretOf(['house-onf']);
  expect(await read(none, '/v1/chat/completions', asked)).not.toMatch(/house-o(?:ff|ne)/);
});

test.each([
  ['anthropic', 'claude-opus-4-5', true],
  ['anthropic', 'claude-3-5-haiku-latest', false],
  ['openai', 'gpt-5', true],
  ['openai', 'gpt-4.1', false],
])(
  'whether a model of the profile %s thinks is told where its list does not say it: %s',
  async (profile, id, thinks) => {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: [{ id, object: 'model', type: 'model' }] }));
    });
    const UPSTREAM_BASE_URL = `http://127.0.0.1:${await listen(server)}`;
    const environment = {
      UPSTREAM_PROFILE: profile,
      UPSTREAM_BASE_URL,
      UPSTREAM_API_KEYS: 'up-key-0123456789',
    };
    const app = await startPoolApp({ environment });
    running.push(() => app.close());
    expect(await app.must('GET', `/v1beta/models/${id}`)).toMatchObject({
      thinking: thinks,
      supportsThinking: thinks,
    });
  },
);

/** An upstream that lists one model and refuses every request, which is noted by the model it asks for. */
async function listing(id: string, asked: string[]): Promise<string> {
  const supportedGenerationMethods = ['generateContent'];
  const list = {
    models: [{ name: `models/${id}`, supportedGenerationMethods }],
    data: [{ type: 'model', id }],
  };
  const server = createServer(async (request, response) => {
    const text = await readText(request);
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') return response.end(JSON.stringify(list));
    const inPath = /models\/([^:]+):/.exec(request.url ?? '')?.[1];
    asked.push(inPath ?? JSON.parse(text).model);
    response.statusCode = 400;
    return response.end('{"error":{"type":"invalid_request_error","message":"Enough."}}');
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** A gateway with a key at each of these upstreams. */
async function startWith(upstreams: Readonly<Record<string, JsonObject>>) {
  const app = await startPoolApp({ file: { upstreams } });
  running.push(() => app.close());
  const added = Object.keys(upstreams).map((upstream) =>
    app.must('POST', '/api/accounts', { upstream, kind: 'api-key', key: `key-of-${upstream}` }),
  );
  return { app, added: await Promise.all(added) };
}

test('a model that an account lists goes to another of its family only where that account cannot serve', async () => {
  const asked: string[] = [];
  const upstreams = {
    newer: { profile: 'anthropic', base_url: await listing('claude-sonnet-5', asked) },
    named: { profile: 'anthropic', base_url: await listing('claude-sonnet-4-6', asked) },
  };
  const { app, added } = await startWith(upstreams);
  const [, named] = added;
  const names = ['claude-sonnet-4-6', 'beta-sonnet-4-6', 'Claude-Sonnet-4.6', 'claude-sonnet-4-6'];
  for (const name of names) expect((await chat(app, name)).status).toBe(400);
  expect(asked.splice(0)).toEqual(names.map(() => 'claude-sonnet-4-6'));
  expect(await app.must('GET', '/api/route?model=claude-sonnet-4-6')).toMatchObject({
    target: 'claude-sonnet-4-6',
    servedAs: 'claude-sonnet-4-6',
  });
  await app.must('POST', `/api/accounts/${named?.id}/disable`);
  for (const name of names) expect((await chat(app, name)).status).toBe(400);
  expect(asked).toEqual(names.map(() => 'claude-sonnet-5'));
});

test('a name of a family goes to another family only where no account can serve it with its own', async () => {
  const asked: string[] = [];
  const upstreams = {
    google: { profile: 'gemini-api', base_url: await listing('gemini-5-pro', asked) },
    mine: { profile: 'anthropic', base_url: await listing('claude-opus-7-20270301', asked) },
  };
  const { app, added } = await startWith(upstreams);
  const [, own] = added;
  const names = ['claude-opus-4-6', 'claude-opus-4-1-20250805', 'beta-opus-4-6-thinking'];
  for (const name of names) expect((await chat(app, name)).status).toBe(400);
  expect(asked.splice(0)).toEqual(names.map(() => 'claude-opus-7-20270301'));
  expect(await app.must('GET', '/api/route?model=claude-opus-4-6')).toMatchObject({
    servedAs: 'claude-opus-7-20270301',
  });
  await app.must('POST', `/api/accounts/${own?.id}/disable`);
  for (const name of names) expect((await chat(app, name)).status).toBe(400);
  expect(asked).toEqual(names.map(() => 'gemini-5-pro'));
});

const WELL_KNOWN = ['gpt-4o', 'o4-mini', 'claude-opus-4-6', 'claude-haiku-4-5', 'gemini-2.5-pro'];

test.each(['openai-compatible', 'messages'])(
  'an upstream of the profile %s that has no list is asked for well-known names as they are',
  async (profile) => {
    const asked: string[] = [];
    const server = createServer(async (request, response) => {
      const text = await readText(request);
      const isAsked = request.method === 'POST';
      if (isAsked) asked.push(String(JSON.parse(text).model));
      response.writeHead(isAsked ? 400 : 404, { 'content-type': 'application/json' });
      response.end('{"error":{"type":"invalid_request_error","message":"Enough."}}');
    });
    const UPSTREAM_BASE_URL = `http://127.0.0.1:${await listen(server)}`;
    const environment = {
      ...{ UPSTREAM_PROFILE: profile, UPSTREAM_BASE_URL },
      UPSTREAM_API_KEYS: 'up-key-0123456789',
    };
    const families = { sonnet: ['my-own'] };
    const file = { proxy: { custom_mapping: { mine: 'gpt-5-mini' }, families } };
    const app = await startPoolApp({ environment, file });
    running.push(() => app.close());
    const names = [`${profile}/claude-opus-4-6`, 'mine', 'a-name-of-its-own', 'claude-sonnet-4'];
    for (const name of [...WELL_KNOWN, ...names]) expect((await chat(app, name)).status).toBe(400);
    // The family has a model that the operator names.
    const served = ['claude-opus-4-6', 'gpt-5-mini', 'a-name-of-its-own', 'my-own'];
    expect(asked).toEqual([...WELL_KNOWN, ...served]);
  },
);
