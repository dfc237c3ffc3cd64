// An answer as the sandbox means it, before it is written as one body or as a stream.

import type { JsonObject } from '../../lib/json.ts';
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
  readonly finishReason: string;
  readonly finishMessage?: string | undefined;
  readonly groundingMetadata?: JsonObject | undefined;
}

export interface IssuedCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** What a text and calls count as output, thoughts aside. */
export function countOutputTokens(text: string, calls: readonly IssuedCall[]): number {
  return calls.reduce((sum, call) => sum + countJsonTokens(call), countTextTokens(text));
}
