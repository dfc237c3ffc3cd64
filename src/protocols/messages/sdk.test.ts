import { anthropic, createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { generateText, streamText } from 'ai';
import { expect, test } from 'vitest';
import {
  answer,
  callBlock,
  GROUNDING,
  pagesOf,
  readCall,
  replyContext,
  SIGNATURE,
  textBlock,
  thinkingBlock,
  USAGE,
} from '../../../test/support/messages.ts';
import { asGatewayError } from '../../canonical/error.ts';
import type { CanonicalEvent } from '../../canonical/event.ts';
import { fold } from '../../canonical/fold.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import { isJsonObject, parseJson } from '../../lib/json.ts';
import { writeError } from './errors.ts';

type Model = (request: CanonicalRequest) => readonly CanonicalEvent[];

interface FakeGateway {
  readonly fetch: typeof fetch;
  /** Status of every answer given, in order. */
  readonly statuses: number[];
}

/** A gateway of this protocol alone, reached without a socket, whose model is a function. */
function fakeGateway(model: Model): FakeGateway {
  const statuses: number[] = [];
  const respond = (text: string): Response => {
    try {
      const body = parseJson(text);
      if (!isJsonObject(body)) throw new Error('not an object');
      const call = readCall(body);
      const events = model(call.request);
      statuses.push(200);
      if (!call.stream) return Response.json(call.writeReply(fold(events), replyContext()));
      const writer = call.createStreamWriter(replyContext());
      const stream = events.map((event) => writer.write(event)).join('');
      return new Response(stream, { headers: { 'content-type': writer.contentType } });
    } catch (error) {
      const { status, body } = writeError(asGatewayError(error), { requestId: 'req_1' });
      statuses.push(status);
      return Response.json(body, { status });
    }
  };
  return { statuses, fetch: async (_url, init) => respond(String(init?.body)) };
}

const callsThenAnswers: Model = ({ turns }) => {
  const isAnswered = turns.at(-1)?.parts.some((part) => part.kind === 'tool-result');
  const usage: CanonicalEvent = { kind: 'usage', usage: USAGE };
  const block = isAnswered ? textBlock(1, 'done') : callBlock(1, '{"path":"a.txt"}');
  return answer([...thinkingBlock(0, 'hm', SIGNATURE), ...block, usage]);
};

const client = (gateway: FakeGateway) =>
  new Anthropic({
    apiKey: 'k',
    baseURL: 'http://gateway.test',
    fetch: gateway.fetch,
    maxRetries: 0,
  });

test.each([true, false])(
  'the tool runner of the official SDK goes on without server-held threads (stream=%s)',
  async (stream) => {
    const gateway = fakeGateway(callsThenAnswers);
    const runner = client(gateway).beta.messages.toolRunner({
      model: 'beta-sonnet-4-6',
      max_tokens: 400,
      stream,
      messages: [{ role: 'user', content: 'read a.txt' }],
      tools: [
        {
          name: 'w',
          description: 'Reads.',
          input_schema: { type: 'object' },
          parse: (input: unknown) => input,
          run: () => 'content',
        },
      ],
    });
    const message = await runner.runUntilDone();
    expect(message.content.at(-1)).toMatchObject({ type: 'text', text: 'done' });
    expect(gateway.statuses).toEqual([200, 404, 200]);
  },
);

test('the official SDK gives the error class and the request id of a refused body', async () => {
  const request = client(fakeGateway(callsThenAnswers)).messages.create({
    model: 'm',
    max_tokens: -1,
    messages: [{ role: 'user', content: 'x' }],
  });
  await expect(request).rejects.toBeInstanceOf(Anthropic.BadRequestError);
  await expect(request).rejects.toMatchObject({ type: 'invalid_request_error' });
});

test.each([false, true])(
  'an answer of a given form stays the only text behind a search, stream=%s',
  async (stream) => {
    const found: Model = () => answer([...textBlock(0, '{"a":1}'), GROUNDING]);
    const client = new Anthropic({
      apiKey: 'k',
      baseURL: 'http://gateway.test',
      fetch: fakeGateway(found).fetch,
      maxRetries: 0,
    });
    const asked = {
      model: 'beta-sonnet-4-6',
      max_tokens: 50,
      messages: [{ role: 'user' as const, content: 'As JSON' }],
      tools: [{ type: 'web_search_20250305' as const, name: 'web_search' as const }],
      output_config: {
        format: jsonSchemaOutputFormat({
          type: 'object',
          properties: { a: { type: 'integer' } },
          required: ['a'],
          additionalProperties: false,
        }),
      },
    };
    const { content, parsed_output } = stream
      ? await client.messages.stream(asked).finalMessage()
      : await client.messages.parse(asked);
    expect(parsed_output).toEqual({ a: 1 });
    expect(content.map(({ type }) => type)).toEqual([
      'text',
      'server_tool_use',
      'web_search_tool_result',
    ]);
  },
);

const searches: Model = () => answer([...textBlock(0, 'Hi'), GROUNDING]);

test('the AI SDK takes thinking, calls and searches, unary and streamed', async () => {
  const provider = (model: Model) =>
    createAnthropic({
      apiKey: 'k',
      baseURL: 'http://gateway.test/v1',
      fetch: fakeGateway(model).fetch,
    })('beta-sonnet-4-6');
  const called = await generateText({
    model: provider(callsThenAnswers),
    prompt: 'x',
    maxRetries: 0,
  });
  expect(called.toolCalls).toMatchObject([{ toolName: 'w', input: { path: 'a.txt' } }]);
  expect(called.reasoningText).toBe('hm');
  expect(called.usage.inputTokens).toBe(100);
  const errors: unknown[] = [];
  const streamed = streamText({
    model: provider(searches),
    prompt: 'x',
    maxRetries: 0,
    onError: ({ error }) => {
      errors.push(error);
    },
  });
  expect(await streamed.text).toBe('Hi\n\nSearched: q\n1. T - u');
  expect(await streamed.finishReason).toBe('stop');
  expect(errors).toEqual([]);
});

test.each([
  anthropic.tools.webFetch_20250910,
  anthropic.tools.webFetch_20260209,
  anthropic.tools.webFetch_20260318,
])('the AI SDK takes pages that were opened, unary and streamed', async (webFetch) => {
  const reads: Model = () => answer([...textBlock(0, 'Hi'), pagesOf()]);
  const { fetch } = fakeGateway(reads);
  const model = createAnthropic({ apiKey: 'k', baseURL: 'http://gateway.test/v1', fetch })('m');
  const asked = { model, prompt: 'x', maxRetries: 0, tools: { web_fetch: webFetch({}) } };
  const whole = await generateText(asked);
  const streamed = streamText(asked);
  const page = { type: 'web_fetch_result', url: 'https://a.test/' };
  for (const results of [whole.toolResults, await streamed.toolResults]) {
    expect(results).toMatchObject([{ toolName: 'web_fetch', output: page }]);
  }
});
