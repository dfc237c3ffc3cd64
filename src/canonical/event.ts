// The eight events every upstream answer is decoded into and every client answer is written from.

import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';
import type { TextDigest } from '../lib/long-text.ts';
import type { GatewayError } from './error.ts';
import type { GroundingEvent } from './grounding.ts';
import type { Logprobs } from './logprobs.ts';
import type { CodePart, CodeResultPart, Signature, ToolCallPart } from './request.ts';
import type { Usage } from './usage.ts';

/**
 * Order is a contract: `start`, then balanced blocks with rising indices (one open block per choice),
 * `grounding` and `usage` anywhere after what they describe, `usage` before `finish`; the last
 * event is `finish` or `error`, and nothing follows it.
 */
export type CanonicalEvent =
  | StartEvent
  | BlockStartEvent
  | BlockDeltaEvent
  | BlockEndEvent
  | GroundingEvent
  | UsageEvent
  | FinishEvent
  | ErrorEvent;

interface StartEvent {
  readonly kind: 'start';
  /** The upstream's own id of the answer. */
  readonly upstreamId?: string | undefined;
  /** The model version the upstream says it used. */
  readonly modelVersion?: string | undefined;
  /** How fast the upstream says it answers, as `readServiceTier` gives it. */
  readonly serviceTier?: string | undefined;
  /** What is known of the usage when the answer begins (the prompt, mostly). */
  readonly usage?: Usage | undefined;
}

export interface BlockStartEvent {
  readonly kind: 'block-start';
  readonly index: number;
  /** Which alternative answer the block belongs to; 0 unless several were asked for. */
  readonly choice: number;
  readonly block: BlockOpening;
}

export type DrawnAs = Readonly<Partial<Record<'size' | 'quality' | 'background', string>>>;

/** Media, code and their results are complete in their opening; text and thinking arrive by deltas. */
export type BlockOpening =
  | { readonly kind: 'text' | 'thinking' }
  | Omit<ToolCallPart, 'input' | 'native'>
  | {
      readonly kind: 'media';
      readonly mediaType: string;
      readonly base64: string;
      /** An unfinished picture, drawn on the way; only where the request asked for such. */
      readonly isDraft?: true | undefined;
      /** The words it was drawn from, where the upstream wrote its own. */
      readonly prompt?: string | undefined;
      /** How it was drawn, in the upstream's own words. */
      readonly drawnAs?: DrawnAs | undefined;
    }
  | Omit<CodePart, 'signature'>
  | Omit<CodeResultPart, 'signature'>;

export interface BlockDeltaEvent {
  readonly kind: 'block-delta';
  readonly index: number;
  readonly delta:
    | { readonly kind: 'text' | 'thinking'; readonly text: string }
    /** A piece of the call's arguments; the pieces joined are one JSON object (nothing means `{}`). */
    | { readonly kind: 'arguments'; readonly json: string };
}

export interface BlockEndEvent {
  readonly kind: 'block-end';
  readonly index: number;
  /** Vouches for this block, or with `signature.on` for the part after it, where a client can carry it. */
  readonly signature?: Signature | undefined;
  /** What a client hands back of a signed text or medium: the digest of its text, or its base64. */
  readonly signedContent?: TextDigest | string | undefined;
  /** JSON of a call's arguments as the upstream wrote them, where the client is shown others or may return others. */
  readonly issuedArguments?: string | undefined;
}

interface UsageEvent {
  readonly kind: 'usage';
  /** The whole usage so far: a later event replaces an earlier one. */
  readonly usage: Usage;
}

export type FinishReason =
  | 'stop'
  | 'tool-calls'
  | 'max-tokens'
  | 'stop-sequence'
  /** The answer was stopped or withheld by a safety rule. */
  | 'safety'
  /** The prompt itself was refused; there is no answer. */
  | 'prompt-blocked';

export interface ChoiceEnd {
  readonly choice: number;
  readonly reason: FinishReason;
  /** The upstream's own word, for logs and for writers that can say more. */
  readonly rawReason?: string | undefined;
  /** True where `reason` says less: the upstream ended the answer for a reason that clients have no word for. */
  readonly isOdd?: true | undefined;
  readonly message?: string | undefined;
  readonly stopSequence?: string | undefined;
  /** Present when the upstream gave any. */
  readonly logprobs?: Logprobs | undefined;
  /** Addresses, or else titles, of what the choice recites; absent where the upstream told none. */
  readonly recited?: readonly string[] | undefined;
  /** What the upstream calls parts of the choice that nothing here has a place for; absent for none. */
  readonly unsupportedKinds?: readonly string[] | undefined;
  /** What the upstream says of the recording that was written down. */
  readonly heard?: Heard | undefined;
}

export interface Heard {
  /** Its length, where the upstream counts it in place of tokens. */
  readonly seconds?: number | undefined;
  /** Codes of the languages in it. */
  readonly languages?: readonly string[] | undefined;
}

export interface FinishEvent {
  readonly kind: 'finish';
  /** One end a choice, by rising choice; never empty. */
  readonly choices: readonly ChoiceEnd[];
}

interface ErrorEvent {
  readonly kind: 'error';
  readonly error: GatewayError;
}

/** By the events' contract the pieces are one JSON object, or nothing for `{}`. @throws Error otherwise. */
export function readCallInput(json: string): JsonObject {
  if (json === '') return {};
  const value = parseJson(json);
  if (!isJsonObject(value)) throw new Error('Tool call arguments are not a JSON object.');
  return value;
}
