// Token counts of one answer: one ledger from which each protocol derives its own shape.

import { type JsonValue, readNumber } from '../lib/json.ts';

/** All counts are whole tokens. Sources: generate-content `usageMetadata`. */
export interface Usage {
  /** The prompt, cached tokens included, tool prompts excluded. */
  readonly promptTokens: number;
  /** The part of the prompt read from a cache. */
  readonly cachedTokens: number;
  /** The part of the prompt written to a cache, besides what was read from it; absent where there is none, or nobody says. */
  readonly cacheWrites?: CacheWrites | undefined;
  /** The prompt tokens the upstream's own tools added (search results and the like). */
  readonly toolPromptTokens: number;
  /** The visible answer. */
  readonly answerTokens: number;
  /** The thinking before and between answers; not part of `answerTokens`. */
  readonly thoughtTokens: number;
  /** The parts of the prompt that are pictures and sound; absent where it has neither, or nobody says. */
  readonly media?: MediaTokens | undefined;
  /** The parts of the visible answer that are pictures and sound; absent where nobody says. */
  readonly answerMedia?: MediaTokens | undefined;
  /** True when a count is an estimate of the gateway, which is for records and not for clients. */
  readonly isEstimate?: true | undefined;
}

export interface CacheWrites {
  readonly tokens: number;
  /** Those of them that are kept for an hour, the others for five minutes; absent where nobody says. */
  readonly hourTokens?: number | undefined;
}

interface MediaTokens {
  readonly image: number;
  readonly audio: number;
}

export const NO_USAGE: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  toolPromptTokens: 0,
  answerTokens: 0,
  thoughtTokens: 0,
};

/** The counts are 32-bit integers in the stores of records. */
const MAX_TOKEN_COUNT = 2_147_483_647;

/** A number of tokens that an upstream tells; undefined for what no answer can have used. */
export function readTokenCount(given: JsonValue | undefined): number | undefined {
  if (given === undefined) return undefined;
  // The JSON form of 64-bit numbers is text (protobuf.dev, "ProtoJSON Format").
  const count = typeof given === 'string' && given !== '' ? Number(given) : readNumber(given);
  return count !== undefined && count >= 0 && count <= MAX_TOKEN_COUNT
    ? Math.round(count)
    : undefined;
}

/** Everything that went in: prompt and tool prompts, cached tokens included. */
export function inputTokens(usage: Usage): number {
  return usage.promptTokens + usage.toolPromptTokens;
}

/** Everything that came out: answer and thoughts. */
export function outputTokens(usage: Usage): number {
  return usage.answerTokens + usage.thoughtTokens;
}

/** The tokens of the prompt that were written to a cache. */
export function cacheWriteTokens({ cacheWrites }: Usage): number {
  return cacheWrites?.tokens ?? 0;
}

export function totalTokens(usage: Usage): number {
  return inputTokens(usage) + outputTokens(usage);
}

/** What several answers took together. */
export function addUsage(sum: Usage, usage: Usage): Usage {
  const media = addMedia(sum.media, usage.media);
  const answerMedia = addMedia(sum.answerMedia, usage.answerMedia);
  return {
    promptTokens: sum.promptTokens + usage.promptTokens,
    cachedTokens: sum.cachedTokens + usage.cachedTokens,
    ...addCacheWrites(sum.cacheWrites, usage.cacheWrites),
    toolPromptTokens: sum.toolPromptTokens + usage.toolPromptTokens,
    answerTokens: sum.answerTokens + usage.answerTokens,
    thoughtTokens: sum.thoughtTokens + usage.thoughtTokens,
    ...(media && { media }),
    ...(answerMedia && { answerMedia }),
  };
}

/** All parts tell them, or none of them is believed. */
function addMedia(one: Usage['media'], other: Usage['media']): Usage['media'] {
  if (one === undefined || other === undefined) return undefined;
  return { image: one.image + other.image, audio: one.audio + other.audio };
}

/** How long they are kept is known where it is known of both. */
function addCacheWrites(
  one: CacheWrites | undefined,
  other: CacheWrites | undefined,
): Pick<Usage, 'cacheWrites'> {
  if (one === undefined || other === undefined) {
    const cacheWrites = one ?? other;
    return cacheWrites === undefined ? {} : { cacheWrites };
  }
  const tokens = one.tokens + other.tokens;
  const isTold = one.hourTokens !== undefined && other.hourTokens !== undefined;
  if (!isTold) return { cacheWrites: { tokens } };
  return { cacheWrites: { tokens, hourTokens: one.hourTokens + other.hourTokens } };
}
