// The grammar of Messages streams: their frames here, their blocks where the protocol's own tests fold them.

import type { JsonObject } from '../../../src/lib/json.ts';
import { foldFrames } from '../../../src/protocols/messages/stream-grammar.test-support.ts';
import type { StreamEnd } from './chat.ts';
import { readNamedFrames } from './frames.ts';
import { check, idIn, objectIn } from './rule.ts';

const STOP_REASONS = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'refusal',
  'pause_turn',
];

/** Sources: Messages API, "Streaming"; `@anthropic-ai/sdk` lib/MessageStream. */
export function checkMessagesStream(text: string): StreamEnd {
  const frames = readNamedFrames(text);
  const last = frames.at(-1);
  const isWhole = last?.type === 'message_stop';
  const failures = frames.filter(({ type }) => type === 'error');
  if (isWhole) {
    check(failures.length === 0, 'a whole message holds no error');
    checkMessage(foldFrames(frames));
    return 'success';
  }
  check(last?.type === 'error' && failures.length === 1, 'an error ends what is not whole');
  const error = objectIn(last, 'error');
  idIn(error, 'type');
  idIn(error, 'message');
  checkBroken(frames.slice(0, -1));
  return 'error';
}

function checkMessage(message: JsonObject): void {
  idIn(message, 'id');
  check(STOP_REASONS.includes(String(message.stop_reason)), 'the stop_reason is known');
}

/** What came before an error is a beginning of a whole message. */
function checkBroken(frames: readonly JsonObject[]): void {
  const started = frames.filter(({ type }) => type === 'content_block_start').length;
  const stopped = frames.filter(({ type }) => type === 'content_block_stop').length;
  check(started - stopped <= 1, 'one block is open at a time');
  if (frames.every(({ type }) => type === 'ping')) return;
  const index = started - 1;
  const closing = started === stopped ? [] : [{ type: 'content_block_stop', index }];
  const isEnded = frames.some(({ type }) => type === 'message_delta');
  check(!isEnded, 'no end is told before an error');
  const usage = { output_tokens: 0 };
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage };
  const isCut = frames.at(-1)?.type === 'content_block_delta';
  try {
    foldFrames([...frames, ...closing, end, { type: 'message_stop' }]);
  } catch (error) {
    // The input of a call that was cut is no JSON yet.
    if (!(isCut && error instanceof SyntaxError)) throw error;
  }
}
