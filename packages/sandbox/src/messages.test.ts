import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { ADA, type Reply, startTestSandbox } from './sandbox.test-support.ts';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
let client: Anthropic;

beforeAll(async () => {
  sandbox = await startTestSandbox();
  client = new Anthropic({ apiKey: ADA.key, baseURL: sandbox.url, maxRetries: 0 });
});
afterAll(() => sandbox.close());

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WEATHER = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
} as const;
const VERSION = { 'anthropic-version': '2023-06-01' };

function ask(change: JsonObject = {}): JsonObject {
  return {
    model: 'claude-sonnet-4-5',
    max_tokens: 4000,
    messages: [{ role: 'user', content: 'Hello' }],
    ...change,
  };
}

function send(body: JsonValue, headers: Record<string, string> = {}): Promise<Reply> {
  return sandbox.send('/v1/messages', { body, headers: { ...VERSION, ...headers } });
}

function says(...messages: JsonValue[]): JsonObject {
  return ask({ messages });
}

const user = (content: JsonValue): JsonObject => ({ role: 'user', content });
const assistant = (...content: JsonValue[]): JsonObject => ({ role: 'assistant', content });
const call = (id: string): JsonObject => ({
  ...{ type: 'tool_use', id, name: 'get_weather', input: {} },
});
const result = (id: string, more: JsonObject = {}): JsonObject => ({
  ...{ type: 'tool_result', tool_use_id: id, content: 'sunny', ...more },
});
const image = (source: JsonObject): JsonObject =>
  says(user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', ...source } }]));
const tool = (change: JsonObject): JsonObject => ask({ tools: [{ ...WEATHER, ...change }] });
const THINKS = { thinking: { type: 'enabled', budget_tokens: 1024 } };

const REFUSED: readonly (readonly [name: string, body: JsonObject, words: string])[] = [
  ['an unknown field', ask({ n: 1 }), 'n: Extra inputs are not permitted'],
  [
    'an unknown field of a block',
    says(user([{ type: 'text', text: 'a', foo: 1 }])),
    'messages.0.content.0.text.foo: Extra inputs are not permitted',
  ],
  ['a missing field', { ...ask(), max_tokens: undefined } as never, 'max_tokens: Field required'],
  ['a wrong type', ask({ stream: 'yes' }), 'stream: Input should be a valid boolean'],
  ['an unknown role', says({ role: 'tool', content: 'a' }), 'messages.0.role: Input should be'],
  ['an unknown block', says(user([{ type: 'video' }])), "Input tag 'video'"],
  ['no messages', ask({ messages: [] }), 'at least one message is required'],
  ['an assistant first', says(assistant({ type: 'text', text: 'a' })), 'first message must use'],
  ['an empty text', says(user([{ type: 'text', text: '' }])), 'must be non-empty'],
  ['a blank text', says(user('  ')), 'non-whitespace'],
  ['an empty content', says(user([])), 'must have non-empty content'],
  ['a call of a user', says(user([call('toolu_1')])), 'can only be in `assistant` messages'],
  ['a result of an assistant', says(user('a'), assistant(result('x'))), 'only be in `user`'],
  [
    'a call without a result',
    says(user('a'), assistant(call('toolu_1')), user('b')),
    'without `tool_result` blocks immediately after: toolu_1',
  ],
  ['a result without a call', says(user([result('toolu_1')])), 'unexpected `tool_use_id`'],
  [
    'two results of a call',
    says(user('a'), assistant(call('x')), user([result('x'), result('x')])),
    'single result',
  ],
  ['two calls of an id', says(user('a'), assistant(call('x'), call('x'))), 'ids must be unique'],
  ['an odd id', says(user('a'), assistant(call('a b'))), 'should match pattern'],
  [
    'a failed result with a picture',
    says(
      user('a'),
      assistant(call('x')),
      user([
        result('x', {
          is_error: true,
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
          ],
        }),
      ]),
    ),
    'must be type "text"',
  ],
  [
    'a made-up signature',
    says(
      user('a'),
      assistant(
        { type: 'thinking', thinking: 'hm', signature: 'abcd' },
        { type: 'text', text: 'b' },
      ),
      user('c'),
    ),
    'messages.1.content.0: Invalid `signature` in `thinking` block',
  ],
  [
    'made-up sealed thoughts',
    says(
      user('a'),
      assistant({ type: 'redacted_thinking', data: 'abcd' }, { type: 'text', text: 'b' }),
      user('c'),
    ),
    'Invalid `data`',
  ],
  ['a broken picture', image({ data: 'x' }), 'Invalid base64 data'],
  ['a picture that is none', image({ data: 'AAAA' }), 'Could not process image'],
  ['a picture of another type', image({ data: PIXEL, media_type: 'image/gif' }), 'appears to be'],
  ['a tool with a bad name', tool({ name: 'get weather' }), 'tools.0.custom.name: String should'],
  ['a tool without a type', tool({ input_schema: {} }), 'input_schema.type: Field required'],
  [
    'a tool whose schema is none',
    tool({ input_schema: { type: 'object', properties: { a: { type: 'text' } } } }),
    'JSON schema is invalid',
  ],
  ['an open strict tool', tool({ strict: true }), "'additionalProperties' must be explicitly"],
  ['two tools of a name', ask({ tools: [WEATHER, WEATHER] as never }), 'names must be unique'],
  ['a choice without tools', ask({ tool_choice: { type: 'any' } }), 'while providing tools'],
  [
    'a choice of an unknown tool',
    { ...tool({}), tool_choice: { type: 'tool', name: 'a' } },
    "Tool 'a' not found",
  ],
  ['a temperature above 1', ask({ temperature: 1.5 }), 'temperature: range: 0..1'],
  ['two samplings', ask({ temperature: 1, top_p: 1 }), 'cannot both be specified'],
  ['too long an answer', ask({ max_tokens: 64_001 }), '64001 > 64000'],
  [
    'a small budget',
    ask({ thinking: { type: 'enabled', budget_tokens: 10 } }),
    'greater than or equal to 1024',
  ],
  ['a budget above the limit', ask({ ...THINKS, max_tokens: 1024 }), 'must be greater than'],
  ['thinking with a temperature', ask({ ...THINKS, temperature: 0 }), 'may only be set to 1'],
  [
    'thinking with a forced call',
    { ...tool({}), ...THINKS, tool_choice: { type: 'any' } },
    'Thinking may not be enabled',
  ],
  ['adaptive thinking of an older model', ask({ thinking: { type: 'adaptive' } }), 'not supported'],
  [
    'a tool loop without its thought',
    { ...says(user('a'), assistant(call('x')), user([result('x')])), ...THINKS },
    'Expected `thinking` or `redacted_thinking`, but found `tool_use`',
  ],
  [
    'a prefill of a newer model',
    {
      ...says(user('a'), assistant({ type: 'text', text: 'b' })),
      model: 'claude-sonnet-4-6',
    },
    'does not support assistant message prefill',
  ],
  [
    'five cache marks',
    says(
      user(
        Array.from({ length: 5 }, () => ({
          ...{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
        })),
      ),
    ),
    'A maximum of 4 blocks',
  ],
  [
    'a field of a beta',
    ask({ output_format: { type: 'json_schema', schema: { type: 'object' } } }),
    'output_format: Extra inputs are not permitted',
  ],
  [
    'an open schema of the answer',
    ask({ output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }),
    'output_config.format.schema: For',
  ],
];

test.each(REFUSED)(
  '%s is refused with the path and the words of the wire',
  async (_, body, words) => {
    const { status, json } = await send(body);
    expect({ status, type: json.type, error: json.error }).toEqual({
      status: 400,
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(words) },
    });
  },
);

test.each([
  ['no version', {}, 400, 'anthropic-version: header is required'],
  ['an unknown version', { 'anthropic-version': '2020-01-01' }, 400, 'not a valid version'],
  ['an odd beta', { ...VERSION, 'anthropic-beta': 'New!' }, 400, 'Unexpected value'],
  ['a wrong key', { ...VERSION, authorization: 'Bearer no' }, 401, 'not valid'],
])('%s is refused', async (_, headers, status, words) => {
  const reply = await sandbox.send('/v1/messages', { body: ask(), headers });
  expect({ status: reply.status, text: reply.text }).toEqual({
    status,
    text: expect.stringContaining(words),
  });
});

test('an empty enum is a schema, though no value fits it', async () => {
  const properties = { a: { type: 'string', enum: [] } };
  const taken = await send(tool({ input_schema: { type: 'object', properties } }));
  expect(taken.status, taken.text).toBe(200);
});

test('a history in which the service ran a program is taken', async () => {
  const ran = { type: 'bash_code_execution_result', stdout: '37170', stderr: '', return_code: 0 };
  const reply = await send(
    says(
      user('How much is 3 * 12390?'),
      assistant(
        {
          ...{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'bash_code_execution' },
          input: { command: 'echo $((3 * 12390))' },
        },
        {
          ...{ type: 'bash_code_execution_tool_result', tool_use_id: 'srvtoolu_1' },
          content: { ...ran, content: [] },
        },
        { type: 'text', text: '37170' },
      ),
      user('Hello'),
    ),
  );
  expect(reply.status).toBe(200);
});

test('an unknown model is a 404', async () => {
  const { status, json } = await send(ask({ model: 'claude-9' }));
  expect({ status, error: json.error }).toEqual({
    status: 404,
    error: { type: 'not_found_error', message: 'model: claude-9' },
  });
});

test('the official client reads a text, whole and streamed', async () => {
  const params = { model: 'claude-haiku-4-5', max_tokens: 500 } as const;
  const messages = [{ role: 'user' as const, content: 'SAY-TEXT Good day' }];
  const whole = await client.messages.create({ ...params, messages });
  const streamed = await client.messages.stream({ ...params, messages }).finalMessage();
  for (const { content, stop_reason, usage } of [whole, streamed]) {
    expect(content).toMatchObject([{ type: 'text', text: 'Good day' }]);
    expect({ stop_reason, output: usage.output_tokens }).toEqual({
      stop_reason: 'end_turn',
      output: 2,
    });
  }
});

test('thoughts and calls go round through the official client, in stream and whole', async () => {
  const params: Anthropic.MessageCreateParamsNonStreaming = {
    ...{ model: 'claude-haiku-4-5', max_tokens: 4000, tools: [WEATHER] },
    thinking: { type: 'enabled', budget_tokens: 1024 },
    messages: [
      {
        role: 'user',
        content: 'CALL-TOOL get_weather {"city":"Oslo"} CALL-TOOL get_weather {"city":"Rome"}',
      },
    ],
  };
  for (const first of [
    await client.messages.create(params),
    await client.messages.stream(params).finalMessage(),
  ]) {
    expect(first.stop_reason).toBe('tool_use');
    expect(first.content).toMatchObject([
      { type: 'thinking', thinking: expect.stringContaining('within 1024 tokens') },
      { type: 'tool_use', input: { city: 'Oslo' } },
      { type: 'tool_use', input: { city: 'Rome' } },
    ]);
    const results = first.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'NONCE-1' }]
        : [],
    );
    const second = await client.messages.create({
      ...params,
      messages: [
        ...params.messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: results },
      ],
    });
    expect(second.content.at(-1)).toMatchObject({
      text: 'TOOL-RESULT-SEEN: NONCE-1 NONCE-1',
    });
  }
});

const PROVIDER_TOOLS: readonly Anthropic.ToolUnion[] = [
  {
    ...({ type: 'web_search_20260318', name: 'web_search' } as const),
    ...({ allowed_callers: ['direct'], response_inclusion: 'excluded' } as const),
  },
  {
    ...({ type: 'web_fetch_20260318', name: 'web_fetch', use_cache: false } as const),
    ...({ max_content_tokens: 100, response_inclusion: 'full' } as const),
  },
  { type: 'code_execution_20260521', name: 'code_execution' },
  { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
  { type: 'tool_search_tool_bm25', name: 'tool_search_tool_bm25' },
  { type: 'text_editor_20250429', name: 'str_replace_based_edit_tool' },
];

test.each(PROVIDER_TOOLS)('the tool $type of the provider is known', async (tool) => {
  const { status, text } = await send(ask({ tools: [{ ...tool }] as JsonValue[] }));
  expect({ status, text }).toMatchObject({ status: 200 });
});

test('a search is run by the provider, and its results come back only as they were', async () => {
  const params = {
    ...{ model: 'claude-haiku-4-5', max_tokens: 1000 },
    tools: [{ type: 'web_search_20250305' as const, name: 'web_search' as const }],
  };
  const question = { role: 'user' as const, content: 'What is new?' };
  const { content, usage } = await client.messages.create({ ...params, messages: [question] });
  expect(content.map(({ type }) => type)).toEqual([
    ...['server_tool_use', 'web_search_tool_result', 'text'],
  ]);
  expect(usage.server_tool_use?.web_search_requests).toBe(1);
  const goOn = (answer: unknown): JsonObject => ({
    ...params,
    messages: [question, { role: 'assistant', content: answer as JsonValue }, question],
  });
  expect((await send(goOn(content))).status).toBe(200);
  const moved = JSON.parse(JSON.stringify(content).replaceAll('www.example.com', 'evil.example'));
  expect((await send(goOn(moved))).text).toContain('Invalid `encrypted_content`');
});

test('pictures, documents and results with pictures arrive', async () => {
  const picture = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: PIXEL },
  };
  const note = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'A note' },
  };
  expect((await send(says(user([picture, note])))).text).toContain('image/png 1x1');
  const { text } = await send(
    says(user('a'), assistant(call('x')), user([result('x', { content: [picture] })])),
  );
  expect(text).toContain('image/png 1x1');
});

test('a schema is answered with JSON, a forced tool with a call, serial calls with one', async () => {
  const schema = {
    ...{ type: 'object', additionalProperties: false, required: ['city'] },
    properties: { city: { type: 'string' } },
  };
  const formatted = await send(ask({ output_config: { format: { type: 'json_schema', schema } } }));
  expect(formatted.text).toContain('{\\"city\\":\\"HELLO-FROM-UPSTREAM\\"}');
  const forced = await send({ ...tool({}), tool_choice: { type: 'any' } });
  expect(forced.json).toMatchObject({ stop_reason: 'tool_use' });
  const two = 'CALL-TOOL get_weather {} CALL-TOOL get_weather {}';
  const serial = await send({
    ...tool({}),
    messages: [user(two)],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  });
  expect(serial.json.content).toHaveLength(1);
});

test('what is marked is cached, and read by a request that begins alike', async () => {
  const system = [
    { type: 'text', text: 'word '.repeat(2000), cache_control: { type: 'ephemeral' } },
  ];
  const usageOf = async (): Promise<JsonValue | undefined> =>
    (await send(ask({ system, model: 'claude-opus-4-5' }))).json.usage;
  expect(await usageOf()).toMatchObject({
    ...{ cache_creation_input_tokens: 2500, cache_read_input_tokens: 0, input_tokens: 2 },
  });
  expect(await usageOf()).toMatchObject({
    ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 2500, input_tokens: 2 },
  });
  sandbox.clock.advance(6 * 60_000);
  expect(await usageOf()).toMatchObject({ cache_creation_input_tokens: 2500 });
});

test('the count is what an answer is billed', async () => {
  const { max_tokens: _limit, ...body } = ask({ system: 'Be brief.' });
  const { json } = await sandbox.send('/v1/messages/count_tokens', { body, headers: VERSION });
  const { json: answer } = await send(ask({ system: 'Be brief.' }));
  const usage = isJsonObject(answer.usage) ? answer.usage : {};
  expect(json).toEqual({ input_tokens: usage.input_tokens });
});

test.each([
  ['UPSTREAM-FINISH MAX_TOKENS', { stop_reason: 'max_tokens' }],
  ['UPSTREAM-FINISH pause_turn', { stop_reason: 'pause_turn' }],
  ['UPSTREAM-BLOCK', { stop_reason: 'refusal', content: [] }],
  ['UPSTREAM-STATUS 529', { error: { type: 'overloaded_error' } }],
  ['UPSTREAM-TOO-LONG', { error: { message: expect.stringContaining('prompt is too long') } }],
])('%s is done', async (words, expected) => {
  expect((await send(says(user(words)))).json).toMatchObject(expected);
});

test('a stop sequence ends the text and is named', async () => {
  const { json } = await send({ ...says(user('SAY-TEXT one two')), stop_sequences: ['two'] });
  expect(json).toMatchObject({
    ...{ stop_reason: 'stop_sequence', stop_sequence: 'two' },
    content: [{ text: 'one ' }],
  });
});

test('a stream breaks off, falls silent, or ends in an error as told', async () => {
  const stream = (words: string) =>
    client.messages
      .stream({
        ...{ model: 'claude-haiku-4-5', max_tokens: 500 },
        messages: [{ role: 'user', content: words }],
      })
      .finalMessage();
  await expect(stream('UPSTREAM-CUT')).rejects.toThrow();
  await expect(stream('UPSTREAM-ERROR')).rejects.toThrow('The sandbox was told to answer');
  const gone = new AbortController();
  const response = await fetch(`${sandbox.url}/v1/messages`, {
    method: 'POST',
    headers: { ...VERSION, 'x-api-key': ADA.key, 'content-type': 'application/json' },
    body: JSON.stringify({ ...says(user('UPSTREAM-HANG')), stream: true }),
    signal: gone.signal,
  });
  const reader = response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('message_start');
  gone.abort();
  await expect(reader?.closed).rejects.toThrow();
});

test('a used-up quota is a rate-limit error with its headers', async () => {
  await sandbox.send('/sandbox/quota', {
    body: { account: ADA.email, model: 'claude-opus-4-6', remaining: 0 },
  });
  const body = JSON.stringify(ask({ model: 'claude-opus-4-6' }));
  const response = await fetch(`${sandbox.url}/v1/messages`, {
    method: 'POST',
    headers: { ...VERSION, 'x-api-key': ADA.key, 'content-type': 'application/json' },
    body,
  });
  const error = await response.json();
  expect(error).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'anthropic-ratelimit-requests-remaining': '0',
    'retry-after': expect.stringMatching(/^\d+$/),
    'x-should-retry': 'false',
  });
});

test('the models of the wire are listed for who asks in its version', async () => {
  const ids: string[] = [];
  for await (const { id } of client.models.list({ limit: 2 })) ids.push(id);
  expect(ids).toEqual([
    ...['claude-haiku-4-5', 'claude-sonnet-4-5', 'claude-opus-4-5'],
    ...['claude-sonnet-4-6', 'claude-opus-4-6'],
  ]);
  expect((await client.models.retrieve('claude-opus-4-6')).max_tokens).toBe(128_000);
});
