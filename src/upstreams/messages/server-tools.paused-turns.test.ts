import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import type { UpstreamCall, UpstreamStream } from '../upstream.ts';
import { openWhole } from './server-tools.ts';

const PAUSED: readonly JsonObject[] = [
  { type: 'content_block_start', content_block: { type: 'text', text: 'Look: ' } },
  { type: 'content_block_stop' },
  { type: 'message_delta', delta: { stop_reason: 'pause_turn' } },
  { type: 'message_stop' },
];

const CALL: UpstreamCall = {
  ...{ modelId: 'm', stream: true, signal: new AbortController().signal },
  access: { accountId: 'a', credential: 'k', credentialKind: 'api-key' },
  body: { messages: [], tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
};

/** Each frame a batch. */
function answer(frames: readonly JsonObject[], onLeft: () => void = () => {}): UpstreamStream {
  const batches = frames.map((value) => [{ text: JSON.stringify(value), value }]).values();
  return {
    next: async () => batches.next(),
    return: async () => {
      onLeft();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

test('a paused turn goes back with the sources of its text, those of its beginning first', async () => {
  const cite = (url: string): JsonObject => ({ type: 'web_search_result_location', url });
  const opening = { type: 'text', text: '', citations: [cite('https://one.example')] };
  const cited = [
    { type: 'content_block_start', content_block: opening },
    ...['two', 'three'].map((name) => ({
      type: 'content_block_delta',
      delta: { type: 'citations_delta', citation: cite(`https://${name}.example`) },
    })),
    { type: 'content_block_delta', delta: { type: 'text_delta', text: 'So it is.' } },
  ];
  const asked: UpstreamCall[] = [];
  const answers = [answer([...cited, ...PAUSED.slice(1)]), answer([{ type: 'message_stop' }])];
  const turn = await openWhole(CALL, async (call) => {
    asked.push(call);
    return answers.shift() ?? answer([]);
  });
  for await (const _batch of turn);
  const citations = ['one', 'two', 'three'].map((name) => cite(`https://${name}.example`));
  expect(asked[1]?.body?.messages).toEqual([
    { role: 'assistant', content: [{ type: 'text', text: 'So it is.', citations }] },
  ]);
  expect(opening.citations).toHaveLength(1);
});

test('who leaves a turn ends the answer that is under way, not the one that paused before it', async () => {
  const left: string[] = [];
  const answers = [
    answer(PAUSED, () => left.push('first')),
    answer([{ type: 'message_start' }], () => left.push('second')),
  ];
  const turn = await openWhole(CALL, async () => answers.shift() ?? answer([]));
  let read = 0;
  for await (const _batch of turn) {
    read += 1;
    if (read > PAUSED.length) break;
  }
  expect(left).toEqual(['second']);
});
