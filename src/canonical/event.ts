// The eight events every upstream answer is decoded into and every client answer is written from.

import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';
import type { TextDigest } from '../lib/long-text.ts';
import type { GatewayError } from './error.ts';
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

/** A later one of the same choice replaces it. */
export interface GroundingEvent {
  readonly kind: 'grounding';
  readonly choice: number;
  readonly queries: readonly string[];
  readonly sources: readonly GroundingSource[];
  readonly citations: readonly Citation[];
  /** Pages that were opened for the answer, whether a source came of them or not; absent for none. */
  readonly pages?: readonly FetchedPage[] | undefined;
  /** True before the end of the answer, which tells all: the queries so far, and what is known by then of what was found. */
  readonly isEarly?: true | undefined;
}

/** So much of a text is kept to place citations in it, in UTF-16 units: the longest answers models give are shorter. */
export const MAX_CITED_LENGTH = 524_288;

/** Each early one tells all queries again: so many are told early. */
export const MAX_EARLY_SEARCHES = 100;

export interface FetchedPage {
  readonly url: string;
  /** `refused` is a page that may not be read, `unknown` one of which nothing else is told. */
  readonly outcome: 'read' | 'unreachable' | 'refused' | 'unknown';
}

export interface GroundingSource {
  readonly url: string;
  readonly title: string;
}

/** A passage of the choice's whole text, in UTF-16 units, and the sources that support it. */
export interface Citation {
  readonly startIndex: number;
  readonly endIndex: number;
  readonly text: string;
  /** Indices into the event's `sources`. */
  readonly sources: readonly number[];
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
  /** Addresses of what the choice recites; absent where the upstream told none. */
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

/** Log-probabilities (natural logarithms, at most 0) of a choice. */
export interface Logprobs {
  /** The chosen tokens in order; empty when only the average is known. */
  readonly tokens: readonly TokenLogprob[];
  /** Of all tokens of the choice. */
  readonly average?: number | undefined;
}

export interface TokenLogprob extends RatedToken {
  /** The likeliest tokens at its place, likeliest first; may hold the chosen one. */
  readonly alternatives: readonly RatedToken[];
}

export interface RatedToken {
  readonly token: string;
  /** The upstream's own number for it. */
  readonly id?: number | undefined;
  readonly logprob: number;
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

/** Sources without a query were searched for once, unless they are pages that were opened. */
export function searchCount(grounding: GroundingEvent): number {
  const { queries, sources, pages } = grounding;
  if (queries.length > 0) return queries.length;
  return sources.length > 0 && pages === undefined ? 1 : 0;
}
