import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import type { UpstreamCall, UpstreamStream } from '../upstream.ts';
import { openWhole } from './paused-turns.ts';

const PAUSED: readonly JsonObject[] = [
  { type: 'content_block_start', content_block: { type: 'text', text: 'Look: ' } },
  { type: 'content_block_stop' },
  { type: 'message_delta', delta: { stop_reason: 'pause_turn' } },
  { type: 'message_stop' },
];

test('who leaves a turn ends the answer that is under way, not the one that paused before it', async () => {
  const left: string[] = [];
  const answer = (name: string, frames: readonly JsonObject[]): UpstreamStream => {
    const batches = frames.map((value) => [{ text: JSON.stringify(value), value }]).values();
    return {
      next: async () => batches.next(),
      return: async () => {
        left.push(name);
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  };
  const answers = [answer('first', PAUSED), answer('second', [{ type: 'message_start' }])];
  const call: UpstreamCall = {
    ...{ modelId: 'm', stream: true, signal: new AbortController().signal },
    access: { accountId: 'a', credential: 'k', credentialKind: 'api-key' },
    body: { messages: [], tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  };
  const turn = await openWhole(call, async () => answers.shift() ?? answer('none', []));
  let read = 0;
  for await (const _batch of turn) {
    read += 1;
    if (read > PAUSED.length) break;
  }
  expect(left).toEqual(['second']);
});
