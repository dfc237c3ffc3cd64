// A gateway behind a gateway, over any two wires: what a client gets is what it gets of the second alone.

import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSystemClock } from '../../src/lib/clock.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { createChatUpstream } from '../../src/upstreams/chat/index.ts';
import { createCompatibleProfile } from '../../src/upstreams/chat/profiles.ts';
import { createUpstream } from '../../src/upstreams/index.ts';
import type { Upstream } from '../../src/upstreams/upstream.ts';
import { startChatUpstream } from '../support/chat-upstream.ts';
import { startMessagesUpstream, thought } from '../support/messages-upstream.ts';
import { createPassingClock } from '../support/passing-clock.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { GATEWAY_KEY, startGatewayOver } from '../support/upstream-gateway.ts';
import { startWireGateway, type WireGateway } from '../support/wire-gateway.ts';

const WIRES = ['messages', 'chat', 'generate'] as const;
type Wire = (typeof WIRES)[number];

const MODELS: Readonly<Record<Wire, string>> = {
  messages: 'claude-opus-4-5',
  chat: 'deepseek-reasoner',
  generate: 'gemini-2.5-flash',
};
const THOUGHT = 'It is about rain.';
const TEXT = 'Let me look.';
const ANSWER = 'It rains in Oslo.';
const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' as const } } };

/** What a client has of one answer, whatever it speaks. */
interface Seen {
  text: string;
  thinking: string;
  calls: { name: string; input: unknown }[];
  usage: { input: number; output: number };
}

/** Two turns: the question, and the result of the call that it led to. */
type Conversation = (url: string, stream: boolean) => Promise<readonly Seen[]>;

const closers: (() => Promise<void>)[] = [];
/** By the wire of the services behind them. */
const oneHop = new Map<Wire, WireGateway>();
/** By the wire to the second gateway, and that to the service. */
const twoHops = new Map<string, WireGateway>();

beforeAll(async () => {
  const services = await startServices();
  for (const wire of WIRES) oneHop.set(wire, await startGateway(wire, services[wire]));
  for (const first of WIRES) {
    for (const second of WIRES) {
      const { url = '' } = oneHop.get(second) ?? {};
      const base = first === 'chat' ? `${url}/v1` : url;
      twoHops.set(`${first} ${second}`, await startGateway(first, base));
    }
  }
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

async function startGateway(wire: Wire, baseUrl: string): Promise<WireGateway> {
  const upstream = upstreamOf(wire, baseUrl);
  const gateway = await startWireGateway(upstream, { model: MODELS[wire] });
  closers.push(() => upstream.close(), gateway.close);
  return gateway;
}

function upstreamOf(wire: Wire, baseUrl: string): Upstream & { close(): Promise<void> } {
  const clock = createSystemClock();
  if (wire === 'messages') return createUpstream({ profile: 'messages', baseUrl }, { clock });
  if (wire === 'generate') return createUpstream({ profile: 'gemini-api', baseUrl }, { clock });
  const quirks = {
    preset: 'deepseek',
    limitField: 'max_completion_tokens',
    effort: 'field',
    efforts: ['low', 'high'],
  } as const;
  return createChatUpstream({ profile: createCompatibleProfile({ baseUrl, quirks }), clock });
}

async function startServices(): Promise<Readonly<Record<Wire, string>>> {
  const messages = await startMessagesUpstream();
  const answered = { kind: 'blocks', blocks: [{ type: 'text', text: ANSWER }] } as const;
  messages.script(({ messages: turns, stop_sequences: stops }) => {
    if (stops !== undefined) return { ...answered, stop: 'stop_sequence', stopSequence: 'END' };
    if (JSON.stringify(turns).includes('tool_result')) return answered;
    const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } };
    const blocks = [thought(THOUGHT), { type: 'text', text: TEXT }, call];
    return { kind: 'blocks', stop: 'tool_use', blocks };
  });
  const chat = await startChatUpstream([MODELS.chat]);
  chat.answer(({ messages: turns }) => {
    if (JSON.stringify(turns).includes('tool_call_id')) {
      return { kind: 'message', message: { content: ANSWER } };
    }
    const call = { name: 'weather', arguments: '{"city":"Oslo"}' };
    const tool_calls = [{ id: 'call_1', type: 'function', function: call }];
    const message = { reasoning_content: THOUGHT, content: TEXT, tool_calls };
    return { kind: 'message', message, finish: 'tool_calls' };
  });
  const generate = await startScriptedUpstream([MODELS.generate]);
  generate.script({
    model: ({ body }) => ({
      kind: 'frames',
      frames: [
        JSON.stringify(body).includes('functionResponse')
          ? frameOf([{ text: ANSWER }])
          : frameOf([
              { text: THOUGHT, thought: true },
              { text: TEXT },
              {
                functionCall: { name: 'weather', args: { city: 'Oslo' } },
                thoughtSignature: 'c2lnbmF0dXJlLW9uZS1vZi10aGUtbW9kZWw=',
              },
            ]),
      ],
    }),
  });
  closers.push(messages.close, chat.close, generate.close);
  return { messages: messages.url, chat: chat.url, generate: generate.url };
}

function frameOf(parts: JsonObject[]): JsonObject {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 20, totalTokenCount: 50 },
    modelVersion: MODELS.generate,
    responseId: 'one',
  };
}

function thinkingOf(message: object | undefined): string {
  return String(Object(message).reasoning_content ?? '');
}

const CLIENTS: Readonly<Record<Wire, Conversation>> = {
  async messages(baseURL, stream) {
    const client = new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'The weather in Oslo?' }];
    const ask = async (): Promise<Anthropic.Message> => {
      const body: Anthropic.MessageCreateParamsNonStreaming = {
        model: 'm',
        max_tokens: 4000,
        thinking: { type: 'enabled', budget_tokens: 2000 },
        tools: [{ name: 'weather', input_schema: SCHEMA }],
        messages,
      };
      return stream ? client.messages.stream(body).finalMessage() : client.messages.create(body);
    };
    const called = await ask();
    const results = called.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'rain' }]
        : [],
    );
    messages.push({ role: 'assistant', content: called.content });
    messages.push({ role: 'user', content: results });
    return [called, await ask()].map(({ content, usage }) => ({
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      thinking: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
      calls: content.flatMap((block) =>
        block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [],
      ),
      usage: {
        input:
          usage.input_tokens +
          (usage.cache_creation_input_tokens ?? 0) +
          (usage.cache_read_input_tokens ?? 0),
        output: usage.output_tokens,
      },
    }));
  },

  async chat(url, stream) {
    const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 });
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'user', content: 'The weather in Oslo?' },
    ];
    const ask = async () => {
      const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
        model: 'm',
        messages,
        reasoning_effort: 'high',
        tools: [{ type: 'function', function: { name: 'weather', parameters: SCHEMA } }],
      };
      if (!stream) {
        const reply = await client.chat.completions.create(body);
        return { reply, thinking: thinkingOf(reply.choices[0]?.message) };
      }
      // The official accumulator keeps the last piece alone of a field it does not know.
      let thinking = '';
      const reply = await client.chat.completions
        .stream({ ...body, stream: true, stream_options: { include_usage: true } })
        .on('chunk', ({ choices: [choice] }) => {
          thinking += thinkingOf(choice?.delta);
        })
        .finalChatCompletion();
      return { reply, thinking };
    };
    const called = await ask();
    const { content = null, tool_calls = [] } = called.reply.choices[0]?.message ?? {};
    const made = tool_calls.flatMap((call) =>
      call.type === 'function'
        ? [
            {
              id: call.id,
              type: call.type,
              function: { name: call.function.name, arguments: call.function.arguments },
            },
          ]
        : [],
    );
    messages.push({ role: 'assistant', content, tool_calls: made });
    for (const { id } of made) messages.push({ role: 'tool', tool_call_id: id, content: 'rain' });
    return [called, await ask()].map(
      ({
        reply: {
          choices: [choice],
          usage,
        },
        thinking,
      }) => ({
        text: choice?.message.content ?? '',
        thinking,
        calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
          call.type === 'function'
            ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) }]
            : [],
        ),
        usage: { input: usage?.prompt_tokens ?? 0, output: usage?.completion_tokens ?? 0 },
      }),
    );
  },

  async generate(baseUrl, stream) {
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl } });
    type Contents = { role: string; parts: NonNullable<unknown>[] }[];
    const contents: Contents = [{ role: 'user', parts: [{ text: 'The weather in Oslo?' }] }];
    const ask = async () => {
      const body = {
        model: 'm',
        contents,
        config: {
          thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 },
          tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: SCHEMA }] }],
        },
      };
      const chunks = stream
        ? await Array.fromAsync(await client.models.generateContentStream(body))
        : [await client.models.generateContent(body)];
      const parts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
      return { parts, usage: chunks.findLast((one) => one.usageMetadata)?.usageMetadata };
    };
    const called = await ask();
    contents.push({ role: 'model', parts: called.parts });
    contents.push({
      role: 'user',
      parts: called.parts.flatMap(({ functionCall: call }) =>
        call ? [{ functionResponse: { id: call.id, name: call.name, response: { ok: 1 } } }] : [],
      ),
    });
    return [called, await ask()].map(({ parts, usage }) => ({
      text: parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''),
      thinking: parts.map(({ text, thought }) => (thought ? (text ?? '') : '')).join(''),
      calls: parts.flatMap(({ functionCall: call }) =>
        call ? [{ name: call.name ?? '', input: call.args }] : [],
      ),
      usage: {
        input: usage?.promptTokenCount ?? 0,
        output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
      },
    }));
  },
};

const PAIRS = WIRES.flatMap((first) => WIRES.map((second) => [first, second] as const));
const CASES = WIRES.flatMap((client) =>
  PAIRS.flatMap((pair) => [true, false].map((stream) => [client, ...pair, stream] as const)),
);

test.each(CASES)(
  'a %s client over a gateway of the %s wire before one of the %s wire gets the same (stream=%s)',
  async (client, first, second, stream) => {
    const converse = CLIENTS[client];
    const alone = await converse(oneHop.get(second)?.url ?? '', stream);
    const behind = await converse(twoHops.get(`${first} ${second}`)?.url ?? '', stream);
    expect(behind).toEqual(alone);
    expect(alone).toMatchObject([
      { text: TEXT, thinking: THOUGHT, calls: [{ name: 'weather', input: { city: 'Oslo' } }] },
      { text: ANSWER, calls: [] },
    ]);
    for (const { usage } of alone) expect(usage.input * usage.output).toBeGreaterThan(0);
  },
);

test.each([
  ['messages', false],
  ['messages', true],
  ['chat', false],
  ['chat', true],
  ['generate', false],
  ['generate', true],
] as const)(
  'the stop sequence of a service of the Messages wire is told over a gateway of the %s wire (stream=%s)',
  async (first, stream) => {
    const baseURL = twoHops.get(`${first} messages`)?.url ?? '';
    const client = new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 });
    const body: Anthropic.MessageCreateParamsNonStreaming = {
      ...{ model: 'm', max_tokens: 100, stop_sequences: ['END'] },
      messages: [{ role: 'user', content: 'The weather in Oslo?' }],
    };
    const answer = stream
      ? await client.messages.stream(body).finalMessage()
      : await client.messages.create(body);
    expect(answer).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
  },
);

test.each(WIRES)(
  'what a gateway has tried in vain is not tried there again by the one before it, over the %s wire',
  async (wire) => {
    const service = await startChatUpstream([MODELS.chat]);
    const error = { message: 'Overloaded', type: 'server_error' };
    service.answer(() => ({ kind: 'status', status: 503, body: { error } }));
    const inner = await startGatewayOver(upstreamOf('chat', service.url), createPassingClock());
    const url = wire === 'chat' ? `${inner.url}/v1` : inner.url;
    const outer = await startGatewayOver(upstreamOf(wire, url), createPassingClock());
    closers.push(service.close, inner.close, outer.close);
    const asked = await fetch(`${outer.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODELS.chat, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    expect(asked.status).toBe(503);
    // Each of the two accounts of each gateway, and those of the inner one up to four times in all.
    expect(asked.headers.get('x-isthmus-attempts')).toBe('2');
    expect(service.calls).toHaveLength(8);
  },
);

test.each([true, false])(
  'an empty answer that a gateway passes on after its own attempts is not asked for there again (stream=%s)',
  async (stream) => {
    const service = await startMessagesUpstream();
    service.script(() => ({ kind: 'blocks', blocks: [] }));
    const inner = await startGatewayOver(upstreamOf('messages', service.url), createPassingClock());
    const outer = await startGatewayOver(upstreamOf('messages', inner.url), createPassingClock());
    closers.push(service.close, inner.close, outer.close);
    const asked = await fetch(`${outer.url}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: MODELS.messages, max_tokens: 100, stream },
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    });
    expect(await asked.text()).toContain('end_turn');
    expect(asked.headers.get('x-isthmus-attempts')).toBe('2');
    expect(service.calls).toHaveLength(8);
  },
);

test.each(['messages', 'generate'] as const)(
  'what the second gateway loses is told in the receipt of the first, over the %s wire',
  async (wire) => {
    const service = await startChatUpstream([MODELS.chat]);
    const inner = await startGatewayOver(upstreamOf('chat', service.url), createPassingClock());
    const outer = await startGatewayOver(upstreamOf(wire, inner.url), createPassingClock());
    closers.push(service.close, inner.close, outer.close);
    const ask = (top_k?: number) =>
      fetch(`${outer.url}/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ model: MODELS.chat, max_tokens: 100, top_k },
          messages: [{ role: 'user', content: 'Hi' }],
        }),
      });
    const whole = await ask();
    expect([whole.status, whole.headers.get('x-isthmus-receipt')]).toEqual([200, null]);
    const lost = await ask(5);
    expect(lost.headers.get('x-isthmus-receipt')).toBe('dropped=1;approximated=0;repaired=0');
  },
);
