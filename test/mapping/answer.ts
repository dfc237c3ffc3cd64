// What a row of the mapping says of answers: what the upstream sent, and what each client is told.

import type { JsonObject } from '../../src/lib/json.ts';
import type { InWords, Protocol } from './row.ts';

/** Told in the body of a success, or as an error of this status and these fields. */
export type Told =
  | { readonly kind: 'reply'; readonly body: InWords }
  | { readonly kind: 'error'; readonly status: number; readonly body: JsonObject };

export interface AnswerRow {
  readonly name: string;
  /** The payloads of the upstream's frames, in order. */
  readonly frames: readonly JsonObject[];
  /** More of the request, by protocol. */
  readonly ask?: Partial<Readonly<Record<Protocol, InWords>>>;
  readonly told: Readonly<Record<Protocol, Told>>;
}

export function reply(body: InWords): Told {
  return { kind: 'reply', body };
}

export function failure(status: number, body: JsonObject): Told {
  return { kind: 'error', status, body };
}

const USAGE = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

/** One frame with these parts. */
export function parts(...list: readonly JsonObject[]): JsonObject {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: [...list] } }],
    responseId: 'r-1',
  };
}

/** The last frame of an answer. */
export function end(finishReason: string, more: JsonObject = {}): JsonObject {
  return { candidates: [{ index: 0, finishReason, ...more }], usageMetadata: USAGE };
}

export function textPart(text: string, more: JsonObject = {}): JsonObject {
  return { text, ...more };
}

/** A chat completion of one choice. */
export function completion(message: JsonObject, finish_reason: string): Told {
  return reply({ choices: [{ index: 0, message, finish_reason }] });
}

export function response(status: string, output: readonly JsonObject[], more = {}): Told {
  return reply({ status, output: [...output], ...more });
}

export function message(stop_reason: string, content: readonly JsonObject[], more = {}): Told {
  return reply({ stop_reason, content: [...content], ...more });
}

export function contents(finishReason: string, list: readonly JsonObject[]): Told {
  return reply({ candidates: [{ content: { parts: [...list] }, finishReason }] });
}

/** The output item of a message with this text. */
export function said(text: string, more: JsonObject = {}): JsonObject {
  return { type: 'message', content: [{ type: 'output_text', text, ...more }] };
}
