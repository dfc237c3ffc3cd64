// The relay lane: native frames go through as they came; the decoder only watches them.

import { asGatewayError, GatewayError } from '../canonical/error.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import type { JsonObject } from '../lib/json.ts';
import type { RelayWriter } from '../protocols/protocol.ts';
import type { Decoder, Frame, UpstreamStream } from '../upstreams/upstream.ts';
import type { AnswerWatch } from './answer-watch.ts';

export interface RelayInput {
  readonly frames: UpstreamStream;
  readonly decoder: Decoder;
  readonly watch: AnswerWatch;
}

/** As `translateStream`: the first item at the commit point, late failures in-band. */
export async function* relayStream(
  input: RelayInput,
  writer: RelayWriter,
): AsyncGenerator<string, void> {
  const { frames, decoder, watch } = input;
  let text = '';
  const see = (events: readonly CanonicalEvent[]): void => {
    for (const event of events) {
      watch.see(event);
      if (event.kind === 'error' && !watch.isCommitted) throw event.error;
    }
  };
  try {
    for await (const batch of frames) {
      for (const frame of batch) {
        see(decoder.push(frame.value));
        if (watch.error !== undefined) break;
        text += writer.write(frame.value, frame.text);
      }
      if (watch.error !== undefined) break;
      if (!watch.isCommitted || text === '') continue;
      yield text;
      text = '';
    }
    if (watch.error === undefined) see(decoder.end());
  } catch (error) {
    if (!watch.isCommitted) throw error;
    watch.see({ kind: 'error', error: asGatewayError(error) });
  }
  text += watch.error === undefined ? writer.end() : writer.error(watch.error);
  yield text;
}

/** The upstream's own answer body. @throws GatewayError when it is an error, empty or no answer. */
export async function relayReply(input: RelayInput): Promise<JsonObject> {
  const { frames, decoder, watch } = input;
  let last: Frame | undefined;
  for await (const batch of frames) {
    for (const frame of batch) {
      last = frame;
      for (const event of decoder.push(frame.value)) watch.see(event);
    }
  }
  if (watch.error === undefined) for (const event of decoder.end()) watch.see(event);
  if (watch.error !== undefined) throw watch.error;
  if (last === undefined) throw emptyAnswer();
  return last.value;
}

function emptyAnswer(): GatewayError {
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: 'The upstream closed without an answer.',
    failure: { kind: 'path' },
  });
}
