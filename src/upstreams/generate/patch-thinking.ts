// Fits a native thinking configuration to the model: its kind of control, its range, never two.

import { ADAPTIVE_TOKENS } from '../../canonical/effort.ts';
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
  if (word === undefined && budget !== undefined) {
    target.receipt.add('approximated', `${PATH}.thinkingBudget`, 'This model takes levels only.');
  }
  const asked = tokensOfLevel(word ?? '') ?? budget;
  if (asked === 0) {
    const thinkingLevel = thinking.levels[0];
    const edits = { thinkingBudget: undefined, includeThoughts: false, thinkingLevel };
    return editFields(config, edits);
  }
  return editFields(config, {
    thinkingBudget: undefined,
    thinkingLevel: acceptedLevel({ word, budget }, thinking, target),
  });
}

function acceptedLevel(
  asked: { readonly word: string | undefined; readonly budget: number | undefined },
  thinking: LevelThinking,
  { receipt }: EncodeTarget,
): string | undefined {
  const level = asLevel(asked.word ?? '');
  if (level !== undefined) {
    const accepted = nearestLevel(level, thinking.levels);
    if (accepted !== level) {
      receipt.add('approximated', `${PATH}.thinkingLevel`, `The nearest level is ${accepted}.`);
    }
    return accepted;
  }
  if (asked.budget === undefined || asked.budget < 0) return undefined;
  return levelOfTokens(asked.budget, thinking);
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
