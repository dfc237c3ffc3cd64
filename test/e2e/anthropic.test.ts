// The official client of Messages against the whole gateway.

import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
} from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, STRICT, startApp, type TestApp } from '../support/app.ts';
import {
  CALL_ONCE,
  CALL_TWICE,
  GREETING,
  PNG,
  PNG_REPORT,
  RESULT_SEEN,
  WEATHER,
  weatherIn,
} from '../support/prompts.ts';

type Question = Anthropic.MessageParam;

let app: TestApp;
let client: Anthropic;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  client = new Anthropic({ apiKey: KEY, baseURL: app.url, maxRetries: 0 });
});
afterAll(() => app.close());

const MODEL = 'beta-sonnet-4-6';
const TOOLS: Anthropic.Tool[] = [
  { name: WEATHER.name, description: WEATHER.description, input_schema: WEATHER.schema },
];
const THINKING: Anthropic.ThinkingConfigParam = { type: 'enabled', budget_tokens: 2048 };

/** A server tool of the official client's own, by the newest of its dates and the first. */
const FETCHES: Anthropic.ToolUnion[] = [
  { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 2 },
  { type: 'web_fetch_20260318', name: 'web_fetch' },
];

describe.each(FETCHES)('pages opened by $type', (tool) => {
  test.each([false, true])('are shown and may be sent back (stream=%s)', async (stream) => {
    const url = 'https://www.example.com/a';
    const gone = 'https://unreachable.example.com/b';
    const first: Question = { role: 'user', content: `Read ${url} and ${gone} please` };
    const ask = async (messages: Question[]): Promise<Anthropic.Message> => {
      const question = { model: MODEL, max_tokens: 2000, messages, tools: [tool] };
      return stream
        ? client.messages.stream(question).finalMessage()
        : client.messages.create(question);
    };
    const answer = await ask([first]);
    expect(answer.content.map(({ type }) => type)).toEqual([
      'text',
      ...['server_tool_use', 'web_fetch_tool_result', 'server_tool_use', 'web_fetch_tool_result'],
    ]);
    const [, call, result, , failure] = answer.content;
    expect(call).toMatchObject({ name: 'web_fetch', input: { url } });
    const id = call?.type === 'server_tool_use' ? call.id : '';
    expect(result).toMatchObject({
      tool_use_id: id,
      content: { type: 'web_fetch_result', url, content: { type: 'document' } },
    });
    expect(failure).toMatchObject({ content: { error_code: 'url_not_accessible' } });
    expect(answer.stop_reason).toBe('end_turn');
    expect(answer.usage.server_tool_use).toEqual({
      web_search_requests: 0,
      web_fetch_requests: 2,
    });
    const again: Question = { role: 'user', content: 'And then?' };
    const next = await ask([first, { role: 'assistant', content: answer.content }, again]);
    expect(next.content.map(({ type }) => type)).toEqual(['text']);
    expect(next.usage.server_tool_use ?? null).toBeNull();
  });
});

describe.each([false, true])('with stream=%s', (stream) => {
  test('a plain question is answered, with usage', async () => {
    const answer = await ask(stream, [user('Good day')], { system: 'Be brief.' });
    expect(textOf(answer)).toContain(GREETING);
    expect(textOf(answer)).toContain('"Good day"');
    expect(textOf(answer)).toContain('beginning "Be brief."');
    expect(answer).toMatchObject({ model: MODEL, role: 'assistant', stop_reason: 'end_turn' });
    expect(answer.usage.input_tokens).toBeGreaterThan(0);
    expect(answer.usage.output_tokens).toBeGreaterThan(0);
  });

  test.each([
    ['without thinking', {}],
    ['while thinking', { thinking: THINKING }],
    ['while thinking as much as it likes', { thinking: { type: 'adaptive' } as const }],
  ])('a tool loop of two turns ends with the result, %s', async (_how, options) => {
    const first = await ask(stream, [user(CALL_ONCE)], options);
    expect(first.stop_reason).toBe('tool_use');
    expect(callsOf(first)).toMatchObject([{ name: 'weather', input: { city: 'Paris' } }]);
    const second = await ask(stream, [user(CALL_ONCE), said(first), resultsOf(first)], options);
    expect(textOf(second)).toContain(`${RESULT_SEEN}: ${weatherIn('Paris')}`);
  });

  test('P012 signatures may be lost: the calls alone carry the loop on', async () => {
    const first = await ask(stream, [user(CALL_ONCE)], { thinking: THINKING });
    const bare: Question = {
      role: 'assistant',
      content: callsOf(first).map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    };
    const second = await ask(stream, [user(CALL_ONCE), bare, resultsOf(first)], {
      thinking: THINKING,
    });
    expect(textOf(second)).toContain(RESULT_SEEN);
  });

  test('parallel calls may be answered in any order, with text beside', async () => {
    const first = await ask(stream, [user(CALL_TWICE)]);
    const calls = callsOf(first);
    expect(calls.map((call) => call.input)).toEqual([{ city: 'Paris' }, { city: 'Oslo' }]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    const results = resultsOf(first);
    const content = Array.isArray(results.content) ? results.content.toReversed() : [];
    const last: Question = { role: 'user', content: [...content, { type: 'text', text: 'So?' }] };
    const answer = await ask(stream, [user(CALL_TWICE), said(first), last]);
    expect(textOf(answer)).toContain(weatherIn('Paris'));
    expect(textOf(answer)).toContain(weatherIn('Oslo'));
  });

  test('thoughts come as a thinking block before the text, and may be sent back', async () => {
    const question = user('Think first');
    const answer = await ask(stream, [question], { thinking: THINKING });
    expect(answer.content).toMatchObject([
      { type: 'thinking', thinking: expect.stringContaining('Reading the request') },
      { type: 'text', text: expect.stringContaining(GREETING) },
    ]);
    const next = await ask(stream, [question, said(answer), user('Go on')], { thinking: THINKING });
    expect(textOf(next)).toContain('received 3 turns');
  });

  test('V062 thoughts before a call are signed', async () => {
    const answer = await ask(stream, [user(CALL_ONCE)], { thinking: THINKING });
    expect(answer.content).toMatchObject([
      { type: 'thinking', signature: expect.stringMatching(/.+/) },
      { type: 'tool_use' },
    ]);
  });

  test('a picture arrives whole, also in a tool result', async () => {
    const picture: Anthropic.ImageBlockParam = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: PNG },
    };
    const look = await ask(stream, [
      { role: 'user', content: [picture, { type: 'text', text: 'What is this?' }] },
    ]);
    expect(textOf(look)).toContain(PNG_REPORT);
    const first = await ask(stream, [user(CALL_ONCE)]);
    const [call] = callsOf(first);
    const shown: Question = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: [picture] }],
    };
    const second = await ask(stream, [user(CALL_ONCE), said(first), shown]);
    expect(textOf(second)).toContain(PNG_REPORT);
  });
});

test('V061 the events of a stream come in the order of the protocol', async () => {
  const events = await Array.fromAsync(
    await client.messages.create({
      model: MODEL,
      max_tokens: 500,
      stream: true,
      messages: [user('Hi')],
    }),
  );
  const kinds = events.map((event) => event.type).filter((type) => type !== 'content_block_delta');
  expect(kinds).toEqual([
    'message_start',
    'content_block_start',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
});

test('both key headers are taken', async () => {
  const bearer = new Anthropic({ apiKey: null, authToken: KEY, baseURL: app.url, maxRetries: 0 });
  expect(textOf(await bearer.messages.create(hello(MODEL)))).toContain(GREETING);
  const headers = { 'x-api-key': KEY, authorization: null };
  expect(textOf(await client.messages.create(hello(MODEL), { headers }))).toContain(GREETING);
});

test('a wrong key is an AuthenticationError', async () => {
  const stranger = new Anthropic({ apiKey: 'sk-wrong', baseURL: app.url, maxRetries: 0 });
  await expect(stranger.messages.create(hello(MODEL))).rejects.toMatchObject({
    constructor: AuthenticationError,
    error: { type: 'error', error: { type: 'authentication_error' } },
  });
});

test('an unknown model is a NotFoundError', async () => {
  await expect(client.messages.create(hello('no-such-model'))).rejects.toMatchObject({
    constructor: NotFoundError,
    error: { error: { type: 'not_found_error' } },
  });
});

test('V034 a missing max_tokens is a BadRequestError', async () => {
  const body: object = { model: MODEL, messages: [user('Hi')] };
  await expect(client.post('/v1/messages', { body })).rejects.toMatchObject({
    constructor: BadRequestError,
    error: {
      error: {
        type: 'invalid_request_error',
        message: expect.stringContaining('max_tokens'),
      },
    },
  });
});

test('the model list and a single model', async () => {
  const models = await Array.fromAsync(client.models.list());
  expect(models.map((model) => model.id)).toContain(MODEL);
  expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, type: 'model' });
  await expect(client.models.retrieve('no-such-model')).rejects.toThrow(NotFoundError);
});

test('a token count grows with the prompt', async () => {
  const count = async (text: string): Promise<number> =>
    (await client.messages.countTokens({ model: MODEL, tools: TOOLS, messages: [user(text)] }))
      .input_tokens;
  const short = await count('Hi');
  expect(short).toBeGreaterThan(0);
  expect(await count('Hi '.repeat(100))).toBeGreaterThan(short);
});

test('a token count says whether somebody counted', async () => {
  const ask = { model: MODEL, messages: [user('Hi '.repeat(100))] };
  const marked = async () => {
    const { data, response } = await client.messages.countTokens(ask).withResponse();
    expect(data.input_tokens).toBeGreaterThan(50);
    return response.headers.get('x-isthmus-estimate');
  };
  expect(await marked()).toBeNull();
  await app.sandbox.addFault({ endpoint: 'count-tokens', status: 501, count: 9 });
  expect(await marked()).toBe('tokens');
  await app.sandbox.clearFaults();
});

test('P081 a stream the upstream cuts makes the SDK throw', async () => {
  const stream = client.messages.stream(hello(MODEL, 'UPSTREAM-CUT'));
  await expect(stream.finalMessage()).rejects.toThrow(APIError);
});

test('finish reasons keep their meaning', async () => {
  const stop = async (marker: string): Promise<string | null> =>
    (await client.messages.create(hello(MODEL, marker))).stop_reason;
  expect(await stop('UPSTREAM-FINISH MAX_TOKENS')).toBe('max_tokens');
  expect(await stop('UPSTREAM-FINISH SAFETY')).toBe('refusal');
  expect(await stop('UPSTREAM-BLOCK')).toBe('refusal');
});

test.each([false, true])('the tool runner of the SDK finishes (stream=%s)', async (stream) => {
  const runner = client.beta.messages.toolRunner({
    ...hello(MODEL, CALL_ONCE),
    stream,
    tools: [
      {
        name: WEATHER.name,
        input_schema: WEATHER.schema,
        parse: (input: unknown) => input,
        run: () => weatherIn('Paris'),
      },
    ],
  });
  expect(JSON.stringify((await runner.runUntilDone()).content)).toContain(RESULT_SEEN);
});

function user(text: string): Question {
  return { role: 'user', content: text };
}

function hello(model: string, text = 'Hello') {
  return { model, max_tokens: 500, messages: [{ role: 'user' as const, content: text }] };
}

function said(answer: Anthropic.Message): Question {
  return { role: 'assistant', content: answer.content };
}

function ask(
  stream: boolean,
  messages: Question[],
  options: Partial<Anthropic.MessageCreateParamsNonStreaming> = {},
): Promise<Anthropic.Message> {
  const body = { model: MODEL, max_tokens: 4000, tools: TOOLS, messages, ...options };
  if (!stream) return client.messages.create({ ...body, stream: false });
  return client.messages.stream({ ...body, stream: true }).finalMessage();
}

function textOf(answer: Anthropic.Message): string {
  return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function callsOf(answer: Anthropic.Message): Anthropic.ToolUseBlock[] {
  return answer.content.filter((block) => block.type === 'tool_use');
}

function resultsOf(answer: Anthropic.Message): Question {
  return {
    role: 'user',
    content: callsOf(answer).map(({ id, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: weatherIn(String(Reflect.get(Object(input), 'city'))),
    })),
  };
}
