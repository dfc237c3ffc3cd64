// What the decoder's tests share: chunks of the wire and what becomes of them.

import type { GatewayError } from '../../canonical/error.ts';
import type { CanonicalEvent } from '../../canonical/event.ts';
import { fold, type Reply, type ReplyBlock } from '../../canonical/fold.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { DecodeContext } from '../upstream.ts';
import { ChatDecoder } from './decode.ts';

export const FAMILY = 'chat.test.m';

export function decoderOf(context: Partial<DecodeContext> = {}, namesEnds = true): ChatDecoder {
  let ids = 0;
  const createId = (prefix: string) => `${prefix}${++ids}`;
  return new ChatDecoder(
    { signatureFamily: FAMILY, createId, ...context },
    { now: () => 0, tracesThoughts: true, namesEnds },
  );
}

/** All events of an answer given as chunks. */
export function decodeWith(
  { namesEnds = true, ...context }: Partial<DecodeContext> & { readonly namesEnds?: boolean },
  ...chunks: readonly JsonObject[]
): CanonicalEvent[] {
  const decoder = decoderOf(context, namesEnds);
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()];
}

export function decode(...chunks: readonly JsonObject[]): CanonicalEvent[] {
  return decodeWith({}, ...chunks);
}

export function reply(...chunks: readonly JsonObject[]): Reply {
  return fold(decode(...chunks));
}

/** A chunk of one choice. */
export function chunk(delta: JsonObject, rest: JsonObject = {}): JsonObject {
  return { id: 'c', model: 'm-1', choices: [{ index: 0, delta, finish_reason: null, ...rest }] };
}

export const stop = (finish_reason = 'stop', delta: JsonObject = {}) =>
  chunk(delta, { finish_reason });

/** A whole answer. */
export function whole(message: JsonObject, finish_reason = 'stop', rest: JsonObject = {}) {
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason };
  return { id: 'c', model: 'm-1', object: 'chat.completion', choices: [choice], ...rest };
}

/** A piece of a call. */
export function piece(index: number | undefined, call: JsonObject): JsonObject {
  return chunk({ tool_calls: [index === undefined ? call : { index, ...call }] });
}

export function blocksOf(...chunks: readonly JsonObject[]): readonly ReplyBlock[] | undefined {
  return reply(...chunks).choices[0]?.blocks;
}

export function endOf(...chunks: readonly JsonObject[]) {
  return reply(...chunks).choices[0]?.end;
}

/** The error an answer ends in. */
export function errorOf(...chunks: readonly JsonObject[]): GatewayError | undefined {
  const last = decode(...chunks).at(-1);
  return last?.kind === 'error' ? last.error : undefined;
}
