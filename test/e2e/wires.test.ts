// Every client protocol over every wire of the built-in sandbox, which is strict on each.

import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { startGateway, type TestApp } from '../support/app.ts';
import { PNG } from '../support/prompts.ts';
import { WIRE_CLIENTS, type WireClient, type WireQuestion } from '../support/wire-clients.ts';

let app: Pick<TestApp, 'url' | 'close'>;

beforeAll(async () => {
  app = await startGateway({});
});
afterAll(() => app.close());

interface Wire {
  readonly name: string;
  readonly model: string;
  /** One that shows what it thinks. */
  readonly thinker: string;
}

const WIRES: readonly Wire[] = [
  { name: 'generate', model: 'alpha-3-flash', thinker: 'alpha-3-flash' },
  {
    name: 'messages',
    model: 'sandbox-messages/claude-sonnet-4-5',
    thinker: 'sandbox-messages/claude-sonnet-4-5',
  },
  { name: 'chat', model: 'sandbox-chat/gpt-4.1', thinker: 'sandbox-chat/gpt-oss-120b' },
];
const GRID = WIRE_CLIENTS.flatMap((client) => WIRES.map((wire) => ({ client, wire })));
const TWO = 'CALL-TOOL get_weather {"city":"Oslo"} CALL-TOOL get_weather {"city":"Rome"}';

async function post(client: WireClient, question: WireQuestion) {
  const response = await fetch(app.url + client.path(question), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(client.body(question)),
  });
  return { response, text: await response.text() };
}

async function ask(client: WireClient, question: WireQuestion): Promise<JsonObject> {
  const { response, text } = await post(client, question);
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  expect(response.headers.get('x-isthmus-sandbox')).toBe('1');
  const body = parseJson(text);
  return isJsonObject(body) ? body : {};
}

test('a strict service is asked again without what only one client knows', async () => {
  const messages = [{ role: 'user', content: 'SAY-TEXT Good day', __copilotMessageSource: 'user' }];
  const response = await fetch(`${app.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat/gpt-4.1', user_tag: 'x', messages }),
  });
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Good day' } }] });
  expect(response.headers.get('x-isthmus-receipt')).toBe('dropped=2;approximated=0;repaired=0');
});

describe.each(WIRE_CLIENTS)('$name', (client) => {
  test.each([
    ['alpha-3-flsh', 'alpha-3-flash'],
    ['gemini-2.5-prro', 'gemini-2.5-pro'],
    ['sandbox-chat/gpt-4.11', 'sandbox-chat/gpt-4.1'],
    ['sandbox-messages/claude-sonet-4-5', 'sandbox-messages/claude-sonnet-4-5'],
  ])('a misspelt model (%s) is told with the one that was meant', async (model, meant) => {
    const { response, text } = await post(client, { model, items: [client.user('Hi')] });
    expect(response.status).toBe(404);
    expect(text).toContain(`Did you mean \\"${meant}\\"?`);
  });
});

describe.each(GRID)('$client.name over $wire.name', ({ client, wire: { model, thinker } }) => {
  test('a text is answered', async () => {
    const answer = await ask(client, { model, items: [client.user('SAY-TEXT Good day')] });
    expect(client.read(answer).text).toBe('Good day');
  });

  test('a streamed text is the same', async () => {
    const items = [client.user('SAY-TEXT Good day')];
    const { response, text } = await post(client, { model, items, stream: true });
    expect(response.status).toBe(200);
    expect(text).toContain('Good day');
  });

  test('calls come side by side, and their results go back', async () => {
    const items = [client.user(TWO)];
    const question = { model, items, hasTools: true };
    const answer = await ask(client, question);
    const { calls } = client.read(answer);
    expect(calls.map(({ city }) => city)).toEqual(['Oslo', 'Rome']);
    const next = client.goOn(answer, ['NONCE-1', 'NONCE-2']);
    const last = await ask(client, { ...question, items: [...items, ...next] });
    expect(client.read(last).text).toBe('TOOL-RESULT-SEEN: NONCE-1 NONCE-2');
  });

  test('what was thought before a call goes round with it', async () => {
    const items = [client.user('CALL-TOOL get_weather {"city":"Oslo"}')];
    const question = { model: thinker, items, hasTools: true, thinks: true };
    const answer = await ask(client, question);
    expect(client.read(answer)).toMatchObject({
      thought: expect.stringContaining('Reading the request'),
      calls: [{ city: 'Oslo' }],
    });
    const next = client.goOn(answer, ['NONCE-1']);
    const last = await ask(client, { ...question, items: [...items, ...next] });
    expect(client.read(last).text).toBe('TOOL-RESULT-SEEN: NONCE-1');
  });

  test('a schema is kept', async () => {
    const schema = {
      ...{ type: 'object', required: ['city'], additionalProperties: false },
      properties: { city: { type: 'string' } },
    };
    const answer = await ask(client, { model, items: [client.user('Hello')], schema });
    expect(JSON.parse(client.read(answer).text)).toEqual({ city: 'HELLO-FROM-UPSTREAM' });
  });

  test('a picture arrives', async () => {
    const answer = await ask(client, { model, items: [client.user('Look', PNG)] });
    const { text } = client.read(answer);
    expect(text).toContain(`${model.replace(/^.*\//, '')} received 1 turn`);
    expect(text).toContain('Attached: image/png');
  });

  test('a refusal of the upstream is one of the protocol', async () => {
    const items = [client.user('UPSTREAM-STATUS 400')];
    const { response, text } = await post(client, { model, items });
    expect(response.status).toBe(400);
    expect(text).toContain('The sandbox was told to answer 400.');
  });

  test('a stream that is cut says so', async () => {
    const items = [client.user('UPSTREAM-WORDS 200 UPSTREAM-CUT')];
    const { text } = await post(client, { model, items, stream: true });
    expect(text).toContain('word-1 ');
    expect(text).toMatch(/error|failed/);
  });
});

test('models of the other wires serve only who names their upstream', async () => {
  const [client] = WIRE_CLIENTS;
  if (client === undefined) throw new Error('There is no client.');
  const items = [client.user('Hello')];
  const { response } = await post(client, { model: 'claude-haiku-4-5', items });
  expect(response.headers.get('x-isthmus-sandbox')).toBe('1');
  const { text } = await post(client, { model: 'gpt-4.1', items });
  expect(text).not.toContain('gpt-4.1 received');
});

test.each(WIRES)(
  'the tool runner of the official SDK, which asks for a thread, goes on without one over $name',
  async ({ model }) => {
    const anthropic = new Anthropic({ baseURL: app.url, apiKey: 'any', maxRetries: 0 });
    const cities: string[] = [];
    const last = await anthropic.beta.messages.toolRunner({
      model,
      max_tokens: 1_000,
      messages: [{ role: 'user', content: 'CALL-TOOL get_weather {"city":"Oslo"}' }],
      tools: [
        betaTool({
          name: 'get_weather',
          description: 'The weather of a city.',
          inputSchema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
          },
          run: ({ city }) => {
            cities.push(city);
            return 'sunny';
          },
        }),
      ],
    });
    expect(cities).toEqual(['Oslo']);
    expect(last.content).toMatchObject([{ type: 'text', text: 'TOOL-RESULT-SEEN: sunny' }]);
  },
);
