// An answer as the sandbox means it, before it is written as one body or as a stream.

import type { JsonObject } from '../json.ts';
import type { ModelFamily } from '../models.ts';
import { countJsonTokens, countTextTokens, type TokenCounts } from '../tokens.ts';

export interface Answer {
  readonly modelId: string;
  readonly family: ModelFamily;
  readonly responseId: string;
  readonly prompt: TokenCounts;
  readonly cachedTokens: number;
  /** For each candidate. */
  readonly thinkingTokens: number;
  /** Set when the prompt was blocked: then there are no candidates. */
  readonly blockReason?: string | undefined;
  readonly candidates: readonly Candidate[];
}

export interface Candidate {
  /** The thought summary; empty when none is shown. */
  readonly thoughts: string;
  readonly calls: readonly IssuedCall[];
  readonly text: string;
  /** Unfinished ones; part of the thoughts, and free. */
  readonly drafts?: readonly DrawnPicture[] | undefined;
  readonly pictures?: readonly DrawnPicture[] | undefined;
  /** Where they are asked for. */
  readonly logprobs?: { readonly tokens: readonly string[] } | undefined;
  readonly finishReason: string;
  readonly finishMessage?: string | undefined;
  readonly groundingMetadata?: JsonObject | undefined;
  readonly urlContextMetadata?: JsonObject | undefined;
}

export interface IssuedCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** A PNG. */
export interface DrawnPicture {
  readonly base64: string;
  readonly tokens: number;
}

export function countPictureTokens({ pictures = [] }: Candidate): number {
  return pictures.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** What a text and calls count as output, thoughts and pictures aside. */
export function countOutputTokens(text: string, calls: readonly IssuedCall[]): number {
  return calls.reduce((sum, call) => sum + countJsonTokens(call), countTextTokens(text));
}
