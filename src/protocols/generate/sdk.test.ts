import { ApiError, GoogleGenAI } from '@google/genai';
import { expect, test } from 'vitest';
import { asGatewayError, GatewayError } from '../../canonical/error.ts';
import type { CanonicalEvent } from '../../canonical/event.ts';
import { fold } from '../../canonical/fold.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import type { GenerateCall, ProtocolRoute } from '../protocol.ts';
import { createGenerateProtocol } from './index.ts';

const protocol = createGenerateProtocol();
const CONTEXT = { model: 'm', createId: (prefix: string) => `${prefix}1`, createdAt: 0 };
const MODEL = {
  id: 'alpha-3-flash',
  displayName: 'Flash',
  description: '',
  createdAt: 0,
  inputTokenLimit: 10,
  outputTokenLimit: 5,
  supportsThinking: true,
  drawsImages: false,
  tasks: ['generate' as const],
};

const USAGE = {
  promptTokens: 3,
  cachedTokens: 0,
  toolPromptTokens: 0,
  answerTokens: 2,
  thoughtTokens: 0,
};

const CALL_ANSWER: readonly CanonicalEvent[] = [
  { kind: 'start', upstreamId: 'r' },
  { kind: 'block-start', index: 0, choice: 0, block: { kind: 'thinking' } },
  { kind: 'block-delta', index: 0, delta: { kind: 'thinking', text: 'hm' } },
  { kind: 'block-end', index: 0, signature: { value: 'U0lH', on: 'tool-call' } },
  { kind: 'block-start', index: 1, choice: 0, block: { kind: 'tool-call', id: 'c1', name: 'w' } },
  { kind: 'block-delta', index: 1, delta: { kind: 'arguments', json: '{"c":1}' } },
  { kind: 'block-end', index: 1 },
  { kind: 'usage', usage: USAGE },
  { kind: 'finish', choices: [{ choice: 0, reason: 'tool-calls' }] },
];

const TEXT_ANSWER: readonly CanonicalEvent[] = [
  { kind: 'start', upstreamId: 'r' },
  { kind: 'block-start', index: 0, choice: 0, block: { kind: 'text' } },
  { kind: 'block-delta', index: 0, delta: { kind: 'text', text: 'Hel' } },
  { kind: 'block-delta', index: 0, delta: { kind: 'text', text: 'lo' } },
  { kind: 'block-end', index: 0 },
  { kind: 'usage', usage: USAGE },
  { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] },
];

type Answer = (call: GenerateCall) => { body: string; contentType: string };

function streamed(events: readonly CanonicalEvent[]): Answer {
  return (call) => {
    const writer = call.createStreamWriter(CONTEXT);
    const text = events.map((event) => writer.write(event) + writer.keepAlive()).join('');
    return { body: writer.keepAlive() + text, contentType: writer.contentType };
  };
}

function relayed(frames: readonly string[]): Answer {
  return (call) => {
    const writer = call.relay?.createStreamWriter(CONTEXT);
    if (writer === undefined) throw new Error('no relay');
    const text = frames.map((frame) => writer.write(readObject(frame), frame) + writer.keepAlive());
    return { body: text.join('') + writer.end(), contentType: writer.contentType };
  };
}

function unary(events: readonly CanonicalEvent[]): Answer {
  return (call) => ({
    body: JSON.stringify(call.writeReply(fold(events), CONTEXT)),
    contentType: 'application/json',
  });
}

/** The SDK on a fetch that runs the protocol's own routes; `calls` is what was read. */
function connect(answer: Answer, apiVersion?: string) {
  const calls: GenerateCall[] = [];
  const fetch = async (input: unknown, init?: { body?: unknown }): Promise<Response> => {
    const url = new URL(String(input));
    try {
      return respond(url, String(init?.body ?? '{}'), (call) => {
        calls.push(call);
        return answer(call);
      });
    } catch (error) {
      const reply = protocol.writeError(asGatewayError(error), { requestId: 'q' });
      return Response.json(reply.body, { status: reply.status });
    }
  };
  const version = apiVersion === undefined ? {} : { apiVersion };
  const client = new GoogleGenAI({
    apiKey: 'k',
    httpOptions: { baseUrl: 'http://gateway.test', fetch, ...version },
  });
  return { client, calls };
}

function respond(url: URL, body: string, answer: Answer): Response {
  const { route, model } = findRoute(url);
  const input = {
    pathModel: model,
    query: url.searchParams,
    headers: {},
    body: readObject(body),
    receipt: createReceipt(),
  };
  switch (route.operation) {
    case 'generate': {
      const { body: text, contentType } = answer(route.readCall(input));
      return new Response(text, { headers: { 'content-type': contentType } });
    }
    case 'count-tokens':
      return Response.json(route.readCall(input).writeCount(42));
    case 'list-models':
      return Response.json(route.writeModels([MODEL], url.searchParams));
    case 'get-model':
      return Response.json(route.writeModel(MODEL));
    default:
      throw new Error(`This protocol has no ${route.operation}.`);
  }
}

function findRoute(url: URL): { route: ProtocolRoute; model: string } {
  for (const route of protocol.routes) {
    const [before = '', after] = route.path.split('{model}');
    const isMatch =
      after === undefined
        ? url.pathname === before
        : url.pathname.startsWith(before) && url.pathname.endsWith(after);
    const model = url.pathname.slice(before.length, url.pathname.length - (after?.length ?? 0));
    if (isMatch && (after === undefined || (model !== '' && !/[:/]/.test(model)))) {
      return { route, model };
    }
  }
  throw new GatewayError({ kind: 'not-found', source: 'client', message: 'No such path.' });
}

function readObject(text: string) {
  const value = parseJson(text);
  if (isJsonObject(value)) return value;
  throw new Error('not an object');
}

const ASK = {
  model: 'alpha-3-flash',
  contents: 'Hi',
  config: { thinkingConfig: { includeThoughts: true } },
};

test.each(['v1', 'v1beta'])('V114 the SDK reads a stream we write under /%s', async (version) => {
  const { client } = connect(streamed(TEXT_ANSWER), version);
  const chunks = [];
  for await (const chunk of await client.models.generateContentStream(ASK)) chunks.push(chunk);
  expect(chunks.map((chunk) => chunk.text)).toEqual(['Hel', 'lo', '']);
  expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
  expect(chunks.at(-1)?.usageMetadata?.totalTokenCount).toBe(5);
});

test('the SDK reads a relayed stream with faulty frames, and its chat keeps the turn', async () => {
  const frames = [
    '{"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]},"index":0}]}',
    '{"candidates":[{"content":{"role":"model","parts":[{"text":"lo"}]},"index":0}]}',
    '{"candidates":[{"finishReason":"STOP","index":0}]}',
    '{"usageMetadata":{"totalTokenCount":7}}',
  ];
  const { client, calls } = connect(relayed(frames));
  const chat = client.chats.create({ model: 'alpha-3-flash' });
  for await (const _chunk of await chat.sendMessageStream({ message: 'one' }));
  for await (const _chunk of await chat.sendMessageStream({ message: 'two' }));
  expect(calls[1]?.relay?.body.contents).toEqual([
    { role: 'user', parts: [{ text: 'one' }] },
    { role: 'model', parts: [{ text: 'Hel' }] },
    { role: 'model', parts: [{ text: 'lo' }] },
    { role: 'user', parts: [{ text: 'two' }] },
  ]);
});

test('a call and its signature survive a tool round of the SDK’s chat', async () => {
  const { client, calls } = connect(streamed(CALL_ANSWER));
  const chat = client.chats.create({ model: 'alpha-3-flash', config: ASK.config });
  const called = [];
  for await (const chunk of await chat.sendMessageStream({ message: 'go' })) {
    called.push(...(chunk.functionCalls ?? []));
  }
  expect(called).toEqual([{ id: 'c1', name: 'w', args: { c: 1 } }]);
  const functionResponse = { id: 'c1', name: 'w', response: { output: 'ok' } };
  for await (const _chunk of await chat.sendMessageStream({ message: { functionResponse } }));
  expect(calls[1]?.request.turns).toMatchObject([
    { role: 'user', parts: [{ text: 'go' }] },
    {
      role: 'assistant',
      parts: [
        { kind: 'thinking', text: 'hm' },
        { kind: 'tool-call', id: 'c1', signature: { value: 'U0lH', on: 'tool-call' } },
      ],
    },
    { role: 'user', parts: [{ kind: 'tool-result', callId: 'c1' }] },
  ]);
});

test('the SDK reads a unary answer', async () => {
  const { client } = connect(unary(CALL_ANSWER));
  const answer = await client.models.generateContent(ASK);
  expect(answer.functionCalls).toEqual([{ id: 'c1', name: 'w', args: { c: 1 } }]);
  expect(answer.usageMetadata?.promptTokenCount).toBe(3);
});

test('the SDK throws for an error in the stream and for an error answer', async () => {
  const error = new GatewayError({ kind: 'overloaded', source: 'upstream', message: 'Busy.' });
  const { client } = connect(streamed([...TEXT_ANSWER.slice(0, 3), { kind: 'error', error }]));
  const read = async () => {
    for await (const _chunk of await client.models.generateContentStream(ASK));
  };
  await expect(read()).rejects.toThrow(/Busy/);
  const refused = client.models.generateContent({ ...ASK, config: { temperature: 9 } });
  await expect(refused).rejects.toBeInstanceOf(ApiError);
  await expect(refused).rejects.toMatchObject({ status: 400 });
});

test('the SDK lists, shows and counts', async () => {
  const { client } = connect(unary(TEXT_ANSWER));
  const names = [];
  for await (const model of await client.models.list()) names.push(model.name);
  expect(names).toEqual(['models/alpha-3-flash']);
  expect(await client.models.get({ model: 'alpha-3-flash' })).toMatchObject({
    name: 'models/alpha-3-flash',
    outputTokenLimit: 5,
  });
  const { totalTokens } = await client.models.countTokens({ model: 'm', contents: 'Hi' });
  expect(totalTokens).toBe(42);
});
