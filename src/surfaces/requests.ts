// What the small surfaces share: requests of one turn, and the fields of a form as its shape has them.

import { type ErrorReason, GatewayError, upstreamError } from '../canonical/error.ts';
import type { CanonicalEvent, ChoiceEnd } from '../canonical/event.ts';
import { plainModelName } from '../canonical/model.ts';
import type { CanonicalRequest, Part } from '../canonical/request.ts';
import { blockMessage } from '../canonical/text-forms.ts';
import {
  inputTokens,
  NO_USAGE,
  outputTokens,
  totalTokens,
  type Usage,
} from '../canonical/usage.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import type { Shape } from '../protocols/body-schema.ts';
import { STREAM } from '../protocols/chat/answer-parts.ts';
import { writeErrorBody } from '../protocols/chat/errors.ts';
import { missingField } from '../protocols/chat/schema.ts';
import type { StreamWriter } from '../protocols/writers.ts';
import { eventFrame } from '../stream/sse.ts';

/** One turn of the user's, without thoughts: the clients of these surfaces know none. */
export function askOnce(parts: readonly Part[], rest: Partial<CanonicalRequest>): CanonicalRequest {
  return {
    system: [],
    turns: [{ role: 'user', parts }],
    tools: [],
    toolChoice: { kind: 'auto', names: [] },
    sampling: {},
    stopSequences: [],
    choices: 1,
    reasoning: { amount: { kind: 'off', isUnasked: true }, showThoughts: false },
    outputFormat: { kind: 'text' },
    safety: [],
    ...rest,
  };
}

/** The name of the model that a request cannot do without. @throws GatewayError 400 */
export function requireModel(name: string | null | undefined): string {
  const model = plainModelName(name ?? '');
  if (model === '') throw missingField('model');
  return model;
}

/** As images, recordings and speech count them. */
export function writeTokens(usage: Usage) {
  return {
    input_tokens: inputTokens(usage),
    output_tokens: outputTokens(usage),
    total_tokens: totalTokens(usage),
  };
}

/** What the answer of a model says against the request. */
export function rejected(field: string, message: string, reason?: ErrorReason): GatewayError {
  return upstreamError('upstream-rejected', message, { reason, field });
}

/** What clients of a surface are told of an answer that ends early. */
export interface Unfinished {
  /** The field that holds what was asked for. */
  readonly field: string;
  readonly refused: string;
  readonly tooLong: string;
}

/**
 * For surfaces without a word for an answer that ends early: a part of the words would pass for all of them.
 * Undefined for a whole answer.
 */
export function unfinishedError(
  ends: readonly ChoiceEnd[],
  { field, refused, tooLong }: Unfinished,
): GatewayError | undefined {
  for (const end of ends) {
    switch (end.reason) {
      case 'safety':
      case 'prompt-blocked':
        return rejected(field, blockMessage(end)?.text ?? refused, 'content-policy');
      case 'max-tokens':
        return rejected(field, `${field}: ${tooLong}`);
      case 'stop':
      case 'stop-sequence':
      case 'tool-calls':
        break;
      default:
        end.reason satisfies never;
    }
  }
  return undefined;
}

/** One event of an answer in pieces, by its type. */
interface Piece extends JsonObject {
  readonly type: string;
}

interface Pieces {
  readonly unfinished: Unfinished;
  /** What is sent of an event; undefined for nothing. */
  pieceOf(event: CanonicalEvent): Piece | undefined;
  /** The last events, or why the answer is none. */
  last(usage: Usage, ends: readonly ChoiceEnd[]): readonly Piece[] | GatewayError;
}

/** Events named by their type, as the streams of recordings and speech are. */
export function createPieceWriter({ unfinished, pieceOf, last }: Pieces): StreamWriter {
  let usage: Usage = NO_USAGE;
  const frame = (piece: Piece): string => eventFrame(piece.type, JSON.stringify(piece));
  const fail = (error: GatewayError): string => frame({ type: 'error', ...writeErrorBody(error) });
  const write = (event: CanonicalEvent): string => {
    switch (event.kind) {
      case 'start':
      case 'usage':
        usage = event.usage ?? usage;
        return '';
      case 'finish': {
        const end = unfinishedError(event.choices, unfinished) ?? last(usage, event.choices);
        return end instanceof GatewayError ? fail(end) : end.map(frame).join('');
      }
      case 'error':
        return fail(event.error);
      default: {
        const piece = pieceOf(event);
        return piece === undefined ? '' : frame(piece);
      }
    }
  };
  return { ...STREAM, write };
}

/** Forms carry switches and numbers as text; an empty field of such, and one for a word, says nothing. */
export function readFormFields(
  body: JsonObject,
  { fields }: Extract<Shape, { kind: 'object' }>,
): JsonObject {
  const read: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    const shape = fields.get(name);
    const isWord = shape?.kind === 'string' && shape.words !== undefined;
    if (typeof value !== 'string') read[name] = value;
    else if (shape?.kind === 'boolean' || shape?.kind === 'number') {
      if (value.trim() !== '') read[name] = readValue(value, shape.kind);
    } else if (!isWord || value !== '') read[name] = value;
  }
  return read;
}

function readValue(text: string, kind: 'number' | 'boolean'): JsonValue {
  if (kind === 'boolean') return text === 'true' || (text === 'false' ? false : text);
  return Number.isFinite(Number(text)) ? Number(text) : text;
}
