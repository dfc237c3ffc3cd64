// The official clients of all protocols before an upstream of the Messages wire, over real sockets.

import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSystemClock } from '../../src/lib/clock.ts';
import { objectsOf } from '../../src/lib/read-values.ts';
import { createMessagesUpstream } from '../../src/upstreams/messages/index.ts';
import { createMessagesProfile } from '../../src/upstreams/messages/profiles.ts';
import type { OwnedUpstream } from '../../src/upstreams/wire-parts.ts';
import {
  type MessagesUpstreamServer,
  startMessagesUpstream,
  thought,
} from '../support/messages-upstream.ts';
import { startWireGateway, type WireGateway } from '../support/wire-gateway.ts';

const MODEL = 'claude-opus-4-5';
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const CALL = 'CALL-TOOL weather {"city":"Oslo"}';

let server: MessagesUpstreamServer;
let upstream: OwnedUpstream;
let gateway: WireGateway;
let anthropic: Anthropic;
let openai: OpenAI;
let google: GoogleGenAI;

beforeAll(async () => {
  server = await startMessagesUpstream();
  const profile = createMessagesProfile({
    id: 'own',
    baseUrl: `${server.url}/v1/`,
    betas: ['a-2026-01-01'],
  });
  upstream = createMessagesUpstream({ profile, clock: createSystemClock() });
  gateway = await startWireGateway(upstream);
  const { url } = gateway;
  anthropic = new Anthropic({ apiKey: 'k', baseURL: url, maxRetries: 0 });
  openai = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 });
  google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: url } });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await server.close();
});
beforeEach(() => server.script(undefined));

const sent = () => server.calls.at(-1)?.body ?? {};
const kinds = () => gateway.receipt().map(({ action, path }) => `${action} ${path}`);

const ANTHROPIC_TOOL: Anthropic.Tool = {
  name: 'weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const OPENAI_TOOL: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'weather', parameters: SCHEMA },
};

test.each([true, false])(
  'a Messages client is relayed: thoughts, calls and results of two turns (stream=%s)',
  async (stream) => {
    const ask = (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> => {
      const question: Anthropic.MessageCreateParamsNonStreaming = {
        model: MODEL,
        max_tokens: 4000,
        thinking: { type: 'enabled', budget_tokens: 2000 },
        tools: [ANTHROPIC_TOOL],
        messages,
      };
      return stream
        ? anthropic.messages.stream(question).finalMessage()
        : anthropic.messages.create(question);
    };
    const question: Anthropic.MessageParam = { role: 'user', content: CALL };
    const called = await ask([question]);
    expect(called.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
    expect(called).toMatchObject({ id: 'msg_up', stop_reason: 'tool_use' });
    expect(called.usage).toMatchObject({
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 20,
    });
    const result: Anthropic.ToolResultBlockParam = {
      type: 'tool_result',
      tool_use_id: 'toolu_0',
      content: 'rain',
    };
    const told = await ask([
      question,
      { role: 'assistant', content: called.content },
      { role: 'user', content: [result] },
    ]);
    expect(told.content.at(-1)).toMatchObject({ type: 'text', text: 'TOOL-RESULT-SEEN: "rain"' });
    expect(sent().messages).toMatchObject([{}, { content: called.content }, {}]);
    expect(kinds()).toEqual([]);
  },
);

test('the tool runner, which asks for a thread, goes on without one and asks no service for it', async () => {
  const before = server.calls.length;
  const last = await anthropic.beta.messages.toolRunner({
    model: MODEL,
    max_tokens: 1_000,
    messages: [{ role: 'user', content: CALL }],
    tools: [
      betaTool({
        name: 'weather',
        description: 'The weather of a city.',
        inputSchema: { type: 'object' },
        run: () => 'rain',
      }),
    ],
  });
  expect(last.content).toMatchObject([{ type: 'text', text: 'TOOL-RESULT-SEEN: "rain"' }]);
  const asked = server.calls.slice(before).map(({ body }) => body);
  expect(asked).toMatchObject([{}, { tools: [{}], messages: [{}, {}, {}] }]);
  expect(asked.filter((body) => 'thread' in body)).toEqual([]);
});

test('a relayed body keeps what only its client and its upstream know', async () => {
  await anthropic.messages.create({
    model: MODEL,
    max_tokens: 100,
    metadata: { user_id: 'u' },
    system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }],
    messages: [{ role: 'user', content: 'Hi' }],
  });
  expect(sent()).toEqual({
    model: MODEL,
    max_tokens: 100,
    metadata: { user_id: 'u' },
    system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }],
    messages: [{ role: 'user', content: 'Hi' }],
    stream: false,
  });
  expect(server.calls.at(-1)?.headers).toMatchObject({
    'x-api-key': 'key-a',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'a-2026-01-01',
    'user-agent': 'isthmus',
  });
});

test.each([true, false])(
  'a Chat client gets thoughts, calls, results and usage over two turns (stream=%s)',
  async (stream) => {
    const ask = async (
      messages: OpenAI.ChatCompletionMessageParam[],
    ): Promise<OpenAI.ChatCompletion> => {
      const question: OpenAI.ChatCompletionCreateParamsNonStreaming = {
        model: MODEL,
        messages,
        reasoning_effort: 'low',
        tools: [OPENAI_TOOL],
      };
      return stream
        ? openai.chat.completions
            .stream({ ...question, stream: true, stream_options: { include_usage: true } })
            .finalChatCompletion()
        : openai.chat.completions.create(question);
    };
    const question: OpenAI.ChatCompletionMessageParam = { role: 'user', content: CALL };
    const called = await ask([question]);
    const message = called.choices[0]?.message;
    expect(message?.tool_calls).toMatchObject([
      { id: 'toolu_0', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
    ]);
    expect(called.usage).toMatchObject({
      prompt_tokens: 32,
      completion_tokens: 31,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 11 },
    });
    if (message === undefined) throw new Error('The answer has no message.');
    const told = await ask([
      question,
      { role: 'assistant', content: null, tool_calls: message.tool_calls ?? [] },
      { role: 'tool', tool_call_id: 'toolu_0', content: 'rain' },
    ]);
    expect(told.choices[0]?.message.content).toBe('TOOL-RESULT-SEEN: "rain"');
    // The client cannot carry the thought before its call: it was remembered.
    expect(sent().messages).toMatchObject([
      {},
      { content: [thought('Thinking it over.'), { type: 'tool_use', id: 'toolu_0' }] },
      { content: [{ type: 'tool_result', tool_use_id: 'toolu_0' }] },
    ]);
  },
);

test('a Chat client without a limit is given that of the model, and its prompt is cached', async () => {
  await openai.chat.completions.create({
    model: MODEL,
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'Go on' },
    ],
    tools: [OPENAI_TOOL],
  });
  const mark = { cache_control: { type: 'ephemeral' } };
  expect(sent()).toMatchObject({
    max_tokens: 64_000,
    system: [{ type: 'text', text: 'Be kind.', ...mark }],
    tools: [{ name: 'weather', ...mark }],
    messages: [{ content: [mark] }, {}, { content: [mark] }],
  });
});

test('the Responses client gets text, reasoning and usage', async () => {
  const answer = await openai.responses.create({
    model: MODEL,
    input: 'Hi',
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
  });
  expect(answer.output_text).toBe('Hello there.');
  expect(answer.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
});

test('a thought before plain text goes back with its signature, whatever its client speaks', async () => {
  const [first, more] = [
    { role: 'user' as const, content: 'Hi' },
    { role: 'user' as const, content: 'Go on' },
  ];
  const turn = { content: [thought('Thinking it over.'), { type: 'text', text: 'Hello there.' }] };
  const reasoning = { effort: 'medium', summary: 'auto' } as const;
  const asked = { model: MODEL, reasoning, store: false };
  const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content'];
  const { output } = await openai.responses.create({ ...asked, include, input: [first] });
  const input = [first, ...output, more] as OpenAI.Responses.ResponseInput;
  await openai.responses.create({ ...asked, input });
  expect(sent().messages).toMatchObject([{}, turn, {}]);
  const question = { model: MODEL, reasoning_effort: 'medium' } as const;
  const { choices } = await openai.chat.completions.create({ ...question, messages: [first] });
  const messages = [first, ...choices.map(({ message }) => message), more];
  await openai.chat.completions.create({ ...question, messages });
  expect(sent().messages).toMatchObject([{}, turn, {}]);
  const config = { thinkingConfig: { thinkingBudget: 2000, includeThoughts: true } };
  const say = (text: string) => ({ role: 'user', parts: [{ text }] });
  const { candidates = [] } = await google.models.generateContent({
    ...{ model: MODEL, contents: [say('Hi')], config },
  });
  const said = candidates.flatMap(({ content }) => content ?? []);
  const contents = [say('Hi'), ...said, say('Go on')];
  await google.models.generateContent({ model: MODEL, contents, config });
  expect(sent().messages).toMatchObject([{}, turn, {}]);
  expect(kinds()).toEqual([]);
});

test.each([true, false])(
  'the generate-content client gets text and usage (stream=%s)',
  async (stream) => {
    const question = { model: MODEL, contents: 'Hi', config: { maxOutputTokens: 50 } };
    if (stream) {
      let text = '';
      for await (const chunk of await google.models.generateContentStream(question)) {
        text += chunk.text ?? '';
      }
      expect(text).toBe('Hello there.');
    } else {
      const answer = await google.models.generateContent(question);
      expect(answer.text).toBe('Hello there.');
      expect(answer.usageMetadata).toMatchObject({
        promptTokenCount: 32,
        cachedContentTokenCount: 20,
      });
    }
    expect(sent()).toMatchObject({ max_tokens: 50 });
  },
);

test('an overloaded or limited account is left for another before anything is said', async () => {
  server.script((_body, nth) =>
    nth === 1
      ? {
          kind: 'status',
          status: 429,
          type: 'rate_limit_error',
          message: 'Too fast',
          headers: { 'retry-after': '7' },
        }
      : undefined,
  );
  const answer = await anthropic.messages.create({
    model: MODEL,
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  expect(answer.content).toMatchObject([{ text: 'Hello there.' }]);
  expect(server.calls.map(({ headers }) => headers['x-api-key'])).toEqual(['key-a', 'key-b']);
});

test.each(['silently', 'overloaded_error'])(
  'an answer that breaks off behind its first words ends as an error (%s)',
  async (cut) => {
    server.script(() => ({ kind: 'blocks', blocks: [{ type: 'text', text: 'Once upon' }], cut }));
    const question = {
      model: MODEL,
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Hi' } as const],
    };
    await expect(anthropic.messages.stream(question).finalMessage()).rejects.toThrow(
      cut === 'silently' ? 'cut' : 'overloaded',
    );
    const chunks = await openai.chat.completions.create({
      ...{ model: MODEL, messages: question.messages, stream: true },
    });
    await expect(async () => {
      for await (const _chunk of chunks);
    }).rejects.toThrow();
  },
);

test('a refused signature is taken out, with the thinking that would miss it', async () => {
  const answer = await anthropic.messages.create({
    model: MODEL,
    max_tokens: 4000,
    thinking: { type: 'enabled', budget_tokens: 1500 },
    tools: [ANTHROPIC_TOOL],
    messages: [
      { role: 'user', content: CALL },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Made up.', signature: 'AAAA' },
          { type: 'tool_use', id: 'toolu_0', name: 'weather', input: { city: 'Oslo' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_0', content: 'rain' }] },
    ],
  });
  expect(answer.content).toMatchObject([{ text: 'TOOL-RESULT-SEEN: "rain"' }]);
  expect(server.calls).toHaveLength(2);
  expect(sent().thinking).toBeUndefined();
  expect(kinds()).toEqual(['dropped messages', 'approximated thinking']);
});

test('too long a prompt is told in the words coding CLIs look for', async () => {
  server.script(() => ({
    kind: 'status',
    status: 400,
    type: 'invalid_request_error',
    message: 'prompt is too long: 210000 tokens > 200000 maximum',
  }));
  const asked = anthropic.messages.create({
    model: MODEL,
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  await expect(asked).rejects.toThrow('prompt is too long: 210000 tokens > 200000 maximum');
  expect(server.calls).toHaveLength(1);
});

test('a web search of the upstream reaches a Chat client as citations', async () => {
  const url = 'https://example.com/a';
  const result = { type: 'web_search_result', url, title: 'A', encrypted_content: 'x' };
  const location = {
    ...{ type: 'web_search_result_location', url, title: 'A' },
    ...{ encrypted_index: 'y', cited_text: 'It rains.' },
  };
  server.script(() => ({
    kind: 'blocks',
    blocks: [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rain' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [result] },
      { type: 'text', text: 'So: ' },
      { type: 'text', text: 'it rains.', citations: [location] },
    ],
  }));
  const answer = await openai.chat.completions.create({
    model: MODEL,
    messages: [{ role: 'user', content: 'Does it rain?' }],
    web_search_options: {},
  });
  expect(sent().tools).toMatchObject([{ type: 'web_search_20250305', name: 'web_search' }]);
  const message = answer.choices[0]?.message;
  expect(message?.content).toBe('So: it rains.');
  expect(message?.annotations).toMatchObject([
    { url_citation: { url, title: 'A', start_index: 4, end_index: 13 } },
  ]);
});

const SEARCHED = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rain' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      ...[
        { type: 'web_search_result', url: 'https://a.test/', title: 'A', encrypted_content: 'x' },
      ],
    ],
  },
];

test.each([true, false])(
  'a turn that the service pauses is gone on with for a Chat client (stream=%s)',
  async (stream) => {
    const cited = {
      ...{ type: 'text', text: 'Look: ', citations: [] },
      citations: [{ type: 'web_search_result_location', url: 'https://a.test/', title: 'A' }],
    };
    const paused = [thought('Rain?'), ...SEARCHED, cited];
    const open = { type: 'server_tool_use', id: 'srvtoolu_2', name: 'web_search', input: {} };
    server.script((_body, nth) => {
      if (nth === 1) return { kind: 'blocks', blocks: paused, stop: 'pause_turn' };
      if (nth === 2) return { kind: 'blocks', blocks: [open], stop: 'pause_turn' };
      return { kind: 'blocks', blocks: [{ type: 'text', text: 'it rains.' }] };
    });
    const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model: MODEL,
      messages: [{ role: 'user', content: 'Does it rain?' }],
      web_search_options: {},
    };
    const answer = stream
      ? await openai.chat.completions
          .stream({ ...body, stream: true, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await openai.chat.completions.create(body);
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'Look: it rains.' },
    });
    expect(answer.usage).toMatchObject({ prompt_tokens: 96, completion_tokens: 93 });
    const sentMessages = server.calls.map(({ body: { messages } }) => messages);
    const question = { role: 'user', content: [expect.objectContaining({ type: 'text' })] };
    expect(sentMessages).toEqual([
      [question],
      [question, { role: 'assistant', content: paused }],
      [question, { role: 'assistant', content: paused }, { role: 'assistant', content: [open] }],
    ]);
    expect(kinds()).toEqual([]);
  },
);

test('a turn that the service pauses again and again ends as cut off, with a receipt', async () => {
  server.script(() => ({ kind: 'blocks', blocks: SEARCHED, stop: 'pause_turn' }));
  const answer = await openai.responses.create({
    model: MODEL,
    input: 'Does it rain?',
    tools: [{ type: 'web_search' }],
  });
  expect(answer).toMatchObject({ status: 'incomplete' });
  expect(server.calls).toHaveLength(6);
  expect(kinds()).toEqual(['approximated output']);
});

test('a relayed turn that the service pauses is left to its client', async () => {
  server.script(() => ({ kind: 'blocks', blocks: SEARCHED, stop: 'pause_turn' }));
  const answer = await anthropic.messages.create({
    model: MODEL,
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Does it rain?' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  });
  expect(answer.stop_reason).toBe('pause_turn');
  expect(server.calls).toHaveLength(1);
});

test('a turn that fails where it goes on is made anew', async () => {
  server.script((_body, nth) => {
    if (nth === 1) return { kind: 'blocks', blocks: SEARCHED, stop: 'pause_turn' };
    if (nth === 2) return { kind: 'status', status: 529, type: 'overloaded_error', message: 'No' };
    return { kind: 'blocks', blocks: [{ type: 'text', text: 'It rains.' }] };
  });
  const answer = await openai.chat.completions.create({
    model: MODEL,
    messages: [{ role: 'user', content: 'Does it rain?' }],
    web_search_options: {},
  });
  expect(answer.choices[0]?.message.content).toBe('It rains.');
  expect(server.calls.map(({ body }) => objectsOf(body.messages).length)).toEqual([1, 2, 1]);
});

test('tokens are counted by the upstream, of relayed and of translated requests', async () => {
  const messages = [{ role: 'user', content: 'Hi' } as const];
  const own = await anthropic.messages.countTokens({ model: MODEL, messages });
  expect(own).toEqual({ input_tokens: 42 });
  const edits = [{ type: 'clear_tool_uses_20250919' } as const];
  const edited = { model: MODEL, messages, context_management: { edits } };
  expect(await anthropic.beta.messages.countTokens(edited)).toEqual({
    input_tokens: 42,
    context_management: { original_input_tokens: 70 },
  });
  const other = await google.models.countTokens({ model: MODEL, contents: 'Hi' });
  expect(other.totalTokens).toBe(42);
  expect(server.calls.map(({ path }) => path)).toEqual(Array(3).fill('/v1/messages/count_tokens'));
});

test('a service without counts and lists is estimated, and has no models to show', async () => {
  const bare = await startMessagesUpstream({ hasQueries: false });
  const profile = createMessagesProfile({ baseUrl: bare.url });
  const other = createMessagesUpstream({ profile, clock: createSystemClock() });
  const second = await startWireGateway(other);
  const client = new Anthropic({ apiKey: 'k', baseURL: second.url, maxRetries: 0 });
  const messages = [{ role: 'user', content: 'How many tokens may this be?' } as const];
  const { input_tokens: tokens } = await client.messages.countTokens({ model: MODEL, messages });
  expect(tokens).toBe(7);
  const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400_000) } as const;
  const seen = await client.messages.countTokens({
    model: MODEL,
    messages: [...messages, { role: 'user', content: [{ type: 'image', source }] }],
  });
  expect(seen.input_tokens, 'P066 a picture is no text').toBe(7 + 258);
  const access = { accountId: 'a', credential: 'k', credentialKind: 'api-key' } as const;
  expect(await other.listModels(access, AbortSignal.timeout(5000))).toEqual([]);
  await second.close();
  await other.close();
  await bare.close();
});

test('the list of models is read page by page', async () => {
  const access = { accountId: 'a', credential: 't', credentialKind: 'access-token' } as const;
  const models = await upstream.listModels(access, AbortSignal.timeout(5000));
  expect(models.map(({ id }) => id)).toEqual(['claude-opus-4-5', 'claude-sonnet-4-6']);
  expect(models[0]).toMatchObject({ inputTokenLimit: 200_000, outputTokenLimit: 64_000 });
});

test('a service is asked again without what it does not know of a newer client, and remembers it for its counts', async () => {
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi', note: 'x' }] }];
  const body = { model: MODEL, max_tokens: 50, diagnostics: {}, messages };
  const before = server.calls.length;
  for (const calls of [3, 4]) {
    const answer = await anthropic.post<Anthropic.Message>('/v1/messages', { body });
    expect(answer.content).toMatchObject([{ type: 'text' }]);
    expect(kinds()).toEqual(['dropped diagnostics', 'dropped messages[].content[].note']);
    expect(server.calls).toHaveLength(before + calls);
  }
  const { max_tokens: _limit, ...counted } = body;
  expect(await anthropic.post('/v1/messages/count_tokens', { body: counted })).toEqual({
    input_tokens: 42,
  });
  expect(server.calls).toHaveLength(before + 5);
});
