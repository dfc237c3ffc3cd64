// Fits a native thinking configuration to the model: its kind of control, its range, never two.

import {
  ADAPTIVE_TOKENS,
  amountOfBudget,
  amountOfWord,
  applyThinkingMode,
} from '../../canonical/effort.ts';
import type { ThinkingLevel } from '../../canonical/model.ts';
import { type Sentence, told } from '../../canonical/receipt.ts';
import type { ReasoningAmount } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import type { EncodeTarget, PatchTarget } from '../upstream.ts';
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
  target: PatchTarget,
): JsonValue | undefined {
  if (!isJsonObject(config)) return config;
  const { thinking } = target.capabilities;
  switch (thinking.kind) {
    case 'none':
      return ofDrawing(config, target);
    case 'budget':
      return orNothing(toBudget(config, thinking, target));
    case 'level':
      return orNothing(toLevel(config, thinking, target));
    default:
      return thinking satisfies never;
  }
}

/** A model that draws as it thinks can show that, and takes no other word about thinking. */
function ofDrawing(config: JsonObject, { modelId, receipt }: PatchTarget): JsonObject | undefined {
  const { includeThoughts, ...rest } = config;
  const isShown = includeThoughts === true && traitsOf(modelId).showsDrafts;
  if (!isShown || Object.keys(rest).length > 0) {
    receipt.add('dropped', PATH, told`This model does not think.`);
  }
  return isShown ? { includeThoughts } : undefined;
}

/** What the client asked for, in the field this kind of model is steered by. */
interface Asked {
  readonly field: 'thinkingBudget' | 'thinkingLevel';
  readonly amount: ReasoningAmount;
}

function askedIn(config: JsonObject, prefers: 'budget' | 'level'): Asked | undefined {
  const word = levelWord(config);
  const tokens = readNumber(config.thinkingBudget);
  const level = word === undefined ? undefined : amountOfWord(word.toLowerCase());
  const byLevel = level && ({ field: 'thinkingLevel', amount: level } as const);
  const byBudget =
    tokens === undefined
      ? undefined
      : ({ field: 'thinkingBudget', amount: amountOfBudget(tokens) } as const);
  return prefers === 'level' ? (byLevel ?? byBudget) : (byBudget ?? byLevel);
}

/** The amount the operator's mode puts in place of the client's; undefined where it leaves that alone. */
function decidedAmount(
  config: JsonObject,
  { capabilities: { thinking }, thinkingMode: mode, receipt }: PatchTarget,
): ReasoningAmount | undefined {
  const asked = askedIn(config, thinking.kind === 'level' ? 'level' : 'budget');
  if (asked === undefined) return undefined;
  const { field, amount } = asked;
  const note = (reason: Sentence) => receipt.add('approximated', `${PATH}.${field}`, reason);
  const decided = applyThinkingMode(amount, { mode, thinking, note });
  return decided === amount ? undefined : decided;
}

/** The tokens a patched configuration sets aside for thinking; 0 when that is unknown. */
export function budgetIn(config: JsonValue | undefined): number {
  const budget = isJsonObject(config) ? readNumber(config.thinkingBudget) : undefined;
  return Math.max(budget ?? 0, 0);
}

function toBudget(client: JsonObject, thinking: BudgetThinking, target: PatchTarget): JsonObject {
  const decided = decidedAmount(client, target);
  if (decided?.kind === 'budget' && decided.isVerbatim) {
    return editFields(client, { thinkingLevel: undefined });
  }
  const config = decided === undefined ? client : withBudget(client, decided);
  const given = readNumber(config.thinkingBudget);
  const asked = given ?? tokensOfLevel(levelWord(config) ?? '');
  if (asked === undefined) return editFields(config, { thinkingLevel: undefined });
  const thinkingBudget = acceptedBudget(asked, thinking, target);
  if (given !== undefined && asked >= 0 && thinkingBudget !== asked) {
    const reason = told`The thinking budget is ${thinkingBudget} tokens on this model.`;
    target.receipt.add('capped', `${PATH}.thinkingBudget`, reason);
  } else if (asked === 0 && thinkingBudget !== 0) {
    const reason = told`This model thinks ${thinkingBudget} tokens or more.`;
    target.receipt.add('approximated', `${PATH}.thinkingLevel`, reason);
  }
  return editFields(config, { thinkingLevel: undefined, thinkingBudget });
}

function withBudget(config: JsonObject, amount: ReasoningAmount): JsonObject {
  const thinkingBudget = amount.kind === 'budget' ? amount.tokens : AUTOMATIC;
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

function toLevel(client: JsonObject, thinking: LevelThinking, target: PatchTarget): JsonObject {
  const decided = decidedAmount(client, target);
  const config = decided === undefined ? client : withLevel(client, decided, thinking);
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

/** A verbatim budget cannot be sent to such a model; it becomes the nearest level like any other. */
function withLevel(
  config: JsonObject,
  amount: ReasoningAmount,
  thinking: LevelThinking,
): JsonObject {
  if (amount.kind === 'adaptive') return withBudget(config, amount);
  if (amount.kind !== 'budget' || amount.isVerbatim) return config;
  const thinkingLevel = levelOfTokens(amount.tokens, thinking);
  return editFields(config, { thinkingBudget: undefined, thinkingLevel });
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
