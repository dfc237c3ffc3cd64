// Fits a native thinking configuration to the model: its kind of control, its range, never two.

import { ADAPTIVE_TOKENS } from '../../canonical/effort.ts';
import type { ThinkingLevel } from '../../canonical/model.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import type { EncodeTarget } from '../upstream.ts';
import { traitsOf } from './capabilities.ts';
import { editFields } from './edits.ts';
import {
  asLevel,
  type BudgetThinking,
  fitBudget,
  type LevelThinking,
  levelOfTokens,
  levelReason,
  nearestLevel,
  tokensOfLevel,
} from './thinking.ts';

const PATH = 'generationConfig.thinkingConfig';
const AUTOMATIC = -1;

/** Undefined when the model does not think or nothing is left to say. */
export function patchThinking(
  config: JsonValue | undefined,
  target: EncodeTarget,
): JsonValue | undefined {
  if (!isJsonObject(config)) return config;
  const { thinking } = target.capabilities;
  switch (thinking.kind) {
    case 'none':
      target.receipt.add('dropped', PATH, 'This model does not think.');
      return undefined;
    case 'budget':
      return orNothing(toBudget(config, thinking, target));
    case 'level':
      return orNothing(toLevel(config, thinking, target));
    default:
      return thinking satisfies never;
  }
}

/** The tokens a patched configuration sets aside for thinking; 0 when that is unknown. */
export function budgetIn(config: JsonValue | undefined): number {
  const budget = isJsonObject(config) ? readNumber(config.thinkingBudget) : undefined;
  return Math.max(budget ?? 0, 0);
}

function toBudget(config: JsonObject, thinking: BudgetThinking, target: EncodeTarget): JsonObject {
  const given = readNumber(config.thinkingBudget);
  const asked = given ?? tokensOfLevel(levelWord(config) ?? '');
  if (asked === undefined) return editFields(config, { thinkingLevel: undefined });
  const thinkingBudget = acceptedBudget(asked, thinking, target);
  if (given !== undefined && asked >= 0 && thinkingBudget !== asked) {
    const reason = `The thinking budget is ${thinkingBudget} tokens on this model.`;
    target.receipt.add('capped', `${PATH}.thinkingBudget`, reason);
  }
  return editFields(config, { thinkingLevel: undefined, thinkingBudget });
}

function acceptedBudget(
  asked: number,
  thinking: BudgetThinking,
  { modelId, capabilities }: EncodeTarget,
): number {
  if (asked >= 0) return fitBudget(asked, thinking, capabilities);
  if (traitsOf(modelId).takesAutomaticBudget) return AUTOMATIC;
  return fitBudget(ADAPTIVE_TOKENS, thinking, capabilities);
}

function toLevel(config: JsonObject, thinking: LevelThinking, target: EncodeTarget): JsonObject {
  const word = levelWord(config);
  const budget = readNumber(config.thinkingBudget);
  const asked = tokensOfLevel(word ?? '') ?? budget;
  // Without an amount, or with -1, the model decides.
  if (asked === undefined || asked < 0) {
    return editFields(config, { thinkingBudget: undefined, thinkingLevel: undefined });
  }
  const thinkingLevel = acceptedLevel(word, asked, thinking);
  if (thinkingLevel !== word) {
    const path = `${PATH}.${word === undefined ? 'thinkingBudget' : 'thinkingLevel'}`;
    target.receipt.add('approximated', path, levelReason(asked, thinkingLevel));
  }
  const includeThoughts = asked === 0 ? false : config.includeThoughts;
  return editFields(config, { thinkingBudget: undefined, includeThoughts, thinkingLevel });
}

function acceptedLevel(
  word: string | undefined,
  tokens: number,
  thinking: LevelThinking,
): ThinkingLevel {
  const level = asLevel(word ?? '');
  return level === undefined
    ? levelOfTokens(tokens, thinking)
    : nearestLevel(level, thinking.levels);
}

/** The level the client names; `THINKING_LEVEL_UNSPECIFIED` names none. */
function levelWord({ thinkingLevel }: JsonObject): string | undefined {
  if (typeof thinkingLevel !== 'string') return undefined;
  const word = thinkingLevel.toUpperCase();
  return tokensOfLevel(word) === undefined ? undefined : word;
}

function orNothing(config: JsonObject): JsonObject | undefined {
  return Object.keys(config).length === 0 ? undefined : config;
}
