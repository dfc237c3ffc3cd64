// Token counts of one answer: one ledger from which each protocol derives its own shape.

/** All counts are whole tokens. Sources: generate-content `usageMetadata`. */
export interface Usage {
  /** The prompt, cached tokens included, tool prompts excluded. */
  readonly promptTokens: number;
  /** The part of the prompt read from a cache. */
  readonly cachedTokens: number;
  /** The prompt tokens the upstream's own tools added (search results and the like). */
  readonly toolPromptTokens: number;
  /** The visible answer. */
  readonly answerTokens: number;
  /** The thinking before and between answers; not part of `answerTokens`. */
  readonly thoughtTokens: number;
  /** The parts of the prompt that are pictures and sound; absent where it has neither, or nobody says. */
  readonly media?: MediaTokens | undefined;
  /** True when a count is an estimate of the gateway, which is for records and not for clients. */
  readonly isEstimate?: true | undefined;
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

/** Everything that went in: prompt and tool prompts, cached tokens included. */
export function inputTokens(usage: Usage): number {
  return usage.promptTokens + usage.toolPromptTokens;
}

/** Everything that came out: answer and thoughts. */
export function outputTokens(usage: Usage): number {
  return usage.answerTokens + usage.thoughtTokens;
}

export function totalTokens(usage: Usage): number {
  return inputTokens(usage) + outputTokens(usage);
}
