// How fast the upstream says it answered reaches the client in the words of its own protocol, over any wire.

import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../src/lib/clock.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { createUpstream } from '../../src/upstreams/index.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { startWireGateway } from '../support/wire-gateway.ts';

type Wire = 'messages' | 'chat' | 'generate';
type Client = Wire | 'responses';

const frame = (value: JsonObject): string =>
  `${typeof value.type === 'string' ? `event: ${value.type}\n` : ''}data: ${JSON.stringify(value)}\n\n`;

/** An answer of each wire, whole or streamed, that was served in this tier. */
const ANSWERS: Readonly<Record<Wire, (tier: string, stream: boolean) => string>> = {
  messages(service_tier, stream) {
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm' };
    const usage = { input_tokens: 1, output_tokens: 1, service_tier };
    const block = { type: 'text', text: 'Hi' };
    if (!stream) {
      return JSON.stringify({ ...message, content: [block], stop_reason: 'end_turn', usage });
    }
    const frames = [
      { type: 'message_start', message: { ...message, content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    return frames.map(frame).join('');
  },
  chat(service_tier, stream) {
    const said = { [stream ? 'delta' : 'message']: { role: 'assistant', content: 'Hi' } };
    const choices = [{ index: 0, ...said, finish_reason: 'stop' }];
    const answer = { id: 'c', model: 'm', service_tier, choices };
    return stream ? `${frame(answer)}data: [DONE]\n\n` : JSON.stringify(answer);
  },
  generate(serviceTier, stream) {
    const content = { role: 'model', parts: [{ text: 'Hi' }] };
    const answer = {
      candidates: [{ content, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, serviceTier },
    };
    return stream ? frame(answer) : JSON.stringify(answer);
  },
};

const MODELS = { messages: 'claude-opus-4-5', chat: 'some-model', generate: 'gemini-2.5-flash' };

async function startService(wire: Wire, tier: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const stream =
      /stream/.test(request.url ?? '') || /"stream":true/.test(await readText(request));
    const type = stream ? 'text/event-stream' : 'application/json';
    response.writeHead(200, { 'content-type': type }).end(ANSWERS[wire](tier, stream));
  });
  const { url, close } = await serveOnLoopback(server);
  onTestFinished(close);
  return url;
}

const PROFILES = {
  messages: 'messages',
  chat: 'openai-compatible',
  generate: 'gemini-api',
} as const;

async function startGateway(wire: Wire, url: string): Promise<string> {
  const upstream = createUpstream(
    { profile: PROFILES[wire], baseUrl: wire === 'chat' ? `${url}/v1` : url },
    { clock: createSystemClock() },
  );
  const gateway = await startWireGateway(upstream, { model: MODELS[wire] });
  onTestFinished(async () => {
    await gateway.close();
    await upstream.close();
  });
  return gateway.url;
}

const QUESTIONS: Readonly<Record<Client, (stream: boolean) => readonly [string, JsonObject]>> = {
  chat: (stream) => [
    '/v1/chat/completions',
    { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream },
  ],
  responses: (stream) => ['/v1/responses', { model: 'm', input: 'Hi', stream }],
  messages: (stream) => [
    '/v1/messages',
    { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], stream },
  ],
  generate: (stream) => [
    `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
};

/** The last word for it that stands anywhere in the answer. */
async function tierTold(url: string, client: Client, stream: boolean): Promise<unknown> {
  const [path, body] = QUESTIONS[client](stream);
  const answer = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
  const text = await answer.text();
  expect({ status: answer.status, text }).toMatchObject({ status: 200 });
  const values = stream ? [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => json) : [text];
  const found = values.flatMap((json = '') => {
    const value = parseJson(json);
    const { response, message, usage, usageMetadata } = isJsonObject(value) ? value : {};
    const inner = isJsonObject(message) ? message.usage : undefined;
    return [value, response, inner, usage, usageMetadata].filter(isJsonObject);
  });
  return found.map((one) => one.service_tier ?? one.serviceTier).findLast(Boolean);
}

const ROWS: readonly [Wire, string, Partial<Record<Client, string>>][] = [
  ['messages', 'priority', { chat: 'priority', responses: 'priority', generate: 'priority' }],
  ['messages', 'standard', { chat: 'default', responses: 'default', generate: 'standard' }],
  ['chat', 'flex', { responses: 'flex', messages: 'standard', generate: 'flex' }],
  ['chat', 'default', { responses: 'default', messages: 'standard', generate: 'standard' }],
  ['generate', 'priority', { chat: 'priority', responses: 'priority', messages: 'priority' }],
];

test.each(ROWS)(
  'a service of the %s wire that answers as "%s" is told of so: %j',
  async (wire, tier, wanted) => {
    const url = await startGateway(wire, await startService(wire, tier));
    for (const client of ['chat', 'responses', 'messages', 'generate'] as const) {
      const word = wanted[client];
      if (word === undefined) continue;
      for (const stream of [false, true]) {
        expect([client, stream, await tierTold(url, client, stream)]).toEqual([
          client,
          stream,
          word,
        ]);
      }
    }
  },
);

test.each(['messages', 'chat', 'generate'] as const)(
  'a gateway before another reads the tier from it over the %s wire',
  async (wire) => {
    const inner = await startGateway('messages', await startService('messages', 'priority'));
    const outer = await startGateway(wire, inner);
    for (const client of ['chat', 'responses', 'messages', 'generate'] as const) {
      // On generate-content it comes with the usage, at the end: too late for a stream that has begun.
      for (const stream of wire === 'generate' && client !== 'generate' ? [false] : [false, true]) {
        expect([client, stream, await tierTold(outer, client, stream)]).toEqual([
          client,
          stream,
          'priority',
        ]);
      }
    }
  },
);
