import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, streamText, tool } from 'ai';
import { expect, test } from 'vitest';
import { createReceipt } from '../../canonical/receipt.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import { eventsOf, stream, TOOL_ANSWER, unary } from './answers.test-support.ts';
import { readChatRequest } from './read-request.ts';

const tools = {
  w: tool({
    inputSchema: jsonSchema({ type: 'object', properties: { c: { type: 'string' } } }),
    execute: async () => 'rain',
  }),
};

/** The provider used by several coding clients, answered with this body; requests are kept. */
function clientFor(body: string, contentType: string) {
  const sent: string[] = [];
  const respond = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    sent.push(String(init?.body));
    return new Response(body, { headers: { 'content-type': contentType } });
  };
  const provider = createOpenAICompatible({
    name: 'gateway',
    baseURL: 'http://127.0.0.1/v1',
    includeUsage: true,
    fetch: respond,
  });
  return { model: provider('m'), sent };
}

test('AI SDK reads thoughts, text, parallel calls and usage of a stream', async () => {
  const { model } = clientFor(stream(TOOL_ANSWER), 'text/event-stream');
  const result = streamText({ model, prompt: 'hi', tools });
  expect(await result.reasoningText).toBe('Let me see.');
  expect(await result.text).toBe('Looking: "é😀"\n');
  expect((await result.toolCalls).map((call) => call.input)).toEqual([{ c: 'P' }, {}]);
  expect(await result.finishReason).toBe('tool-calls');
  expect(await result.usage).toMatchObject({ inputTokens: 41, outputTokens: 19 });
});

test('P026 AI SDK hands ids, thoughts and the signature back, and they are read again', async () => {
  const { model, sent } = clientFor(JSON.stringify(unary(TOOL_ANSWER)), 'application/json');
  const { response } = await generateText({ model, prompt: 'hi', tools });
  await generateText({ model, messages: response.messages, tools });
  const body = parseJson(sent.at(-1) ?? '');
  if (!isJsonObject(body)) throw new Error('The client sent no object.');
  const { turns } = readChatRequest(body, createReceipt()).canonical;
  expect(turns[0]?.parts).toMatchObject([
    { kind: 'thinking', text: 'Let me see.' },
    { kind: 'text' },
    { kind: 'tool-call', id: 'call_1', signature: { value: 'SIG', family: 'fam' } },
    { kind: 'tool-call', id: 'call_2', input: {} },
  ]);
  expect(turns.slice(1)).toMatchObject([
    { parts: [{ kind: 'tool-result', callId: 'call_1' }] },
    { parts: [{ kind: 'tool-result', callId: 'call_2' }] },
  ]);
});

test('AI SDK takes a stream whose call is signed only at its end', async () => {
  const events = eventsOf([
    [{ kind: 'call', id: 'c', name: 'w', json: ['{"c":"P"}'], lateSignature: 'LATE' }],
  ]);
  const { model } = clientFor(stream(events), 'text/event-stream');
  const calls = await streamText({ model, prompt: 'hi', tools }).toolCalls;
  expect(calls).toMatchObject([{ toolCallId: 'c', input: { c: 'P' } }]);
});
