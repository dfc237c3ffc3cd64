// The official client of Chat Completions against the whole gateway.

import OpenAI, {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
} from 'openai';
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

type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Answer = OpenAI.Chat.ChatCompletion;

let app: TestApp;
let client: OpenAI;

beforeAll(async () => {
  app = await startApp({ environment: STRICT });
  client = clientWith(KEY);
});
afterAll(() => app.close());

const MODEL = 'alpha-3-flash';
const TOOLS: OpenAI.Chat.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: WEATHER.name,
      description: WEATHER.description,
      parameters: { ...WEATHER.schema, additionalProperties: false },
      strict: true,
    },
  },
];

test('a plain question is answered, with usage', async () => {
  const answer = await client.chat.completions.create({
    model: MODEL,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Good day' },
    ],
  });
  const [choice] = answer.choices;
  expect(choice?.message.content).toContain(GREETING);
  expect(choice?.message.content).toContain('"Good day"');
  expect(choice?.message.content).toContain('beginning "Be brief."');
  expect(choice?.finish_reason).toBe('stop');
  expect(answer.model).toBe(MODEL);
  expect(answer.usage?.total_tokens).toBeGreaterThan(0);
  expect(answer._request_id).toMatch(/^req_/);
});

test('V092 a stream says the same, with usage in its last chunk alone', async () => {
  const chunks = await Array.fromAsync(
    await client.chat.completions.create({
      model: MODEL,
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'Good day' }],
    }),
  );
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  expect(text).toContain(GREETING);
  expect(text).toContain('"Good day"');
  expect(chunks.filter((chunk) => chunk.usage != null)).toEqual([chunks.at(-1)]);
  expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason === 'stop')).toHaveLength(1);
});

describe.each([false, true])('with stream=%s', (stream) => {
  test('a tool loop of two turns ends with the result', async () => {
    const messages: Message[] = [{ role: 'user', content: CALL_ONCE }];
    const first = await ask(stream, messages);
    const message = firstMessage(first);
    const [call] = callsOf(message);
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    expect(call?.function).toMatchObject({ name: 'weather', arguments: '{"city":"Paris"}' });
    const second = await ask(stream, [...messages, message, ...resultsOf(message)]);
    expect(firstMessage(second).content).toContain(`${RESULT_SEEN}: ${weatherIn('Paris')}`);
  });

  test('P001 a client that keeps only ids and names does the tool loop too', async () => {
    const question: Message = { role: 'user', content: CALL_ONCE };
    const message = firstMessage(await ask(stream, [question]));
    const bare: Message = {
      role: 'assistant',
      tool_calls: callsOf(message).map(({ id, function: called }) => ({
        id,
        type: 'function',
        function: { name: called.name, arguments: called.arguments },
      })),
    };
    const answer = await ask(stream, [question, bare, ...resultsOf(message)]);
    expect(firstMessage(answer).content).toContain(RESULT_SEEN);
  });

  test('P047 parallel calls stay apart and may be answered in any order', async () => {
    const question: Message = { role: 'user', content: CALL_TWICE };
    const message = firstMessage(await ask(stream, [question]));
    const calls = callsOf(message);
    expect(calls.map((call) => call.function.arguments)).toEqual([
      '{"city":"Paris"}',
      '{"city":"Oslo"}',
    ]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    const answer = await ask(stream, [question, message, ...resultsOf(message).reverse()]);
    expect(firstMessage(answer).content).toContain(weatherIn('Paris'));
    expect(firstMessage(answer).content).toContain(weatherIn('Oslo'));
  });

  test('a picture arrives whole', async () => {
    const answer = await ask(stream, [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
    ]);
    expect(firstMessage(answer).content).toContain(PNG_REPORT);
  });

  test('V085 a JSON schema is honoured', async () => {
    const answer = await ask(stream, [{ role: 'user', content: 'As JSON' }], {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'weather', schema: WEATHER.schema, strict: true },
      },
    });
    const parsed: unknown = JSON.parse(firstMessage(answer).content ?? '');
    expect(parsed).toEqual({ city: expect.any(String) });
  });
});

test('V094 thoughts come as reasoning_content, never as content', async () => {
  const body = { ...hello(MODEL, 'Think first'), reasoning_effort: 'high' as const };
  const answer = await client.chat.completions.create(body);
  const message = firstMessage(answer);
  expect(Reflect.get(message, 'reasoning_content')).toContain('Reading the request');
  expect(message.content).not.toContain('Reading the request');
  expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);

  const chunks = await Array.fromAsync(
    await client.chat.completions.create({ ...body, stream: true }),
  );
  const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
  const thoughts = deltas.map((delta) => Reflect.get(delta, 'reasoning_content') ?? '').join('');
  expect(thoughts).toBe(Reflect.get(message, 'reasoning_content'));
  expect(deltas.map((delta) => delta.content ?? '').join('')).toBe(message.content);
});

test('a wrong key is an AuthenticationError', async () => {
  await expect(clientWith('sk-wrong').models.list()).rejects.toThrow(AuthenticationError);
  const failed = clientWith('sk-wrong').chat.completions.create(hello(MODEL));
  await expect(failed).rejects.toMatchObject({
    constructor: AuthenticationError,
    code: 'invalid_api_key',
  });
});

test('an unknown model is a NotFoundError', async () => {
  const failed = client.chat.completions.create(hello('no-such-model'));
  await expect(failed).rejects.toMatchObject({
    constructor: NotFoundError,
    code: 'model_not_found',
    param: 'model',
  });
});

test('a wrong field is a BadRequestError that names it', async () => {
  const failed = client.chat.completions.create({ ...hello(MODEL), temperature: 9 });
  await expect(failed).rejects.toMatchObject({
    constructor: BadRequestError,
    param: 'temperature',
  });
});

test('the model list and a single model', async () => {
  const ids = (await Array.fromAsync(client.models.list())).map((model) => model.id);
  expect(ids).toContain(MODEL);
  expect(ids).toEqual([...ids].sort());
  expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model' });
  const named = `google/${MODEL}`;
  expect(await client.models.retrieve(named)).toMatchObject({ id: named, object: 'model' });
  await expect(client.models.retrieve('no-such-model')).rejects.toThrow(NotFoundError);
  await expect(client.models.retrieve('no/such/model')).rejects.toThrow(NotFoundError);
});

test('P081 a stream the upstream cuts ends in an error, not in a short success', async () => {
  const read = async (): Promise<void> => {
    const stream = await client.chat.completions.create({
      ...hello(MODEL, 'UPSTREAM-CUT'),
      stream: true,
    });
    for await (const chunk of stream) expect(chunk.choices[0]?.finish_reason ?? null).toBeNull();
  };
  await expect(read()).rejects.toThrow(OpenAI.APIError);
});

test('P081 a whole answer the upstream cuts every time is an error', async () => {
  const failed = client.chat.completions.create(hello(MODEL, 'UPSTREAM-CUT'));
  await expect(failed).rejects.toThrow(InternalServerError);
});

test('V090 finish reasons keep their meaning', async () => {
  const finish = async (marker: string): Promise<string | undefined> =>
    (await client.chat.completions.create(hello(MODEL, marker))).choices[0]?.finish_reason;
  expect(await finish('UPSTREAM-FINISH MAX_TOKENS')).toBe('length');
  expect(await finish('UPSTREAM-FINISH SAFETY')).toBe('content_filter');
  expect(await finish('UPSTREAM-BLOCK')).toBe('content_filter');
});

function clientWith(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${app.url}/v1`, maxRetries: 0 });
}

function hello(model: string, content = 'Hello') {
  return { model, messages: [{ role: 'user' as const, content }] };
}

/** One question, whole or collected from its stream by the SDK itself. */
function ask(
  stream: boolean,
  messages: Message[],
  options: Partial<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming> = {},
): Promise<Answer> {
  const body = { model: MODEL, messages, tools: TOOLS, ...options };
  if (!stream) return client.chat.completions.create({ ...body, stream: false });
  return client.chat.completions
    .stream({ ...body, stream: true, stream_options: { include_usage: true } })
    .finalChatCompletion();
}

function firstMessage(answer: Answer): OpenAI.Chat.ChatCompletionMessage {
  const message = answer.choices[0]?.message;
  if (message === undefined) throw new Error('The answer has no choice.');
  return message;
}

function callsOf(message: OpenAI.Chat.ChatCompletionMessage) {
  return (message.tool_calls ?? []).filter((call) => call.type === 'function');
}

function resultsOf(message: OpenAI.Chat.ChatCompletionMessage): Message[] {
  return callsOf(message).map((call) => {
    const { city }: { city: string } = JSON.parse(call.function.arguments);
    return { role: 'tool', tool_call_id: call.id, content: weatherIn(city) };
  });
}
