// The translate lane: upstream frames → canonical events → the client protocol's text.

import { asGatewayError } from '../canonical/error.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import { fold, type Reply } from '../canonical/fold.ts';
import type { StreamWriter } from '../protocols/protocol.ts';
import type { AnswerTransform } from '../transforms/answer/index.ts';
import type { Decoder, UpstreamStream } from '../upstreams/upstream.ts';
import type { AnswerWatch } from './answer-watch.ts';

export interface TranslateInput {
  readonly frames: UpstreamStream;
  readonly decoder: Decoder;
  readonly watch: AnswerWatch;
  /** What the client is to see of the answer, and what is remembered of it. */
  readonly transform: AnswerTransform;
  /** True when the rest of the answer is not needed; the decoder's ending then closes it. */
  readonly isComplete?: (() => boolean) | undefined;
}

/**
 * The client's stream. The first item comes at the commit point; a failure before it is thrown, a
 * failure after it is written in-band and ends the stream.
 */
export async function* translateStream(
  input: TranslateInput,
  writer: StreamWriter,
): AsyncGenerator<string, void> {
  const { frames, decoder, watch, transform } = input;
  let text = '';
  const take = (decoded: readonly CanonicalEvent[]): void => {
    for (const event of transform(decoded)) {
      watch.see(event);
      if (event.kind === 'error' && !watch.isCommitted) throw event.error;
      text += writer.write(event);
    }
  };
  try {
    for await (const batch of frames) {
      for (const frame of batch) take(decoder.push(frame.value));
      if (watch.error !== undefined || input.isComplete?.() === true) break;
      if (!watch.isCommitted || text === '') continue;
      yield text;
      text = '';
    }
    if (watch.error === undefined) take(decoder.end());
  } catch (error) {
    if (!watch.isCommitted) throw error;
    take([{ kind: 'error', error: asGatewayError(error) }]);
  }
  if (text !== '') yield text;
}

/** The whole answer at once. @throws GatewayError */
export async function translateReply(input: TranslateInput): Promise<Reply> {
  const { frames, decoder, watch, transform } = input;
  const events: CanonicalEvent[] = [];
  const take = (decoded: readonly CanonicalEvent[]): void => {
    for (const event of transform(decoded)) {
      watch.see(event);
      events.push(event);
    }
  };
  for await (const batch of frames) {
    for (const frame of batch) take(decoder.push(frame.value));
  }
  if (watch.error === undefined) take(decoder.end());
  return fold(events);
}
