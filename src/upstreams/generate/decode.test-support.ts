// What the decoder's tests share: frames of the wire and what becomes of them.

import type { GatewayError } from '../../canonical/error.ts';
import type { CanonicalEvent } from '../../canonical/event.ts';
import { fold, type Reply, type ReplyBlock } from '../../canonical/fold.ts';
import type { JsonObject } from '../../lib/json.ts';
import { GenerateDecoder } from './decode.ts';

/** All events of an answer given as frames. */
export function decode(...frames: readonly JsonObject[]): CanonicalEvent[] {
  let ids = 0;
  const createId = (prefix: string) => `${prefix}${++ids}`;
  const decoder = new GenerateDecoder({ signatureFamily: 'alpha', createId }, () => 0);
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

export function reply(...frames: readonly JsonObject[]): Reply {
  return fold(decode(...frames));
}

/** A frame of one candidate with these parts. */
export function frame(parts: readonly JsonObject[], rest: JsonObject = {}): JsonObject {
  return { candidates: [{ content: { role: 'model', parts: [...parts] }, ...rest }] };
}

export const stop = (parts: readonly JsonObject[] = []) => frame(parts, { finishReason: 'STOP' });
export const thought = (text: string, rest: JsonObject = {}) => ({ text, thought: true, ...rest });
export const signed = (value: string) => ({ thoughtSignature: value });
export const signature = (value: string, on: string | undefined) => ({
  value,
  family: 'alpha',
  on,
});

export function blocksOf(...frames: readonly JsonObject[]): readonly ReplyBlock[] | undefined {
  return reply(...frames).choices[0]?.blocks;
}

export function reasonOf(...frames: readonly JsonObject[]) {
  return reply(...frames).choices[0]?.end.reason;
}

/** The error an answer ends in. */
export function errorOf(...frames: readonly JsonObject[]): GatewayError | undefined {
  const last = decode(...frames).at(-1);
  return last?.kind === 'error' ? last.error : undefined;
}
