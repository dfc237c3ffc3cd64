// The Responses surface over a WebSocket: turns on one connection, as coding CLIs take them.

import { once } from 'node:events';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import { startPoolApp } from '../support/pool-app.ts';
import { GREETING, RESULT_SEEN, WEATHER } from '../support/prompts.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';
import { openWebSocket as openAt, type WebSocketClient } from '../support/web-socket-client.ts';

const MODEL = 'alpha-3-flash';
let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const openWebSocket = (url: string, headers?: Readonly<Record<string, string>>) =>
  openAt(`${url}/v1/responses`, headers);

const unstored = { model: MODEL, store: false };
const says = (text: string): JsonObject[] => [{ type: 'message', role: 'user', content: text }];

function textOf({ output }: JsonObject): string {
  return JSON.stringify(output);
}

async function opened<Result>(work: (client: WebSocketClient) => Promise<Result>): Promise<Result> {
  const client = await openWebSocket(app.url);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

describe('turns', () => {
  test('each is told in the events of the stream over HTTP, in their order', () =>
    opened(async (client) => {
      client.send({ type: 'response.create', model: MODEL, input: 'Hi' });
      const events = await client.until('response.completed');
      expect(events.map(({ sequence_number: number }) => number)).toEqual(
        events.map((_event, index) => index),
      );
      expect(events.slice(0, 2).map(({ type }) => type)).toEqual([
        'response.created',
        'response.in_progress',
      ]);
      expect(JSON.stringify(events.at(-1))).toContain(GREETING);
    }));

  test('a tool is called and answered after a warm-up, with nothing stored and only new items sent', () =>
    opened(async (client) => {
      const tools = [{ type: 'function', ...WEATHER }];
      const warm = await client.ask({
        ...unstored,
        generate: false,
        tools,
        input: says('Be kind.'),
      });
      expect(warm).toMatchObject({ status: 'completed', output: [] });
      const call = 'CALL-TOOL weather {"city":"Paris"}';
      const first = await client.ask({
        ...unstored,
        tools,
        previous_response_id: warm.id ?? null,
        input: says(call),
      });
      const item = Array.isArray(first.output)
        ? first.output.filter(isJsonObject).find(({ type }) => type === 'function_call')
        : undefined;
      expect(item).toMatchObject({ name: 'weather' });
      const second = await client.ask({
        ...unstored,
        tools,
        previous_response_id: first.id ?? null,
        input: [{ type: 'function_call_output', call_id: item?.call_id ?? '', output: 'sunny' }],
      });
      expect(textOf(second)).toContain(RESULT_SEEN);
      const asked = JSON.stringify((await app.sandbox.requests()).at(-1)?.body);
      expect(asked).toContain('Be kind.');
      expect(asked).toContain('Paris');
    }));

  test('a warm-up needs instructions alone, and asks no model', () =>
    opened(async (client) => {
      const before = (await app.sandbox.requests()).length;
      const warm = await client.ask({ ...unstored, generate: false, instructions: 'Be kind.' });
      expect((await app.sandbox.requests()).length).toBe(before);
      const next = await client.ask({
        ...unstored,
        previous_response_id: warm.id ?? null,
        input: says('Hi'),
      });
      expect(textOf(next)).toContain(GREETING);
    }));

  test('what is not stored is gone with its connection, and for every other one', async () => {
    const first = await openWebSocket(app.url);
    const { id = null } = await first.ask({ ...unstored, input: says('Hi') });
    const goOn = { ...unstored, previous_response_id: id, input: says('And?') };
    const other = await openWebSocket(app.url);
    expect(await other.ask(goOn)).toMatchObject({
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
    expect(await first.ask(goOn)).toMatchObject({ status: 'completed' });
    first.close();
    await first.closed;
    expect(await other.ask(goOn)).toMatchObject({ status: 400 });
    other.close();
  });

  test('a turn that fails forgets what it went on from, where that is not stored', () =>
    opened(async (client) => {
      const lost = [{ type: 'function_call_output', call_id: 'call_nobody_made', output: '4' }];
      const kept = await client.ask({ model: MODEL, input: says('Hi') });
      const { id = null } = await client.ask({ ...unstored, input: says('Hi') });
      const goOn = { ...unstored, previous_response_id: id };
      expect(await client.ask({ ...goOn, input: lost })).toMatchObject({ status: 400 });
      expect(await client.ask({ ...goOn, input: says('And?') })).toMatchObject({
        status: 400,
        error: { code: 'previous_response_not_found' },
      });
      const goOnKept = { model: MODEL, previous_response_id: kept.id ?? null };
      expect(await client.ask({ ...goOnKept, input: lost })).toMatchObject({ status: 400 });
      expect(await client.ask({ ...goOnKept, input: says('And?') })).toMatchObject({
        status: 'completed',
      });
    }));

  test('what is stored is gone on with over HTTP', async () => {
    const { id } = await opened((client) => client.ask({ model: MODEL, input: 'Hi' }));
    const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'any', maxRetries: 0 });
    const next = { model: MODEL, input: 'And?', previous_response_id: String(id) };
    expect((await client.responses.create(next)).output_text).toContain(GREETING);
  });

  test('those sent at once are answered one after the other', () =>
    opened(async (client) => {
      for (const name of ['first', 'second', 'third']) {
        client.send({ type: 'response.create', model: MODEL, input: 'Hi', metadata: { name } });
      }
      const names: unknown[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        const events = await client.until('response.completed');
        for (const { response } of events) {
          if (isJsonObject(response) && isJsonObject(response.metadata)) {
            names.push(response.metadata.name);
          }
        }
      }
      expect(names).toEqual(['first', 'second', 'third'].flatMap((name) => [name, name, name]));
    }));

  test('each has an id and a line of the log of its own', () =>
    opened(async (client) => {
      const ids = new Set<unknown>();
      for (let turn = 0; turn < 2; turn += 1) {
        const line = app.nextLine();
        await client.ask({ model: MODEL, input: 'Hi' });
        const { fields } = await line;
        expect(fields).toMatchObject({ method: 'POST', path: '/v1/responses', status: 200 });
        ids.add(fields.requestId);
      }
      expect(ids.size).toBe(2);
    }));

  test('a note that a response was worked on needs no answer', () =>
    opened(async (client) => {
      client.send({ type: 'response.processed', response_id: 'resp_1' });
      expect(await client.ask({ model: MODEL, input: 'Hi' })).toMatchObject({
        status: 'completed',
      });
    }));

  test('the official SDK reads them', async () => {
    const openai = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'any' });
    const socket = new ResponsesWS(openai);
    const texts: string[] = [];
    socket.on('response.output_text.delta', ({ delta }) => texts.push(delta));
    const completed = new Promise<OpenAI.Responses.Response>((resolve, reject) => {
      socket.on('response.completed', ({ response }) => resolve(response));
      socket.on('error', reject);
    });
    socket.send({ type: 'response.create', model: MODEL, input: 'Hi' });
    expect((await completed).status).toBe('completed');
    expect(texts.join('')).toContain(GREETING);
    socket.close();
  });
});

describe('errors', () => {
  test.each([
    ['{"type":', 400, 'invalid_json'],
    ['[]', 400, 'invalid_type'],
    ['{"type":"response.steer"}', 400, 'unsupported_value'],
    ['{"type":"response.create"}', 400, 'missing_required_parameter'],
    [
      '{"type":"response.create","model":"m","input":"a","background":true}',
      400,
      'unsupported_value',
    ],
    [
      '{"type":"response.create","model":"m","input":"a","stream_id":"a"}',
      400,
      'unsupported_value',
    ],
    [Buffer.from('{"type":"response.create"}'), 415, 'unsupported_content_type'],
  ])('%s is told and the connection stays', (message, status, code) =>
    opened(async (client) => {
      client.send(message);
      const event = await client.next();
      expect(event).toMatchObject({ type: 'error', status, error: { code } });
      expect(event.headers).toHaveProperty('x-request-id');
      expect(await client.ask({ model: MODEL, input: 'Hi' })).toMatchObject({
        status: 'completed',
      });
    }),
  );

  test('those of an upstream have their status, and say when to come again', () =>
    opened(async (client) => {
      await app.sandbox.addFault({ status: 503, count: 9 });
      const event = await client.ask({ model: MODEL, input: 'Hi' });
      await app.sandbox.clearFaults();
      expect(event).toMatchObject({ type: 'error', status: 503 });
      expect(event.headers).toHaveProperty('retry-after');
    }));

  test('a message over the limit is told, and the connection closes', async () => {
    const small = await startApp({ environment: { ABV_MAX_BODY_SIZE: '100000' } });
    const client = await openWebSocket(small.url);
    const line = small.nextLine();
    client.send({ type: 'response.create', model: MODEL, input: 'x'.repeat(200_000) });
    expect(await client.next()).toMatchObject({
      status: 413,
      error: { code: 'request_too_large' },
    });
    expect(await client.closed).toBe(1009);
    expect((await line).fields).toMatchObject({ status: 413, error: 'too-large' });
    await small.close();
  });
});

describe('who is let in', () => {
  const statusOf = async (url: string, headers: Readonly<Record<string, string>>) => {
    const opening = openWebSocket(url, headers);
    const message = await opening.then(
      (client) => {
        client.close();
        return '101';
      },
      (error: unknown) => String(error),
    );
    return /\d{3}/.exec(message)?.[0];
  };

  test('a connection needs what a request needs', async () => {
    const strict = await startApp({ environment: STRICT });
    expect(await statusOf(strict.url, {})).toBe('401');
    expect(await statusOf(strict.url, { authorization: 'Bearer wrong' })).toBe('401');
    expect(await statusOf(strict.url, { authorization: `Bearer ${KEY}` })).toBe('101');
    await strict.close();
  });

  test('no foreign page opens one without a key', async () => {
    expect(await statusOf(app.url, { origin: 'https://evil.example' })).toBe('401');
    expect(await statusOf(app.url, { origin: app.url })).toBe('101');
  });

  test('each turn is let in anew', async () => {
    const client = await openWebSocket(app.url);
    await client.ask({ model: MODEL, input: 'Hi' });
    await app.editConfig({ api_key: KEY, proxy: { auth_mode: 'strict' } });
    expect(await client.ask({ model: MODEL, input: 'Hi' })).toMatchObject({ status: 401 });
    await app.editConfig({});
    client.close();
  });
});

/** An upstream that says one word and then no more, until the gateway leaves. */
async function startSilent() {
  const left = Promise.withResolvers<void>();
  const upstream = await startRawUpstream([MODEL], (response) => {
    const parts = [{ text: 'Once' }];
    const frame = { candidates: [{ content: { role: 'model', parts } }] };
    response.on('close', () => left.resolve());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify(frame)}\n\n`);
  });
  const gateway = await startPoolApp({
    environment: { UPSTREAM_BASE_URL: upstream.url, UPSTREAM_API_KEYS: 'k' },
  });
  const client = await openWebSocket(gateway.url);
  const close = async (): Promise<void> => {
    await gateway.close();
    upstream.close();
  };
  return { gateway, client, left: left.promise, close };
}

describe('the end of a connection', () => {
  test.each(['close', 'terminate'] as const)(
    'a client that leaves (%s) ends what runs at the upstream',
    async (way) => {
      const { client, left, close } = await startSilent();
      client.send({ type: 'response.create', model: MODEL, input: 'Hi' });
      await client.until('response.output_text.delta');
      client.webSocket[way]();
      await left;
      await close();
    },
  );

  test('it comes after an hour, with the code that clients know', async () => {
    const { gateway, client, close } = await startSilent();
    await gateway.clock.advance(60 * 60_000);
    expect(await client.next()).toMatchObject({
      type: 'error',
      status: 400,
      error: { code: 'websocket_connection_limit_reached' },
    });
    expect(await client.closed).toBe(1001);
    await close();
  });

  test('a shutdown closes the idle ones at once, and the others when their grace is over', async () => {
    const { gateway, client, close } = await startSilent();
    const idle = await openWebSocket(gateway.url);
    client.send({ type: 'response.create', model: MODEL, input: 'Hi' });
    await client.until('response.output_text.delta');
    const stopping = gateway.stop();
    expect(await idle.closed).toBe(1001);
    await gateway.clock.advance(30_000);
    const [last] = (await client.until('response.failed')).slice(-1);
    expect(JSON.stringify(last)).toContain('shutting down');
    expect(await client.closed).toBe(1001);
    await stopping;
    await close();
  });

  test('a client that is not heard of any more is cut off', async () => {
    const { gateway, client, close } = await startSilent();
    const pinged = once(client.webSocket, 'ping');
    await gateway.clock.advance(30_000);
    await pinged;
    client.webSocket.pause();
    await gateway.clock.advance(150_000);
    client.webSocket.resume();
    expect(await client.closed).toBe(1006);
    await close();
  });
});
