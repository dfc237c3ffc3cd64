import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from './json.ts';
import { ADA, type Reply, startTestSandbox } from './sandbox.test-support.ts';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
let client: OpenAI;

beforeAll(async () => {
  sandbox = await startTestSandbox();
  client = new OpenAI({ apiKey: ADA.key, baseURL: `${sandbox.url}/v1`, maxRetries: 0 });
});
afterAll(() => sandbox.close());

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const WEATHER = {
  type: 'function',
  function: { name: 'get_weather', parameters: PARAMETERS },
} as const;

function ask(change: JsonObject = {}): JsonObject {
  return { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }], ...change };
}

function send(body: JsonValue): Promise<Reply> {
  return sandbox.send('/v1/chat/completions', { body });
}

const user = (content: JsonValue): JsonObject => ({ role: 'user', content });
const says = (...messages: JsonValue[]): JsonObject => ask({ messages });
const calls = (...ids: string[]): JsonObject => ({
  role: 'assistant',
  tool_calls: ids.map((id) => ({
    ...{ id, type: 'function', function: { name: 'get_weather', arguments: '{}' } },
  })),
});
const result = (id: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: 'sunny' });
const tool = (change: JsonObject): JsonObject =>
  ask({ tools: [{ type: 'function', function: { ...WEATHER.function, ...change } }] });
const picture = (url: string): JsonObject =>
  says(user([{ type: 'image_url', image_url: { url } }]));
const formatted = (change: JsonObject): JsonObject =>
  ask({ response_format: { type: 'json_schema', json_schema: { name: 'a', ...change } } });

type Refused = readonly [name: string, body: JsonObject, param: string | null, words: string];

const REFUSED: readonly Refused[] = [
  ['an unknown argument', ask({ top_k: 1 }), null, 'Unrecognized request argument supplied: top_k'],
  [
    'an unknown parameter inside',
    says({ ...user('a'), foo: 1 }),
    'messages[0].foo',
    "Unknown parameter: 'messages[0].foo'.",
  ],
  ['no model', { messages: [] }, null, 'you must provide a model parameter'],
  ['no messages', { model: 'gpt-4.1' }, 'messages', 'Missing required parameter'],
  ['an empty list of messages', says(), 'messages', 'empty array'],
  ['a wrong type', ask({ stream: 'yes' }), 'stream', 'expected a boolean, but got a string'],
  [
    'an unknown role',
    says({ role: 'model', content: 'a' }),
    'messages[0]',
    "Invalid value: 'model'",
  ],
  [
    'a role that is no word',
    says({ role: { a: 1 }, content: 'a' }),
    'messages[0]',
    `Invalid value: '{"a":1}'`,
  ],
  ['a number above its range', ask({ temperature: 3 }), 'temperature', 'decimal above maximum'],
  ['five stops', ask({ stop: ['1', '2', '3', '4', '5'] }), 'stop', 'array too long'],
  [
    'an assistant that says nothing',
    says(user('a'), { role: 'assistant', content: null }),
    'messages.[1].content',
    'expected a string, got null',
  ],
  [
    'a call without a result',
    says(user('a'), calls('x'), user('b')),
    'messages.[2].role',
    'did not have response messages: x',
  ],
  ['a result without a call', says(result('x')), 'messages.[0].role', 'preceeding message'],
  [
    'a result of another call',
    says(user('a'), calls('x'), result('y')),
    'messages.[2].tool_call_id',
    'not found',
  ],
  [
    'two results of a call',
    says(user('a'), calls('x', 'y'), result('x'), result('x')),
    'messages.[3].tool_call_id',
    'Duplicate',
  ],
  [
    'two calls of an id',
    says(user('a'), calls('x', 'x')),
    'messages[1].tool_calls[1].id',
    'Duplicate',
  ],
  [
    'too long an id',
    says(user('a'), calls('x'.repeat(41))),
    'messages[1].tool_calls[0].id',
    'string too long',
  ],
  ['a bad address', picture('ftp://a'), 'messages[0].content[0].image_url.url', 'valid URL'],
  [
    'broken base64',
    picture('data:image/png;base64,x'),
    'messages[0].content[0].image_url.url',
    'Invalid base64',
  ],
  ['a picture that is none', picture('data:image/png;base64,AAAA'), null, 'unsupported image'],
  [
    'a file without its type',
    says(user([{ type: 'file', file: { file_data: 'AAAA' } }])),
    'messages[0].content[0].file.file_data',
    'data URL',
  ],
  ['a bad name', tool({ name: 'a b' }), 'tools[0].function.name', 'does not match pattern'],
  [
    'parameters without a type',
    tool({ parameters: {} }),
    'tools[0].function.parameters',
    'got \'type: "None"\'',
  ],
  [
    'a list without items',
    tool({ parameters: { type: 'object', properties: { a: { type: 'array' } } } }),
    'tools[0].function.parameters',
    'array schema missing items',
  ],
  ['an open strict tool', tool({ strict: true }), 'tools[0].function.parameters', 'additional'],
  ['a choice without tools', ask({ tool_choice: 'auto' }), 'tool_choice', "'tools' are specified"],
  [
    'a choice of an unknown tool',
    { ...tool({}), tool_choice: { type: 'function', function: { name: 'a' } } },
    'tool_choice',
    "Tool choice 'a' not found",
  ],
  [
    'parallel calls without tools',
    ask({ parallel_tool_calls: false }),
    'parallel_tool_calls',
    'only allowed',
  ],
  [
    'stream options without a stream',
    ask({ stream_options: { include_usage: true } }),
    'stream_options',
    "'stream' is enabled",
  ],
  ['top_logprobs alone', ask({ top_logprobs: 1 }), 'top_logprobs', "'logprobs' is enabled"],
  ['metadata without storing', ask({ metadata: { a: 'b' } }), 'metadata', "'store' is enabled"],
  [
    'both limits',
    ask({ max_tokens: 1, max_completion_tokens: 1 }),
    'max_tokens',
    'at the same time',
  ],
  ['a limit beyond the model', ask({ max_tokens: 200_000 }), 'max_tokens', 'too large'],
  [
    'a temperature for a model that reasons',
    ask({ model: 'gpt-5', temperature: 0.5 }),
    'temperature',
    'Only the default (1)',
  ],
  [
    'max_tokens for a model that reasons',
    ask({ model: 'gpt-5', max_tokens: 5 }),
    'max_tokens',
    "Use 'max_completion_tokens'",
  ],
  ['an effort for another', ask({ reasoning_effort: 'low' }), null, 'reasoning_effort'],
  ['json without the word', ask({ response_format: { type: 'json_object' } }), 'messages', 'json'],
  ['a format without a schema', formatted({}), 'response_format.json_schema.schema', 'Missing'],
  [
    'a lax strict schema',
    formatted({ strict: true, schema: { ...PARAMETERS, additionalProperties: false } }),
    'response_format',
    "Missing 'city'",
  ],
  [
    'reasoning that was not issued here',
    {
      ...says(user('a'), { role: 'assistant', content: 'b', reasoning_content: 'hm' }, user('c')),
      model: 'gpt-oss-120b',
    },
    'messages[1].reasoning_content',
    'not issued here',
  ],
  [
    'a tool loop without its reasoning',
    { ...says(user('a'), calls('x'), result('x')), model: 'deepseek-reasoner' },
    null,
    'Missing `reasoning_content`',
  ],
];

test.each(REFUSED)(
  '%s is refused with the parameter and the words of the wire',
  async (_, body, param, words) => {
    const { status, json } = await send(body);
    expect({ status, error: json.error }).toMatchObject({
      status: 400,
      error: { type: 'invalid_request_error', message: expect.stringContaining(words), param },
    });
  },
);

test('a format that is null is none, as the real service takes it', async () => {
  expect((await send(ask({ response_format: null }))).status).toBe(200);
});

test('an unknown model is a 404, a wrong key a 401', async () => {
  const unknown = await send(ask({ model: 'gpt-9' }));
  expect(unknown).toMatchObject({ status: 404, json: { error: { code: 'model_not_found' } } });
  const headers = { authorization: 'Bearer no' };
  const wrong = await sandbox.send('/v1/chat/completions', { body: ask(), headers });
  expect(wrong).toMatchObject({ status: 401, json: { error: { code: 'invalid_api_key' } } });
});

test('the official client reads a text, whole and streamed, with its usage', async () => {
  const params = {
    model: 'gpt-4.1',
    messages: [{ role: 'user' as const, content: 'SAY-TEXT Good day' }],
  };
  const whole = await client.chat.completions.create(params);
  const streamed = await client.chat.completions
    .stream({ ...params, stream_options: { include_usage: true } })
    .finalChatCompletion();
  for (const { choices, usage } of [whole, streamed]) {
    expect(choices[0]).toMatchObject({
      ...{ finish_reason: 'stop', message: { role: 'assistant', content: 'Good day' } },
    });
    expect(usage).toMatchObject({ completion_tokens: 2, prompt_tokens: 5, total_tokens: 7 });
  }
});

test('calls go round through the official client, in stream and whole', async () => {
  const params = {
    ...{ model: 'gpt-5', tools: [WEATHER] },
    messages: [
      {
        role: 'user' as const,
        content: 'CALL-TOOL get_weather {"city":"Oslo"} CALL-TOOL get_weather {"city":"Rome"}',
      },
    ],
  };
  for (const { choices } of [
    await client.chat.completions.create(params),
    await client.chat.completions.stream(params).finalChatCompletion(),
  ]) {
    const [choice] = choices;
    const issued = choice?.message.tool_calls ?? [];
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(issued).toMatchObject([
      { function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
      { function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
    ]);
    const second = await client.chat.completions.create({
      ...params,
      messages: [
        ...params.messages,
        { role: 'assistant', tool_calls: issued },
        ...issued.map(({ id }) => ({
          ...{ role: 'tool' as const, tool_call_id: id, content: 'NONCE-1' },
        })),
      ],
    });
    expect(second.choices[0]?.message.content).toBe('TOOL-RESULT-SEEN: NONCE-1 NONCE-1');
    expect(second.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
  }
});

test('reasoning is shown by models that show it, and taken back as it was', async () => {
  const asked = {
    ...{ model: 'deepseek-reasoner', tools: [WEATHER] },
    messages: [user('CALL-TOOL get_weather {}')],
  };
  const { json } = await send(asked as never);
  const message = (json as { choices?: { message: JsonObject }[] }).choices?.[0]?.message ?? {};
  expect(message.reasoning_content).toContain('Reading the request');
  const { refusal: _none, ...said } = message;
  const [issued] = (message as { tool_calls?: { id: string }[] }).tool_calls ?? [];
  const back = (change: JsonObject): Promise<Reply> =>
    send({
      ...asked,
      messages: [...asked.messages, { ...said, ...change }, result(issued?.id ?? '')],
    } as never);
  expect((await back({})).status).toBe(200);
  const changed = `${String(said.reasoning_content).replace('Reading', 'Changing')}`;
  expect((await back({ reasoning_content: changed })).text).toContain('not issued here');
});

test('a picture arrives', async () => {
  expect((await send(picture(`data:image/png;base64,${PIXEL}`))).text).toContain('image/png 1x1');
});

test('formats, forced, serial and free-text tools are honoured', async () => {
  const schema = { ...PARAMETERS, additionalProperties: false, required: ['city'] };
  expect((await send(formatted({ strict: true, schema }))).text).toContain(
    '{\\"city\\":\\"HELLO-FROM-UPSTREAM\\"}',
  );
  const required = await send({ ...tool({}), tool_choice: 'required' });
  expect(required.text).toContain('"finish_reason":"tool_calls"');
  const two = [user('CALL-TOOL get_weather {} CALL-TOOL get_weather {}')];
  const serial = await send({ ...tool({}), messages: two, parallel_tool_calls: false });
  expect(serial.text.match(/"id":"call_/g)).toHaveLength(1);
  const free = await send(
    ask({
      messages: [user('CALL-TOOL patch {"input":"*** a"}')],
      tools: [{ type: 'custom', custom: { name: 'patch' } }],
    }),
  );
  expect(free.text).toContain('"custom":{"name":"patch","input":"*** a"}');
});

test('several answers and logprobs come as asked', async () => {
  const { json } = await send(ask({ n: 2, logprobs: true, top_logprobs: 1 }));
  const logprobs = { content: expect.arrayContaining([expect.objectContaining({ logprob: 0 })]) };
  expect(json.choices).toMatchObject([
    { index: 0, logprobs },
    { index: 1, logprobs },
  ]);
});

test('a long beginning that was seen before counts as cached', async () => {
  const body = ask({ messages: [user('word '.repeat(2000)), user('a')], model: 'gpt-4o' });
  await send(body);
  expect((await send(body)).json.usage).toMatchObject({
    prompt_tokens_details: { cached_tokens: 2501 },
  });
});

test.each([
  ['UPSTREAM-FINISH length', { choices: [{ finish_reason: 'length' }] }],
  ['UPSTREAM-BLOCK', { choices: [{ finish_reason: 'content_filter' }] }],
  ['UPSTREAM-REFUSE', { choices: [{ message: { refusal: expect.any(String) } }] }],
  ['UPSTREAM-STATUS 503', { error: { code: 'server_is_overloaded' } }],
  ['UPSTREAM-QUOTA', { error: { code: 'insufficient_quota' } }],
  ['UPSTREAM-TOO-LONG', { error: { code: 'context_length_exceeded' } }],
])('%s is done', async (words, expected) => {
  expect((await send(says(user(words)))).json).toMatchObject(expected);
});

test('a stream breaks off or ends in an error as told', async () => {
  const stream = (content: string) =>
    client.chat.completions
      .stream({ model: 'gpt-4.1', messages: [{ role: 'user', content }] })
      .finalChatCompletion();
  await expect(stream('UPSTREAM-CUT')).rejects.toThrow();
  await expect(stream('UPSTREAM-ERROR')).rejects.toThrow('The sandbox was told to answer');
});

test('a used-up quota has its code and headers', async () => {
  await sandbox.send('/sandbox/quota', {
    body: { account: ADA.email, model: 'gpt-4o-mini', remaining: 0 },
  });
  const response = await fetch(`${sandbox.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADA.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(ask({ model: 'gpt-4o-mini' })),
  });
  expect(response.status).toBe(429);
  expect(await response.json()).toMatchObject({ error: { code: 'insufficient_quota' } });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'x-ratelimit-remaining-requests': '0',
    'x-should-retry': 'false',
  });
});

test('texts become vectors, also in base64, which the official client reads', async () => {
  const params = { model: 'text-embedding-3-small', input: ['a cat', 'a cat', 'tax law'] };
  const { data, usage } = await client.embeddings.create(params);
  const plain = await client.embeddings.create({ ...params, encoding_format: 'float' });
  const [first, second] = data;
  expect(first?.embedding).toEqual(second?.embedding);
  expect(plain.data[2]?.embedding).toHaveLength(1536);
  expect(first?.embedding[0]).toBeCloseTo(plain.data[0]?.embedding[0] ?? 9, 5);
  expect(usage.total_tokens).toBe(6);
  const wide = await sandbox.send('/v1/embeddings', { body: { ...params, dimensions: 2000 } });
  expect(wide).toMatchObject({ status: 400, json: { error: { param: 'dimensions' } } });
});

test('the models of the wire are listed for who asks no other wire', async () => {
  const { data } = await client.models.list();
  expect(data.map(({ id }) => id)).toContain('gpt-oss-120b');
  expect((await client.models.retrieve('gpt-5')).owned_by).toBe('sandbox');
  const keyed = await sandbox.send('/v1/models', { headers: { 'x-vendora-api-key': ADA.key } });
  expect(keyed.text).toContain('models/alpha-3-flash');
});
