import { BetaMessageStream } from '@anthropic-ai/sdk/lib/BetaMessageStream';
import { Stream } from '@anthropic-ai/sdk/streaming';
import { expect, test } from 'vitest';
import {
  answer,
  MINIMAL,
  readCall,
  replyContext,
  SIGNATURE,
  textBlock,
  thinkingBlock,
  USAGE,
} from '../../../test/support/messages.ts';
import type { CanonicalEvent, FinishReason } from '../../canonical/event.ts';
import { fold } from '../../canonical/fold.ts';

const call = readCall({ ...MINIMAL, compaction: { type: 'summarize' } });

function summaryOf(text: string, reason: FinishReason = 'stop'): CanonicalEvent[] {
  return answer(
    [...thinkingBlock(0, 'hm', SIGNATURE), ...textBlock(1, text), { kind: 'usage', usage: USAGE }],
    { reason },
  );
}

/** What the official SDK makes of the stream. */
async function accumulate(events: readonly CanonicalEvent[]): Promise<unknown> {
  const writer = call.createStreamWriter(replyContext());
  const text = events.map((event) => writer.keepAlive() + writer.write(event)).join('');
  const response = new Response(text, { headers: { 'content-type': writer.contentType } });
  const stream = Stream.fromSSEResponse(response, new AbortController());
  return BetaMessageStream.fromReadableStream(stream.toReadableStream()).finalMessage();
}

test('a summary is one block, unary and as the official SDK reads the stream', async () => {
  const reply = call.writeReply(fold(summaryOf('All is done.')), replyContext());
  expect(reply).toMatchObject({
    content: [{ type: 'compaction', content: 'All is done.', encrypted_content: null }],
    stop_reason: 'compaction',
    usage: { output_tokens: 12 },
  });
  expect(await accumulate(summaryOf('All is done.'))).toMatchObject(reply);
});

test.each<[string, FinishReason]>([
  ['All is', 'max-tokens'],
  [' ', 'stop'],
])('a summary that did not come about is null: %j, %s', async (text, reason) => {
  const reply = call.writeReply(fold(summaryOf(text, reason)), replyContext());
  expect(reply).toMatchObject({
    content: [{ type: 'compaction', content: null }],
    stop_reason: 'compaction',
  });
  expect(await accumulate(summaryOf(text, reason))).toMatchObject(reply);
});

test('a summary that is held back is a refusal', async () => {
  const reply = call.writeReply(fold(summaryOf('All', 'safety')), replyContext());
  expect(reply).toMatchObject({ content: [], stop_reason: 'refusal' });
  expect(await accumulate(summaryOf('All', 'safety'))).toMatchObject(reply);
});
