// The names under which clients say how much to think: those of the protocols and of their libraries' options.

import type { JsonObject } from '../lib/json.ts';

/** A number of tokens. The AI SDK, OpenRouter and the upstreams' own options each have their own word. */
export const BUDGET_KEYS = [
  'budget_tokens',
  'budgetTokens',
  'max_tokens',
  'maxTokens',
  'thinking_budget',
  'thinkingBudget',
  'budget',
] as const;

/** A word; `effort` is the protocols' own. */
export const LEVEL_KEYS = [
  'reasoning_effort',
  'reasoningEffort',
  'thinking_level',
  'thinkingLevel',
  'level',
] as const;

/** The first of `keys` that the object says something under. */
export function usedKey<Key extends string>(
  object: JsonObject,
  keys: readonly Key[],
): Key | undefined {
  return keys.find((key) => (object[key] ?? null) !== null);
}
