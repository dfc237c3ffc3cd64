// The official clients of all three protocols against an upstream of the Chat Completions wire, over real sockets.

import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { objectsOf } from '../../src/lib/read-values.ts';
import { createChatUpstream } from '../../src/upstreams/chat/index.ts';
import { createCompatibleProfile, createOpenAiProfile } from '../../src/upstreams/chat/profiles.ts';
import {
  type ChatUpstreamReply,
  type FakeChatUpstream,
  startChatUpstream,
} from '../support/chat-upstream.ts';
import { createMiddayClock } from '../support/midday-clock.ts';
import { PNG } from '../support/prompts.ts';
import {
  GATEWAY_KEY,
  startGatewayOver,
  type UpstreamGateway,
} from '../support/upstream-gateway.ts';

const MODEL = 'gpt-4o';
const REASONER = 'gpt-5';
const THINKER = 'deepseek-reasoner';

let upstream: FakeChatUpstream;
let gateway: UpstreamGateway;
/** Over the same upstream, with the quirks of one that wants its thoughts back. */
let thinking: UpstreamGateway;
/** Over the same upstream, as one that names no reason for the end of an answer. */
let unnamed: UpstreamGateway;

beforeAll(async () => {
  upstream = await startChatUpstream([MODEL, REASONER, THINKER, 'text-embedding-3-small']);
  const clock = createMiddayClock();
  const profile = createOpenAiProfile({ baseUrl: upstream.url });
  gateway = await startGatewayOver(createChatUpstream({ profile, clock }), clock);
  const compatible = createCompatibleProfile({
    baseUrl: upstream.url,
    quirks: {
      preset: 'deepseek',
      limitField: 'max_completion_tokens',
      effort: 'field',
      efforts: ['low', 'high'],
    },
  });
  thinking = await startGatewayOver(createChatUpstream({ profile: compatible, clock }), clock);
  const unnaming = createCompatibleProfile({
    baseUrl: upstream.url,
    quirks: { namesEnds: false, limitField: 'max_completion_tokens' },
  });
  unnamed = await startGatewayOver(createChatUpstream({ profile: unnaming, clock }), clock);
});

afterAll(async () => {
  await gateway.close();
  await thinking.close();
  await unnamed.close();
  await upstream.close();
});

beforeEach(() =>
  upstream.answer(() => ({ kind: 'message', message: { content: 'Good answer.' } })),
);

const openai = (to = gateway) =>
  new OpenAI({ apiKey: GATEWAY_KEY, baseURL: `${to.url}/v1`, maxRetries: 0 });
const anthropic = (to = gateway) =>
  new Anthropic({ apiKey: GATEWAY_KEY, baseURL: to.url, maxRetries: 0 });
const genai = (to = gateway) =>
  new GoogleGenAI({ apiKey: GATEWAY_KEY, httpOptions: { baseUrl: to.url } });

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
  },
};
const CALL = {
  id: 'call_7',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Oslo"}' },
};
const CALLING: JsonObject = { content: null, tool_calls: [CALL] };

/** The call first, then the answer to its result. */
function toolLoop({ messages }: JsonObject): ChatUpstreamReply {
  const isAnswered = JSON.stringify(messages).includes('"role":"tool"');
  return { kind: 'message', message: isAnswered ? { content: 'Rainy.' } : CALLING };
}

test('a chat request is relayed: what the client sent goes up, what the upstream said comes back', async () => {
  const completion = await openai().chat.completions.create(
    {
      model: MODEL,
      max_tokens: 50,
      messages: [{ role: 'user', content: 'hello there' }],
    },
    { headers: { 'x-title': 'app' } },
  );
  expect(completion).toMatchObject({
    id: 'chatcmpl-1',
    model: 'served-model',
    choices: [{ message: { content: 'Good answer.' }, finish_reason: 'stop' }],
    usage: { total_tokens: 12 },
  });
  const [call] = upstream.calls;
  expect(call?.path).toBe('/v1/chat/completions');
  expect(call?.headers.authorization).toMatch(/^Bearer key-[ab]$/);
  expect(call?.body).toEqual({
    model: MODEL,
    max_completion_tokens: 50,
    messages: [{ role: 'user', content: 'hello there' }],
  });
});

test('a relayed stream ends as the wire has it, with usage only where the client asked', async () => {
  const ask = async (stream_options?: { include_usage: boolean }) => {
    const stream = await openai().chat.completions.create({
      model: MODEL,
      stream: true,
      ...(stream_options === undefined ? {} : { stream_options }),
      messages: [{ role: 'user', content: 'hello there' }],
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  };
  const silent = await ask();
  expect(silent.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(
    'Good answer.',
  );
  expect(silent.some(({ usage }) => usage)).toBe(false);
  expect(upstream.calls[0]?.body.stream_options).toEqual({ include_usage: true });
  expect((await ask({ include_usage: true })).at(-1)?.usage).toMatchObject({ total_tokens: 12 });
});

test('a service that holds calls back until they are complete is asked for their pieces', async () => {
  const profile = createCompatibleProfile({
    baseUrl: upstream.url,
    quirks: { preset: 'zai', limitField: 'max_completion_tokens' },
  });
  const clock = createMiddayClock();
  const holding = await startGatewayOver(createChatUpstream({ profile, clock }), clock);
  const messages = [{ role: 'user' as const, content: 'hello there' }];
  const ask = (over: JsonObject) =>
    openai(holding).chat.completions.create({ model: MODEL, messages, ...over });
  await ask({});
  await openai(holding).chat.completions.stream({ model: MODEL, messages }).finalChatCompletion();
  await anthropic(holding)
    .messages.stream({ model: MODEL, max_tokens: 9, messages })
    .finalMessage();
  await ask({ tool_stream: false });
  await holding.close();
  expect(upstream.calls.map(({ body }) => body.tool_stream)).toEqual([
    undefined,
    true,
    true,
    false,
  ]);
});

test('a tool with a name that the wire refuses goes up under another, and its call comes back under its own', async () => {
  upstream.answer(({ tools }) => {
    const [tool] = tools as { readonly function: { readonly name: string } }[];
    const name = tool?.function.name ?? '';
    return { kind: 'message', message: { content: null, tool_calls: [callOf(name)] } };
  });
  const ask = (over: JsonObject) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: MODEL,
        messages: [{ role: 'user', content: 'go' }],
        tools: [{ type: 'function', function: { name: 'files.read/all' } }],
        ...over,
      }),
    });
  const reply = await (await ask({})).json();
  expect(reply).toMatchObject({
    choices: [{ message: { tool_calls: [{ function: { name: 'files.read/all' } }] } }],
  });
  expect(upstream.calls[0]?.body.tools).toMatchObject([
    { function: { name: expect.stringMatching(/^files_read_all_[0-9a-f]{8}$/) } },
  ]);
  expect(await (await ask({ stream: true })).text()).toContain('"name":"files.read/all"');
});

const callOf = (name: string) => ({ ...CALL, function: { ...CALL.function, name } });

test('the official chat helpers go through a tool loop', async () => {
  upstream.answer(toolLoop);
  const runner = openai().chat.completions.runTools({
    model: MODEL,
    stream: true,
    messages: [{ role: 'user', content: 'How is the weather in Oslo?' }],
    tools: [
      {
        type: 'function',
        function: {
          name: WEATHER.name,
          description: WEATHER.description,
          parameters: WEATHER.schema,
          parse: JSON.parse,
          function: ({ city }: { city: string }) => `rain in ${city}`,
        },
      },
    ],
  });
  expect(await runner.finalContent()).toBe('Rainy.');
  expect(upstream.faults).toEqual([]);
});

test.each(['stream', 'unary'])('a Messages client goes through a tool loop, %s', async (form) => {
  upstream.answer(toolLoop);
  const messages: Anthropic.MessageParam[] = [
    { role: 'user', content: 'How is the weather in Oslo?' },
  ];
  const ask = () => {
    const request = {
      model: MODEL,
      max_tokens: 100,
      system: 'Be brief.',
      tools: [
        { name: WEATHER.name, description: WEATHER.description, input_schema: WEATHER.schema },
      ],
      messages,
    };
    return form === 'stream'
      ? anthropic().messages.stream(request).finalMessage()
      : anthropic().messages.create(request);
  };
  const first = await ask();
  expect(first).toMatchObject({
    stop_reason: 'tool_use',
    content: [{ type: 'tool_use', id: 'call_7', name: 'weather', input: { city: 'Oslo' } }],
    usage: { input_tokens: 7, output_tokens: 5 },
  });
  messages.push(
    { role: 'assistant', content: first.content },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_7', content: 'rain' },
        { type: 'text', text: 'Well?' },
      ],
    },
  );
  expect(await ask()).toMatchObject({
    stop_reason: 'end_turn',
    content: [{ type: 'text', text: 'Rainy.' }],
  });
  expect(upstream.faults).toEqual([]);
  expect(upstream.calls.at(-1)?.body.messages).toMatchObject([
    { role: 'system', content: 'Be brief.' },
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'call_7' }] },
    { role: 'tool', tool_call_id: 'call_7', content: 'rain' },
    { role: 'user', content: 'Well?' },
  ]);
});

test('a generate-content client asks in its own words', async () => {
  upstream.answer(toolLoop);
  const answer = await genai().models.generateContent({
    model: MODEL,
    contents: 'How is the weather in Oslo?',
    config: {
      maxOutputTokens: 64,
      tools: [
        { functionDeclarations: [{ name: 'weather', parametersJsonSchema: WEATHER.schema }] },
      ],
    },
  });
  expect(answer.functionCalls).toMatchObject([{ name: 'weather', args: { city: 'Oslo' } }]);
  expect(answer.usageMetadata).toMatchObject({ promptTokenCount: 7, candidatesTokenCount: 5 });
  const stream = await genai().models.generateContentStream({ model: MODEL, contents: 'hi' });
  upstream.answer(() => ({ kind: 'message', message: { content: 'Good answer.' } }));
  for await (const chunk of stream) expect(chunk.candidates).toHaveLength(1);
  expect(upstream.faults).toEqual([]);
});

test('Responses clients are served over the same wire', async () => {
  const response = await openai().responses.create({ model: MODEL, input: 'hello there' });
  expect(response.output_text).toBe('Good answer.');
});

test('a model that reasons is asked by effort, and spared what it refuses', async () => {
  await anthropic().messages.create({
    model: REASONER,
    max_tokens: 4096,
    thinking: { type: 'enabled', budget_tokens: 2048 },
    messages: [{ role: 'user', content: 'hello there' }],
  });
  expect(upstream.calls[0]?.body).toMatchObject({
    reasoning_effort: 'low',
    max_completion_tokens: 4096,
  });
  await openai().chat.completions.create({
    model: REASONER,
    temperature: 0.2,
    messages: [{ role: 'user', content: 'hello there' }],
  });
  expect(upstream.calls[1]?.body.temperature).toBeUndefined();
});

test('thoughts come back to the upstream that wants them, from clients that keep none', async () => {
  upstream.answer((body, nth) =>
    nth === 1
      ? { kind: 'message', message: { ...CALLING, reasoning_content: 'Look it up.' } }
      : toolLoop(body),
  );
  const tools = [
    { type: 'function' as const, function: { name: 'weather', parameters: WEATHER.schema } },
  ];
  const question = { role: 'user' as const, content: 'How is the weather in Oslo?' };
  await openai(thinking).chat.completions.create({ model: THINKER, messages: [question], tools });
  const history = [
    { role: 'assistant' as const, tool_calls: [{ ...CALL, type: 'function' as const }] },
    { role: 'tool' as const, tool_call_id: 'call_7', content: 'rain' },
  ];
  await openai(thinking).chat.completions.create({
    model: THINKER,
    messages: [question, ...history],
    tools,
  });
  const [, made] = messagesOf(upstream.calls[1]?.body);
  expect(made).toMatchObject({ role: 'assistant', reasoning_content: 'Look it up.' });
  await anthropic(thinking).messages.create({
    model: THINKER,
    max_tokens: 100,
    thinking: { type: 'enabled', budget_tokens: 1024 },
    tools: [{ name: 'weather', input_schema: WEATHER.schema }],
    messages: [
      { role: 'user', content: question.content },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_7', name: 'weather', input: { city: 'Oslo' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_7', content: 'rain' }] },
    ],
  });
  const [, again] = messagesOf(upstream.calls[2]?.body);
  expect(again).toMatchObject({ role: 'assistant', reasoning_content: 'Look it up.' });
  expect(upstream.faults).toEqual([]);
});

test.each(['call_0', 'functions.weather:0'])(
  'thoughts before a call come back to their own conversation where all number their calls alike: %s',
  async (id) => {
    const tools = [
      { type: 'function' as const, function: { name: 'weather', parameters: WEATHER.schema } },
    ];
    const askOf = async (city: string, thought: string, keeps: boolean): Promise<unknown> => {
      const called = { name: 'weather', arguments: JSON.stringify({ city }) };
      const call = { id, type: 'function' as const, function: called };
      const said = { content: null, tool_calls: [call] };
      upstream.answer(() => ({
        ...{ kind: 'message' },
        message: thought === '' ? said : { ...said, reasoning_content: thought },
      }));
      const answer = { role: 'assistant' as const, tool_calls: [call] };
      const result = { role: 'tool' as const, tool_call_id: id, content: 'rain' };
      await openai(unnamed).chat.completions.create({
        ...{ model: THINKER, tools },
        messages: [{ role: 'user', content: 'Go' }, ...(keeps ? [answer, result] : [])],
      });
      const [, made] = messagesOf(upstream.calls.at(-1)?.body);
      return Reflect.get(Object(made), 'reasoning_content');
    };
    await askOf('Oslo', 'Of Oslo.', false);
    await askOf('Bonn', 'Of Bonn.', false);
    await askOf('Rome', '', false);
    expect(await askOf('Oslo', '', true)).toBe('Of Oslo.');
    expect(await askOf('Bonn', '', true)).toBe('Of Bonn.');
    expect(await askOf('Rome', '', true)).toBeUndefined();
  },
);

/** Which refuses every other name for thoughts than its own, and calls without them. */
function answersWithThoughts({ messages = [] }: JsonObject, field: string): ChatUpstreamReply {
  const made = objectsOf(messages).filter(({ role }) => role === 'assistant');
  const refuse = (message: string): ChatUpstreamReply => ({
    ...{ kind: 'status', status: 400, body: { error: { message, type: 'invalid_request_error' } } },
  });
  for (const message of made) {
    const other = Object.keys(message).find((key) => key.includes('reasoning') && key !== field);
    if (other !== undefined)
      return refuse(`property 'messages.1.assistant.${other}' is unsupported`);
    if (message[field] === undefined) return refuse(`The \`${field}\` must be passed back.`);
  }
  const message = made.length === 0 ? { ...CALLING, [field]: 'Look.' } : { content: 'Rainy.' };
  return { kind: 'message', message };
}

test.each(['reasoning', 'reasoning_content'])(
  'a service of which nothing is known gets its thoughts back in the field it gave them in: %s',
  async (field) => {
    upstream.answer((body) => answersWithThoughts(body, field));
    const text = 'How is the weather in Oslo?';
    const tools = [
      { type: 'function' as const, function: { name: 'weather', parameters: WEATHER.schema } },
    ];
    const asked = [{ role: 'user' as const, content: text }];
    const ask = { model: THINKER, messages: asked, tools };
    const { choices } = await openai(unnamed).chat.completions.create(ask);
    const [made] = choices;
    if (made === undefined) throw new Error('There was no answer.');
    const [call] = made.message.tool_calls ?? [];
    const result = { role: 'tool' as const, tool_call_id: call?.id ?? '', content: 'rain' };
    const respelled = { ...made.message, reasoning_content: 'Look.' };
    const forgotten = { role: 'assistant' as const, tool_calls: made.message.tool_calls ?? [] };
    for (const kept of [made.message, respelled, forgotten]) {
      const messages = [...asked, kept, result];
      const next = await openai(unnamed).chat.completions.create({ ...ask, messages });
      expect(next.choices[0]?.message.content).toBe('Rainy.');
    }
    const params = {
      ...{ model: THINKER, max_tokens: 5000 },
      thinking: { type: 'enabled' as const, budget_tokens: 1024 },
      tools: [{ name: 'weather', input_schema: WEATHER.schema }],
    };
    const question = { role: 'user' as const, content: text };
    const { content } = await anthropic(unnamed).messages.create({
      ...params,
      messages: [question],
    });
    const used = content.find((block) => block.type === 'tool_use');
    const results = [
      { type: 'tool_result' as const, tool_use_id: used?.id ?? '', content: 'rain' },
    ];
    const answer = await anthropic(unnamed).messages.create({
      ...params,
      messages: [question, { role: 'assistant', content }, { role: 'user', content: results }],
    });
    expect(answer.content).toMatchObject([{ type: 'text', text: 'Rainy.' }]);
  },
);

test('a service that refuses thoughts it gave itself is asked without them', async () => {
  upstream.answer(({ messages = [] }) => {
    const [made] = objectsOf(messages).filter(({ role }) => role === 'assistant');
    const message = "property 'messages.1.assistant.reasoning_content' is unsupported";
    if (made?.reasoning_content !== undefined) {
      return { kind: 'status', status: 400, body: { error: { message } } };
    }
    const answer = made ? { content: 'Rainy.' } : { ...CALLING, reasoning_content: 'Look.' };
    return { kind: 'message', message: answer };
  });
  const tools = [
    { type: 'function' as const, function: { name: 'weather', parameters: WEATHER.schema } },
  ];
  const asked = [{ role: 'user' as const, content: 'How is the weather in Oslo?' }];
  const ask = { model: THINKER, messages: asked, tools };
  const { choices } = await openai(unnamed).chat.completions.create(ask);
  const made = choices.map(({ message }) => message);
  const result = { role: 'tool' as const, tool_call_id: CALL.id, content: 'rain' };
  const messages = [...asked, ...made, result];
  const { data, response } = await openai(unnamed)
    .chat.completions.create({ ...ask, messages })
    .withResponse();
  expect(data.choices[0]?.message.content).toBe('Rainy.');
  expect(response.headers.get('x-isthmus-receipt')).toContain('dropped=');
});

function messagesOf(body: JsonObject | undefined): readonly unknown[] {
  return Array.isArray(body?.messages) ? body.messages : [];
}

test('a refused account is left for the other one, and what is wrong with a request is told', async () => {
  const error = {
    message: 'Incorrect API key',
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  };
  upstream.answer((_body, nth) =>
    nth === 1
      ? { kind: 'status', status: 401, body: { error } }
      : { kind: 'message', message: { content: 'Good answer.' } },
  );
  const completion = await openai().chat.completions.create({
    model: MODEL,
    messages: [{ role: 'user', content: 'hello there' }],
  });
  expect(completion.choices[0]?.message.content).toBe('Good answer.');
  const message =
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 210000 tokens.";
  upstream.answer(() => ({
    kind: 'status',
    status: 400,
    body: { error: { message, type: 'invalid_request_error', code: 'context_length_exceeded' } },
  }));
  await expect(
    anthropic().messages.create({
      model: MODEL,
      max_tokens: 10,
      messages: [{ role: 'user', content: 'hello there' }],
    }),
  ).rejects.toThrow('prompt is too long: 210000 tokens > 128000 maximum');
});

test.each([
  [undefined, 'messages is required'],
  ['hello', 'messages must be an array'],
  [[], 'messages must hold at least one message'],
  [['hello', { role: 'user', content: 'hello' }], 'messages[0] must be an object'],
])('messages that are none (%j) are told, and never sent without them', async (messages, why) => {
  const ask = openai().post('/chat/completions', { body: { model: MODEL, messages } });
  await expect(ask).rejects.toMatchObject({ status: 400, message: expect.stringContaining(why) });
  expect(upstream.calls).toEqual([]);
});

test.each([
  'file:///etc/passwd',
  'C:\\secret.png',
  '/etc/passwd',
  'notes/a.png',
  'http://10.0.0.1/a.png',
  'http://user:secret@169.254.169.254/latest',
  'https://nas.local/a.png',
])('V082 %s reaches no upstream: a server of this network would open it', async (url) => {
  for (const image of [{ url }, url]) {
    const content = [{ type: 'image_url', image_url: image }];
    const body = { model: MODEL, messages: [{ role: 'user', content }] };
    await expect(openai().post('/chat/completions', { body })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('messages[0].content[0].image_url'),
    });
  }
  expect(upstream.calls).toEqual([]);
});

test.each(['file:///etc/passwd', 'http://10.0.0.1/a.pdf', 'https://nas.local/a.pdf'])(
  'V082 %s as a file reaches no upstream either',
  async (address) => {
    for (const field of ['file_data', 'file_id']) {
      const content = [{ type: 'file', file: { [field]: address, filename: 'a.pdf' } }];
      const body = { model: MODEL, messages: [{ role: 'user', content }] };
      await expect(openai().post('/chat/completions', { body })).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining(`messages[0].content[0].file.${field}`),
      });
    }
    expect(upstream.calls).toEqual([]);
  },
);

test.each([
  'https://images.example/a.png',
  'http://images.example/a.png',
  'ms://d0hr2cqn3ql0',
  `data:image/png;base64,${PNG}`,
  PNG,
])('%s of a request in the words of the upstream is the upstream’s to judge', async (url) => {
  const content = [{ type: 'image_url' as const, image_url: { url } }];
  await openai().chat.completions.create({ model: MODEL, messages: [{ role: 'user', content }] });
  expect(upstream.calls[0]?.body).toMatchObject({ messages: [{ content }] });
});

test('a stream that breaks off is an error in the protocol of the client', async () => {
  const choices = [{ index: 0, delta: { content: 'Good' }, finish_reason: null }];
  upstream.answer(() => ({ kind: 'chunks', chunks: [{ id: 'c', model: 'm', choices }] }));
  const ask = { model: MODEL, messages: [{ role: 'user' as const, content: 'hello there' }] };
  await expect(openai().chat.completions.stream(ask).finalContent()).rejects.toThrow('cut');
  await expect(
    anthropic()
      .messages.stream({ ...ask, max_tokens: 10 })
      .finalMessage(),
  ).rejects.toThrow('cut');
});

describe.each<[string, JsonObject]>([
  ['has no name', { id: 'call_7', type: 'function', function: { arguments: '{}' } }],
  ['has arguments that are no JSON', { ...CALL, function: { name: 'weather', arguments: '{"ci' } }],
])('a call that %s', (_name, call) => {
  const ask = { model: MODEL, messages: [{ role: 'user' as const, content: 'Rain in Oslo?' }] };
  const asked = { ...ask, max_tokens: 100 };

  test('is an error for clients of every protocol, however the upstream ends its answer', async () => {
    for (const finish of ['tool_calls', 'stop', 'tool_use']) {
      const message = { content: null, tool_calls: [call] };
      upstream.answer(() => ({ kind: 'message', message, finish }));
      const answers = [
        () => openai().chat.completions.create(ask),
        () => openai().chat.completions.stream(ask).finalChatCompletion(),
        () => anthropic().messages.create(asked),
        () => anthropic().messages.stream(asked).finalMessage(),
      ];
      for (const answer of answers) await expect(answer()).rejects.toThrow('cannot be used');
    }
  });

  test('ends a stream that has begun with an error', async () => {
    upstream.answer(() => ({
      kind: 'message',
      message: { content: 'Let me see.', tool_calls: [call] },
    }));
    const stream = openai().chat.completions.stream(ask);
    await expect(stream.finalChatCompletion()).rejects.toThrow('cannot be used');
  });
});

test.each([
  ['max_tokens', 'max_completion_tokens'],
  ['max_completion_tokens', 'max_completion_tokens'],
])('a limit that the upstream refuses is named as its client named it: %s', async (own, sent) => {
  const message = `Invalid type for '${sent}': expected an integer, but got a string instead.`;
  const error = { message, type: 'invalid_request_error', param: sent, code: 'invalid_type' };
  upstream.answer(() => ({ kind: 'status', status: 400, body: { error } }));
  const messages = [{ role: 'user' as const, content: 'hello there' }];
  for (const stream of [true, false]) {
    const asked = openai().post('/chat/completions', {
      body: { model: MODEL, stream, messages, [own]: 'ten' },
    });
    await expect(asked).rejects.toMatchObject({
      ...{ status: 400, param: own, code: 'invalid_type' },
      message: expect.stringContaining(`'${own}'`),
    });
    expect(upstream.calls.at(-1)?.body).toMatchObject({ [sent]: 'ten' });
  }
});

test('vectors come in the form that was asked for, which the upstream need not know, with what only it knows', async () => {
  const asked = { model: 'text-embedding-3-small', input: ['a', 'b'], input_type: 'query' };
  const { data } = await openai().embeddings.create(asked);
  expect(data.map(({ embedding }) => embedding)).toEqual([
    [1, 0],
    [0, 1],
  ]);
  expect(upstream.calls.at(-1)?.body).toEqual(asked);
});

test('as many vectors as one request may want come in one answer, in either form', async () => {
  const input = Array.from({ length: 2048 }, (_, index) => `text ${index}`);
  const asked = { model: 'text-embedding-3-small', input, dimensions: 1100 };
  const { data: packed } = await openai().embeddings.create(asked);
  const { data: plain } = await openai().embeddings.create({ ...asked, encoding_format: 'float' });
  expect(plain.map(({ index }) => index)).toEqual(input.map((_, index) => index));
  expect(plain.at(-1)?.embedding).toEqual([0, ...Array<number>(1099).fill(1)]);
  expect(packed.at(-1)).toEqual(plain.at(-1));
});

test('the models of the upstream are those that are offered', async () => {
  const { data } = await openai().models.list();
  expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining([MODEL, REASONER]));
});

test.each(['chat', 'messages', 'generate'] as const)(
  'a limit larger than the model has is what the service says it may be, from then on (%s)',
  async (client) => {
    const most = { chat: 4096, messages: 2048, generate: 1024 }[client];
    upstream.answer(({ max_completion_tokens: limit }) => {
      if (Number(limit) <= most) return { kind: 'message', message: { content: 'Short.' } };
      const message = `max_tokens is too large: ${limit}. This model supports at most ${most} completion tokens, whereas you provided ${limit}.`;
      return { kind: 'status', status: 400, body: { error: { message, type: 'x', code: 'y' } } };
    });
    const ask = {
      chat: async () => {
        const messages = [{ role: 'user' as const, content: 'hi' }];
        const asked = { model: MODEL, max_tokens: 32_000, messages };
        return (await openai().chat.completions.create(asked)).choices[0]?.message.content;
      },
      messages: async () => {
        const messages = [{ role: 'user' as const, content: 'hi' }];
        const asked = { model: MODEL, max_tokens: 32_000, messages };
        const answer = await anthropic().messages.stream(asked).finalMessage();
        return answer.content[0]?.type === 'text' ? answer.content[0].text : undefined;
      },
      generate: async () => {
        const config = { maxOutputTokens: 32_000 };
        return (await genai().models.generateContent({ model: MODEL, contents: 'hi', config }))
          .text;
      },
    }[client];
    expect(await ask()).toBe('Short.');
    expect(await ask()).toBe('Short.');
    // What one conversation taught the others know.
    expect(upstream.calls.slice(-1)[0]?.body.max_completion_tokens).toBe(most);
    expect(upstream.calls).toHaveLength(3);
  },
);

test('a field that the service refuses for the model is left out, for every client from then on', async () => {
  upstream.answer(({ temperature }) => {
    if (temperature === undefined) return { kind: 'message', message: { content: 'Good.' } };
    const message =
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.";
    const error = { message, param: 'temperature', code: 'unsupported_value' };
    return { kind: 'status', status: 400, body: { error } };
  });
  const ask = {
    model: MODEL,
    temperature: 0.2,
    messages: [{ role: 'user' as const, content: 'hi' }],
  };
  const before = upstream.calls.length;
  const { data, response } = await openai().chat.completions.create(ask).withResponse();
  expect(data.choices[0]?.message.content).toBe('Good.');
  expect(response.headers.get('x-isthmus-receipt')).toBe('dropped=1;approximated=0;repaired=0');
  const answer = await anthropic()
    .messages.stream({ ...ask, max_tokens: 10 })
    .finalMessage();
  expect(answer.content).toMatchObject([{ text: 'Good.' }]);
  expect(upstream.calls).toHaveLength(before + 3);
});

test('stop sequences that the service refuses for the model still end translated answers', async () => {
  upstream.answer(({ stop }) => {
    if (stop === undefined) return { kind: 'message', message: { content: 'Good. END And more.' } };
    const message = "Unsupported parameter: 'stop' is not supported with this model.";
    const error = { message, param: 'stop', code: 'unsupported_parameter' };
    return { kind: 'status', status: 400, body: { error } };
  });
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const ask = { model: MODEL, max_tokens: 10, stop_sequences: ['END'], messages };
  for (const calls of [2, 3]) {
    const { data, response } = await anthropic().messages.create(ask).withResponse();
    expect(data).toMatchObject({ content: [{ text: 'Good. ' }], stop_reason: 'stop_sequence' });
    expect(response.headers.get('x-isthmus-receipt')).toBe('dropped=0;approximated=1;repaired=0');
    expect(upstream.calls).toHaveLength(calls);
  }
});

test('an account that may not stream answers streams whole', async () => {
  upstream.answer(({ stream, stream_options }) => {
    if (stream === undefined && stream_options === undefined) {
      return {
        kind: 'message',
        message: { content: 'Good.', tool_calls: [CALL] },
        finish: 'tool_calls',
      };
    }
    const message = 'Your organization must be verified to stream this model.';
    const error = { message, param: 'stream', code: 'unsupported_value' };
    return { kind: 'status', status: 400, body: { error } };
  });
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const { name, description, schema } = WEATHER;
  for (const calls of [2, 4]) {
    const { choices, usage } = await openai()
      .chat.completions.stream({
        model: MODEL,
        messages,
        tools: [{ type: 'function', function: { name, description, parameters: schema } }],
        stream_options: { include_usage: true },
      })
      .finalChatCompletion();
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'Good.', tool_calls: [{ id: 'call_7' }] },
    });
    expect(usage?.total_tokens).toBe(12);
    // Another account may stream: it is asked to each time.
    expect(upstream.calls).toHaveLength(calls);
  }
  const answer = await anthropic()
    .messages.stream({
      ...{ model: MODEL, max_tokens: 10, messages },
      tools: [{ name, description, input_schema: schema }],
    })
    .finalMessage();
  expect(answer).toMatchObject({
    stop_reason: 'tool_use',
    content: [{ text: 'Good.' }, { type: 'tool_use', input: { city: 'Oslo' } }],
    usage: { output_tokens: 5 },
  });
});

describe('several answers of an upstream that gives one a request', () => {
  const ask = { model: THINKER, n: 3, messages: [{ role: 'user' as const, content: 'Hello' }] };

  beforeEach(() =>
    upstream.answer((_body, nth) => ({ kind: 'message', message: { content: `Answer ${nth}.` } })),
  );

  test('are asked for one by one', async () => {
    const { choices, usage } = await openai(thinking).chat.completions.create(ask);
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(choices.map(({ message }) => message.content).sort()).toEqual([
      ...['Answer 1.', 'Answer 2.', 'Answer 3.'],
    ]);
    expect(usage?.total_tokens).toBe(36);
    expect(upstream.calls.map(({ body }) => body.n)).toEqual([undefined, undefined, undefined]);
  });

  test('come in one stream', async () => {
    const stream = openai(thinking).chat.completions.stream({ ...ask, stream: true });
    const { choices } = await stream.finalChatCompletion();
    expect(choices.map(({ finish_reason }) => finish_reason)).toEqual(['stop', 'stop', 'stop']);
  });

  test('are refused where they are too many', async () => {
    const asked = openai(thinking).chat.completions.create({ ...ask, n: 9 });
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'n' });
    expect(upstream.calls).toEqual([]);
  });
});

test('a whole answer whose tokens nobody counted says that its usage is an estimate', async () => {
  const ask = async () => {
    const asked = {
      model: MODEL,
      max_tokens: 64,
      messages: [{ role: 'user' as const, content: 'Hi' }],
    };
    const { data, response } = await anthropic().messages.create(asked).withResponse();
    return [data.usage.output_tokens, response.headers.get('x-isthmus-estimate')];
  };
  expect(await ask()).toEqual([5, null]);
  const message = { role: 'assistant', content: 'Good answer.' };
  upstream.answer(() => ({
    kind: 'status',
    status: 200,
    body: {
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: MODEL },
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    },
  }));
  expect(await ask()).toEqual([expect.any(Number), 'tokens']);
});

test('an upstream that passes over the number of answers is told of in the receipt', async () => {
  const { data, response } = await openai()
    .chat.completions.create({
      model: MODEL,
      n: 3,
      messages: [{ role: 'user', content: 'Hello' }],
    })
    .withResponse();
  expect(data.choices).toHaveLength(1);
  expect(response.headers.get('x-isthmus-receipt')).toBe('dropped=1;approximated=0;repaired=0');
});

describe('answers that name no reason for their end', () => {
  const ask = { model: MODEL, messages: [{ role: 'user' as const, content: 'Hello' }] };
  const asked = { ...ask, max_tokens: 100 };

  test('are no answers when they are streamed', async () => {
    upstream.answer(() => ({ kind: 'message', message: { content: 'Good' }, finish: null }));
    await expect(
      openai()
        .chat.completions.stream({ ...ask, stream: true })
        .finalChatCompletion(),
    ).rejects.toThrow('without a finish reason');
    await expect(anthropic().messages.stream(asked).finalMessage()).rejects.toThrow(
      'without a finish reason',
    );
  });

  test('are answers when they come whole, unless there is nothing in them', async () => {
    upstream.answer(() => ({ kind: 'message', message: { content: 'Good' }, finish: null }));
    const whole = await openai().chat.completions.create(ask);
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Good' } });
    const { data, response } = await anthropic().messages.create(asked).withResponse();
    expect(data).toMatchObject({ stop_reason: 'end_turn', content: [{ text: 'Good' }] });
    expect(response.headers.get('x-isthmus-receipt')).toBe('dropped=0;approximated=1;repaired=0');
    upstream.answer(() => ({ kind: 'message', message: { content: '' }, finish: null }));
    await expect(anthropic().messages.create(asked)).rejects.toThrow('empty answer');
    await expect(openai().chat.completions.create(ask)).rejects.toThrow('empty answer');
  });

  test.each([
    [{ content: 'Good' }, 'stop', 'end_turn'],
    [CALLING, 'tool_calls', 'tool_use'],
  ])('are whole where the upstream never names one: %j', async (message, reason, stop) => {
    upstream.answer(() => ({ kind: 'message', message, finish: null }));
    const whole = await openai(unnamed).chat.completions.create(ask);
    expect(whole.choices[0]?.finish_reason).toBe(reason);
    const stream = openai(unnamed).chat.completions.stream({ ...ask, stream: true });
    expect((await stream.finalChatCompletion()).choices[0]?.finish_reason).toBe(reason);
    const { data, response } = await anthropic(unnamed).messages.create(asked).withResponse();
    expect(data.stop_reason).toBe(stop);
    expect(response.headers.get('x-isthmus-receipt')).toBe('dropped=0;approximated=1;repaired=0');
    const streamed = await anthropic(unnamed).messages.stream(asked).finalMessage();
    expect(streamed.stop_reason).toBe(stop);
  });
});

test('the deprecated form of tools reaches upstreams as tools, and its calls come back in it', async () => {
  upstream.answer(toolLoop);
  const functions = [{ name: 'weather', parameters: WEATHER.schema }];
  const user = { role: 'user' as const, content: 'Rain in Oslo?' };
  const ask = { model: MODEL, functions, messages: [user] };
  const { choices } = await openai().chat.completions.create(ask);
  const [choice] = choices;
  if (choice === undefined) throw new Error('There is no choice.');
  expect(choice.finish_reason).toBe('function_call');
  const { function_call = null } = choice.message;
  expect(function_call).toEqual(CALL.function);
  const called = { role: 'assistant' as const, content: null, function_call };
  const result = { role: 'function' as const, name: 'weather', content: 'Rain' };
  const last = await openai().chat.completions.create({
    ...ask,
    messages: [user, called, result],
  });
  expect(last.choices[0]?.message.content).toBe('Rainy.');
  expect(upstream.faults).toEqual([]);
});

test.each([true, false])(
  'the signature of a call goes back to the service that gave it, whatever its client keeps (stream=%s)',
  async (stream) => {
    const extra_content = { google: { thought_signature: 'U0lH' } };
    const call = { name: 'weather', arguments: '{"city":"Oslo"}' };
    upstream.answer(({ messages }) =>
      JSON.stringify(messages).includes('tool_call_id')
        ? { kind: 'message', message: { content: 'Rain.' } }
        : {
            kind: 'message',
            finish: 'tool_calls',
            message: {
              content: null,
              tool_calls: [{ id: 'call_g', type: 'function', function: call, extra_content }],
            },
          },
    );
    const sentCall = () =>
      objectsOf(objectsOf(upstream.calls.at(-1)?.body.messages)[1]?.tool_calls)[0];
    const signed = { id: 'call_g', type: 'function', function: call, extra_content };

    const question: OpenAI.ChatCompletionMessageParam = { role: 'user', content: 'Weather?' };
    const ask = {
      model: MODEL,
      tools: [{ type: 'function', function: { name: 'weather' } }],
    } as const;
    const asked = { ...ask, tools: [...ask.tools], messages: [question] };
    if (stream) await openai(unnamed).chat.completions.stream(asked).finalChatCompletion();
    else await openai(unnamed).chat.completions.create(asked);
    await openai(unnamed).chat.completions.create({
      ...asked,
      messages: [
        question,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_g', type: 'function', function: call }],
        },
        { role: 'tool', tool_call_id: 'call_g', content: 'rain' },
      ],
    });
    expect(sentCall()).toEqual(signed);

    const body: Anthropic.MessageCreateParamsNonStreaming = {
      model: MODEL,
      max_tokens: 500,
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      messages: [{ role: 'user', content: 'Weather?' }],
    };
    const { messages } = anthropic(unnamed);
    const called = stream
      ? await messages.stream(body).finalMessage()
      : await messages.create(body);
    await messages.create({
      ...body,
      messages: [
        ...body.messages,
        { role: 'assistant', content: called.content },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_g', content: 'rain' }],
        },
      ],
    });
    expect(sentCall()).toEqual(signed);
  },
);

test.each([true, false])(
  'a tool of free text is a function on a service without such, and its call one of free text again (stream=%s)',
  async (stream) => {
    const call = { name: 'patch', arguments: '{"input":"*** a\\n+b"}' };
    const tool_calls = [{ id: 'call_f', type: 'function', function: call }];
    upstream.answer((_body, nth) =>
      nth === 1
        ? { kind: 'message', message: { tool_calls }, finish: 'tool_calls' }
        : { kind: 'message', message: { content: 'Done.' } },
    );
    const { completions } = openai(thinking).chat;
    const question = { role: 'user' as const, content: 'Patch the file.' };
    const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model: THINKER,
      messages: [question],
      tools: [{ type: 'custom', custom: { name: 'patch', description: 'Patches files' } }],
    };
    const answer = stream
      ? await completions.stream({ ...body, stream: true }).finalChatCompletion()
      : await completions.create(body);
    const free = {
      id: 'call_f',
      type: 'custom' as const,
      custom: { name: 'patch', input: '*** a\n+b' },
    };
    expect(answer.choices[0]?.message.tool_calls).toMatchObject([free]);
    const history = [
      { role: 'assistant' as const, tool_calls: [free] },
      { role: 'tool' as const, tool_call_id: 'call_f', content: 'ok' },
    ];
    await completions.create({ ...body, messages: [question, ...history] });
    expect(upstream.calls.map(({ body: { tools } }) => tools)).toMatchObject(
      [1, 2].map(() => [{ type: 'function', function: { name: 'patch' } }]),
    );
    const [, made] = messagesOf(upstream.calls[1]?.body);
    expect(made).toMatchObject({ tool_calls: [{ type: 'function', id: 'call_f' }] });
    expect(upstream.faults).toEqual([]);
  },
);

test('a tool of free text stays one for a service of which nothing is known', async () => {
  const tools = [{ type: 'custom' as const, custom: { name: 'patch' } }];
  const messages = [{ role: 'user' as const, content: 'Patch the file.' }];
  await openai(unnamed).chat.completions.create({ model: MODEL, messages, tools });
  expect(upstream.calls[0]?.body.tools).toEqual(tools);
});

test.each([true, false])(
  'who asks for one call at a time gets one, where a service has no such switch (stream=%s)',
  async (stream) => {
    const tool_calls = [CALL, { ...CALL, id: 'call_8' }];
    upstream.answer(() => ({ kind: 'message', message: { tool_calls }, finish: 'tool_calls' }));
    const { name, schema: parameters } = WEATHER;
    const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model: THINKER,
      messages: [{ role: 'user', content: 'Weather in Oslo and Rome?' }],
      tools: [{ type: 'function', function: { name, parameters } }],
    };
    const { completions } = openai(thinking).chat;
    const ask = async (more: Partial<typeof body>): Promise<readonly string[]> => {
      const sent = { ...body, ...more };
      const answer = stream
        ? await completions.stream({ ...sent, stream: true }).finalChatCompletion()
        : await completions.create(sent);
      return (answer.choices[0]?.message.tool_calls ?? []).map(({ id }) => id);
    };
    expect(await ask({ parallel_tool_calls: false })).toEqual(['call_7']);
    expect(JSON.stringify(messagesOf(upstream.calls[0]?.body))).toContain('one function at a time');
    expect(await ask({ parallel_tool_calls: true })).toEqual(['call_7', 'call_8']);
  },
);
