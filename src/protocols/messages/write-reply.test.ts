import type Anthropic from '@anthropic-ai/sdk';
import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream';
import { Stream } from '@anthropic-ai/sdk/streaming';
import fc from 'fast-check';
import { expect, expectTypeOf, test } from 'vitest';
import {
  answer,
  callBlock,
  GROUNDING,
  pagesOf,
  parseFrames,
  replyContext,
  SIGNATURE,
  textBlock,
  thinkingBlock,
  USAGE,
  writeStream,
} from '../../../test/support/messages.ts';
import { foldFrames } from '../../../test/support/stream-grammar/messages.ts';
import type { CanonicalEvent } from '../../canonical/event.ts';
import { fold } from '../../canonical/fold.ts';
import type { writeModel } from './models.ts';
import { MessagesWriter } from './write-events.ts';
import { writeMessagesReply } from './write-reply.ts';

const unary = (events: CanonicalEvent[]) =>
  writeMessagesReply(fold(events), replyContext(), { omitsThinking: false });

test('V050 V051 a unary answer has content, stop reason and usage without the cached tokens', () => {
  const usage: CanonicalEvent = { kind: 'usage', usage: USAGE };
  expect(unary(answer([...textBlock(0, 'Hi'), usage]))).toEqual({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'beta-sonnet-4-6',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    usage: {
      input_tokens: 40,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 60,
      output_tokens: 12,
      output_tokens_details: { thinking_tokens: 7 },
      service_tier: 'standard',
    },
  });
});

test('V053 V058 a call keeps its id and its arguments as the model gave them', () => {
  const reply = unary(answer(callBlock(0, '{"version":"01.0","code":"007"}')));
  expect(reply).toMatchObject({
    content: [{ type: 'tool_use', id: 'c0', name: 'w', input: { version: '01.0', code: '007' } }],
    stop_reason: 'tool_use',
  });
});

test('numbers a double cannot hold stay as written in call arguments', () => {
  const reply = unary(answer(callBlock(0, '{"n":12345678901234567890}')));
  expect(JSON.stringify(reply.content)).toContain('"n":12345678901234567890');
});

test('a search of which only the queries are known is told without any text', () => {
  const early = { ...GROUNDING, sources: [], citations: [], isEarly: true as const };
  const events = answer([early, ...callBlock(0, '{}')], { reason: 'tool-calls' });
  const types = ['tool_use', 'server_tool_use', 'web_search_tool_result'];
  const { content } = foldFrames(parseFrames(writeStream(events)));
  expect(content).toMatchObject(types.map((type) => ({ type })));
  expect(content).toHaveLength(types.length);
  expect(unary(events).content).toHaveLength(types.length);
});

/** The message the official SDK accumulates from a stream. */
async function accumulate(text: string): Promise<Anthropic.Message> {
  const frames = Stream.fromSSEResponse<Anthropic.MessageStreamEvent>(
    new Response(text),
    new AbortController(),
  );
  return MessageStream.fromReadableStream(frames.toReadableStream()).finalMessage();
}

const EVERYTHING = answer(
  [
    ...thinkingBlock(0, 'hm', SIGNATURE),
    ...textBlock(1, 'Hel', 'lo'),
    GROUNDING,
    ...callBlock(2, '{"c":"Ö"}', { value: 'T', on: 'tool-call' }),
    { kind: 'usage', usage: USAGE },
  ],
  { reason: 'tool-calls' },
);

test('the official SDK accumulates the stream to the unary reply', async () => {
  const message = await accumulate(writeStream(EVERYTHING));
  const reply = writeMessagesReply(fold(EVERYTHING), replyContext(), { omitsThinking: false });
  // What the helper adds of its own.
  const expected = { ...reply, parsed_output: null };
  expect(JSON.parse(JSON.stringify(message))).toEqual(JSON.parse(JSON.stringify(expected)));
});

test('pings between all frames change nothing for the official SDK', async () => {
  const writer = new MessagesWriter(replyContext(), { omitsThinking: false });
  const text = EVERYTHING.map((event) => writer.keepAlive() + writer.write(event)).join('');
  expect((await accumulate(text)).stop_reason).toBe('tool_use');
});

test('what is written fits the official types', () => {
  type Reply = ReturnType<typeof writeMessagesReply>;
  type Block<Tag> = Extract<Reply['content'][number], { type: Tag }>;
  expectTypeOf<Reply['stop_reason']>().toExtend<Anthropic.StopReason | null>();
  expectTypeOf<Reply['stop_details']>().toExtend<Anthropic.RefusalStopDetails | null>();
  expectTypeOf<Block<'text'>['citations'] & {}>().toExtend<
    Anthropic.CitationsWebSearchResultLocation[]
  >();
  expectTypeOf<
    Block<'web_search_tool_result'>['content'][number]
  >().toExtend<Anthropic.WebSearchResultBlock>();
  expectTypeOf<ReturnType<typeof writeModel>>().toExtend<Anthropic.ModelInfo>();
  expectTypeOf<Reply['usage']>().toExtend<Partial<Anthropic.Usage>>();
});

const signatures = fc.option(
  fc.record({
    value: fc.string({ minLength: 1, maxLength: 6 }),
    family: fc.constantFrom('g3', undefined),
    on: fc.constantFrom('thinking' as const, 'tool-call' as const),
  }),
  { nil: undefined },
);

const blocks = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('text' as const),
      texts: fc.array(fc.string({ unit: 'binary' })),
    }),
    fc.record({ kind: fc.constant('thinking' as const), text: fc.string(), signature: signatures }),
    fc.record({ kind: fc.constant('call' as const), input: fc.jsonValue(), signature: signatures }),
    fc.constant({ kind: 'image' as const }),
  ),
  { maxLength: 6 },
);

type Block = typeof blocks extends fc.Arbitrary<(infer Item)[]> ? Item : never;

function eventsOf(block: Block, index: number): CanonicalEvent[] {
  switch (block.kind) {
    case 'text':
      return textBlock(index, ...block.texts);
    case 'thinking':
      return thinkingBlock(index, block.text, block.signature);
    case 'call':
      return callBlock(index, JSON.stringify({ v: block.input }), block.signature);
    default:
      return [
        {
          kind: 'block-start',
          index,
          choice: 0,
          block: { kind: 'media', mediaType: 'image/png', base64: 'AA==' },
        },
        { kind: 'block-end', index },
      ];
  }
}

test('any event sequence gives a stream within the grammar that folds to the unary reply', () => {
  const reasons = fc.constantFrom('stop' as const, 'max-tokens' as const, 'safety' as const);
  const groundings = fc.constantFrom<CanonicalEvent[]>(
    ...[[], [GROUNDING], [pagesOf()], [pagesOf(GROUNDING)]],
  );
  fc.assert(
    fc.property(blocks, fc.boolean(), groundings, reasons, (list, omits, found, reason) => {
      const events = answer(
        [...list.flatMap(eventsOf), ...found, { kind: 'usage', usage: USAGE }],
        { reason },
      );
      const streamed = foldFrames(parseFrames(writeStream(events, omits, omits)));
      const options = { omitsThinking: omits, fetchesPages: omits };
      const reply = writeMessagesReply(fold(events), replyContext(), options);
      expect(JSON.stringify(sorted(streamed))).toBe(JSON.stringify(sorted(reply)));
    }),
    { numRuns: 150 },
  );
});

/** The same value with keys in one order, also below `__proto__`. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}

const pages = (events: CanonicalEvent[], fetchesPages: boolean) => {
  const options = { omitsThinking: false, fetchesPages };
  return writeMessagesReply(fold(answer(events)), replyContext(), options);
};

test('ids of searches and opened pages are of the form that the wire has for them', () => {
  const context = { ...replyContext(), createId: (prefix: string) => `${prefix}-a_b-1` };
  const options = { omitsThinking: false, fetchesPages: true };
  const { content } = writeMessagesReply(fold(answer([pagesOf()])), context, options);
  expect(content.slice(0, 2)).toMatchObject([
    ...[{ id: 'srvtoolu__a_b_1' }, { tool_use_id: 'srvtoolu__a_b_1' }],
  ]);
});

test('pages that were opened are fetches, of which the text is not known', () => {
  const { content, usage } = pages([...textBlock(0, 'Hi'), pagesOf()], true);
  const page = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: '' },
    title: null,
    citations: { enabled: false },
  };
  const [readUrl, refusedUrl] = ['https://a.test/', 'https://b.test/'];
  const result = { type: 'web_fetch_result', url: readUrl, retrieved_at: null, content: page };
  const refusal = { type: 'web_fetch_tool_result_error', error_code: 'url_not_allowed' };
  const caller = { type: 'direct' };
  const call = { type: 'server_tool_use', caller, name: 'web_fetch' };
  const fetched = { type: 'web_fetch_tool_result', caller };
  expect(content).toEqual([
    { type: 'text', text: 'Hi' },
    { ...call, id: 'srvtoolu_2', input: { url: readUrl } },
    { ...fetched, tool_use_id: 'srvtoolu_2', content: result },
    { ...call, id: 'srvtoolu_3', input: { url: refusedUrl } },
    { ...fetched, tool_use_id: 'srvtoolu_3', content: refusal },
  ]);
  expect(usage).toMatchObject({
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 2 },
  });
});

test('sources of opened pages are no search, and pages nobody asked for are not shown', () => {
  const cited = pagesOf({ ...GROUNDING, queries: [] });
  const typesOf = (events: CanonicalEvent[], fetches: boolean): unknown =>
    JSON.stringify(pages(events, fetches)).match(/web_(?:search|fetch)"/g);
  expect(typesOf([cited], true)).toEqual(['web_fetch"', 'web_fetch"']);
  expect(JSON.stringify(pages([cited], true))).toContain('Read on the web\\n1. T - u');
  expect(typesOf([pagesOf(GROUNDING)], true)).toEqual(['web_fetch"', 'web_fetch"', 'web_search"']);
  expect(pages([pagesOf()], false).content).toEqual([]);
  expect(typesOf([cited], false)).toEqual(['web_search"']);
});
