// The arithmetic of thinking: how levels, efforts and budgets stand for each other.

import { EFFORT_TOKENS } from '../../canonical/effort.ts';
import type {
  ModelCapabilities,
  ThinkingCapability,
  ThinkingLevel,
} from '../../canonical/model.ts';
import { type Sentence, told } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, readNumber } from '../../lib/json.ts';

export type BudgetThinking = Extract<ThinkingCapability, { kind: 'budget' }>;
export type LevelThinking = Extract<ThinkingCapability, { kind: 'level' }>;

const LEVEL_TOKENS: ReadonlyMap<string, number> = new Map([
  ['NONE', 0],
  ['MINIMAL', EFFORT_TOKENS.minimal],
  ['LOW', EFFORT_TOKENS.low],
  ['MEDIUM', EFFORT_TOKENS.medium],
  ['HIGH', EFFORT_TOKENS.high],
]);

const RISING_LEVELS: readonly ThinkingLevel[] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];

/** The tokens a level word stands for; undefined for words that say nothing. */
export function tokensOfLevel(level: string): number | undefined {
  return LEVEL_TOKENS.get(level);
}

/** The accepted level nearest to a number of tokens, rounded up where the model lacks one. */
export function levelOfTokens(tokens: number, { levels }: LevelThinking): ThinkingLevel {
  const wanted = RISING_LEVELS.find((level) => tokens <= (LEVEL_TOKENS.get(level) ?? 0)) ?? 'HIGH';
  return nearestLevel(wanted, levels);
}

/** The wanted level, else the next one up, else the highest there is. */
export function nearestLevel(
  wanted: ThinkingLevel,
  levels: LevelThinking['levels'],
): ThinkingLevel {
  const rank = RISING_LEVELS.indexOf(wanted);
  return levels.find((level) => RISING_LEVELS.indexOf(level) >= rank) ?? levels.at(-1) ?? 'HIGH';
}

/** What the receipt says of an amount that is not exactly a level of the model. */
export function levelReason(tokens: number, level: ThinkingLevel): Sentence {
  return tokens === 0
    ? told`This model cannot stop thinking; its lowest level is ${level}.`
    : told`This model takes levels only; the nearest is ${level}.`;
}

/** A level word as the wire writes it, when it is one. */
export function asLevel(word: string): ThinkingLevel | undefined {
  return RISING_LEVELS.find((level) => level === word);
}

/** The nearest budget the model accepts; it always leaves room for an answer. */
export function fitBudget(
  tokens: number,
  thinking: BudgetThinking,
  { outputTokenLimit }: Pick<ModelCapabilities, 'outputTokenLimit'>,
): number {
  if (tokens <= 0 && thinking.canDisable) return 0;
  const cap = Math.min(thinking.maxTokens, outputTokenLimit - 1);
  return Math.min(Math.max(tokens, thinking.minTokens), cap);
}

/** The output limit of a body that is sent. */
export function outputLimit({ generationConfig }: JsonObject): number | undefined {
  return isJsonObject(generationConfig) ? readNumber(generationConfig.maxOutputTokens) : undefined;
}

/** The output limit to send: within the model's own, and above the thinking it has to hold. */
export function fitOutputLimit(
  asked: number,
  budget: number,
  { outputTokenLimit }: Pick<ModelCapabilities, 'outputTokenLimit'>,
): number {
  const capped = Math.min(asked, outputTokenLimit);
  return capped > budget ? capped : Math.min(budget + capped, outputTokenLimit);
}
