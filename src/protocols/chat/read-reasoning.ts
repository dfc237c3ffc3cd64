// Reads how much the model should think: the official field and the dialects third-party clients send.

import {
  amountOfBudget,
  amountOfWord,
  BUDGET_KEYS,
  EFFORTS,
  LEVEL_KEYS,
  usedKey,
} from '../../canonical/effort.ts';
import { memberPath } from '../../canonical/receipt.ts';
import type { Reasoning, ReasoningAmount } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { objectShape } from '../body-schema.ts';
import {
  type Extension,
  noteUnreadFields,
  type ReadContext,
  readBoolean,
  readExtension,
  readNumberIn,
  readObject,
  readString,
  unknownWord,
} from './schema.ts';

/** An amount, and the field that says it. */
interface SaidAmount {
  readonly path: string;
  readonly amount: ReasoningAmount;
}

/** What one dialect says; `unset` amounts only tell whether thoughts are to be shown. */
interface Wish extends SaidAmount {
  readonly showThoughts?: boolean | undefined;
}

const SHOW_KEYS = ['include_thoughts', 'includeThoughts'] as const;
const CONFIG_KEYS = new Set(['thinking_config', 'thinkingConfig']);
const CONFIG = objectShape([
  ...['thinking_budget', 'thinkingBudget', 'thinking_level', 'thinkingLevel'],
  ...SHOW_KEYS,
]);
const CONFIG_SHAPE = objectShape([], { thinking_config: CONFIG, thinkingConfig: CONFIG });
const LEVELS = ['effort', ...LEVEL_KEYS] as const;

const OFF: ReasoningAmount = { kind: 'off' };
const ADAPTIVE: ReasoningAmount = { kind: 'adaptive' };
const UNSET: ReasoningAmount = { kind: 'unset' };

/** The fields of the two objects that say how much to think. */
export const REASONING_SHAPES = {
  reasoning: objectShape(['enabled', 'exclude', 'summary', ...LEVELS, ...BUDGET_KEYS]),
  thinking: objectShape(['type', ...SHOW_KEYS, ...LEVELS, ...BUDGET_KEYS]),
};

/**
 * Precedence: `reasoning_effort`, `reasoning`, `thinking`, the vendor's `thinking_config`,
 * `enable_thinking`; the first that names an amount wins. Chat clients always take
 * `reasoning_content`, so thoughts are shown unless the client says no. @throws GatewayError 400
 */
export function readReasoning(body: JsonObject, context: ReadContext): Reasoning {
  const wishes = [
    readEffortField(body),
    readReasoningObject(body, context),
    readThinkingObject(body, context),
    readThinkingConfig(body, context),
    readEnableThinking(body),
  ].filter((wish) => wish !== undefined);
  const winner = wishes.find((wish) => wish.amount.kind !== 'unset');
  const amount = winner?.amount ?? UNSET;
  context.thinkingPath = winner?.path;
  if (winner !== undefined) for (const wish of wishes) noteLoser(wish, winner, context);
  const asked = wishes.find((wish) => wish.showThoughts !== undefined)?.showThoughts;
  const showThoughts = asked ?? (amount.kind === 'unset' ? undefined : true);
  if (amount.kind === 'off') return { amount, showThoughts: false };
  return { amount, showThoughts };
}

/** `reasoning_effort`; the AI SDK's options, which some clients send as they are, say `reasoningEffort`. */
function readEffortField(body: JsonObject): Wish | undefined {
  const path = (body.reasoning_effort ?? null) === null ? 'reasoningEffort' : 'reasoning_effort';
  const amount = readEffort(body, path, '');
  return amount === undefined ? undefined : { path, amount };
}

/** `{effort, max_tokens, enabled, exclude}`, or what other libraries call the first two. */
function readReasoningObject(body: JsonObject, context: ReadContext): Wish | undefined {
  const path = 'reasoning';
  const reasoning = readObject(body, path);
  if (reasoning === undefined) return undefined;
  const said = [readBudget(reasoning, path), readNamedLevel(reasoning, path)] as const;
  const enabled = readBoolean(reasoning, 'enabled', path);
  const isExcluded = readBoolean(reasoning, 'exclude', path) === true;
  const showThoughts = isExcluded ? false : undefined;
  if (enabled === false) return { path, amount: OFF };
  const amount = firstSaid(said, context)?.amount ?? (enabled === true ? ADAPTIVE : UNSET);
  return { path, amount, showThoughts };
}

/**
 * `{type: enabled|disabled|adaptive|auto, budget_tokens}`, or what other libraries call the budget; without a type
 * what it says besides.
 */
function readThinkingObject(body: JsonObject, context: ReadContext): Wish | undefined {
  const path = 'thinking';
  const thinking = readObject(body, path);
  if (thinking === undefined) return undefined;
  const type = readString(thinking, 'type', path);
  const budget = readBudget(thinking, path);
  const level = readNamedLevel(thinking, path);
  const showThoughts = readShown(thinking, path);
  switch (type) {
    case undefined: {
      const amount = firstSaid([budget, level], context)?.amount ?? UNSET;
      return { path, amount, showThoughts };
    }
    case 'disabled':
      return { path, amount: OFF };
    case 'enabled': {
      const amount = firstSaid([budget, level], context)?.amount ?? ADAPTIVE;
      return { path, amount, showThoughts };
    }
    case 'adaptive':
    case 'auto': {
      const chosen = level ?? { path: 'thinking.type', amount: ADAPTIVE };
      const amount = firstSaid([chosen, budget], context)?.amount ?? ADAPTIVE;
      return { path, amount, showThoughts };
    }
    default:
      throw unknownWord('thinking.type', ['enabled', 'disabled', 'adaptive', 'auto']);
  }
}

/** The vendor's own words, in `extra_body`, beside the other fields (ai.google.dev, "OpenAI compatibility") or bare. */
function readThinkingConfig(body: JsonObject, context: ReadContext): Wish | undefined {
  const extension =
    readExtension(readObject(body, 'extra_body'), 'extra_body', context) ??
    readExtension(body, '', context) ??
    bareConfig(body);
  noteUnreadFields(extension.value, { known: CONFIG_SHAPE, path: extension.path, context });
  const config =
    readObject(extension.value, 'thinking_config', extension.path) ??
    readObject(extension.value, 'thinkingConfig', extension.path);
  if (config === undefined) return undefined;
  const path = memberPath(extension.path, 'thinking_config');
  const showThoughts = readShown(config, path);
  const budget = readConfigBudget(config, path);
  const amount = firstSaid([budget, readLevel(config, path)], context)?.amount ?? UNSET;
  return { path, amount, showThoughts };
}

function readShown(holder: JsonObject, path: string): boolean | undefined {
  const [first, second] = SHOW_KEYS;
  return readBoolean(holder, first, path) ?? readBoolean(holder, second, path);
}

function readConfigBudget(config: JsonObject, parent: string): SaidAmount | undefined {
  const path = memberPath(parent, 'thinking_budget');
  const limits = { min: -1, integer: true };
  const tokens = readNumberIn(config.thinking_budget ?? config.thinkingBudget, path, limits);
  return tokens === undefined ? undefined : { path, amount: amountOfBudget(tokens) };
}

function bareConfig(body: JsonObject): Extension {
  const found = Object.entries(body).filter(([key]) => CONFIG_KEYS.has(key));
  return { value: Object.fromEntries(found), path: '' };
}

function readLevel(config: JsonObject, parent: string): SaidAmount | undefined {
  const key = config.thinking_level === undefined ? 'thinkingLevel' : 'thinking_level';
  const level = readString(config, key, parent)?.toLowerCase();
  if (level === undefined || level === 'thinking_level_unspecified') return undefined;
  const path = memberPath(parent, key);
  return { path, amount: effortAmount(level, path) };
}

/** `enable_thinking` with an optional `thinking_budget`. */
function readEnableThinking(body: JsonObject): Wish | undefined {
  const path = 'enable_thinking';
  const enabled = readBoolean(body, path);
  const tokens = readNumberIn(body.thinking_budget, 'thinking_budget', { min: -1, integer: true });
  if (enabled === false) return { path, amount: OFF };
  if (tokens !== undefined) return { path: 'thinking_budget', amount: amountOfBudget(tokens) };
  return enabled === true ? { path, amount: ADAPTIVE } : undefined;
}

/** A number of tokens under any of the names it goes by. */
export function readBudget(holder: JsonObject, parent: string): SaidAmount | undefined {
  const key = usedKey(holder, BUDGET_KEYS);
  if (key === undefined) return undefined;
  const path = memberPath(parent, key);
  const tokens = readNumberIn(holder[key], path, { min: 0, integer: true });
  return tokens === undefined ? undefined : { path, amount: amountOfBudget(tokens) };
}

/** A level under any of the names it goes by. */
export function readNamedLevel(holder: JsonObject, parent: string): SaidAmount | undefined {
  const key = usedKey(holder, LEVELS);
  const amount = key && readEffort(holder, key, parent);
  return key && amount && { path: memberPath(parent, key), amount };
}

/** The first of what one object says; the others are told where they say something else. */
export function firstSaid(
  all: readonly (SaidAmount | undefined)[],
  context: Pick<ReadContext, 'receipt'>,
): SaidAmount | undefined {
  const [winner, ...others] = all.filter((said) => said !== undefined);
  if (winner !== undefined) for (const loser of others) noteLoser(loser, winner, context);
  return winner;
}

function noteLoser(
  loser: SaidAmount,
  winner: SaidAmount,
  { receipt }: Pick<ReadContext, 'receipt'>,
): void {
  const { path, amount } = loser;
  if (loser === winner || amount.kind === 'unset' || isSame(amount, winner.amount)) return;
  receipt.add('dropped', path, told`${winner.path} says something else and wins.`);
}

function readEffort(holder: JsonObject, key: string, parent: string): ReasoningAmount | undefined {
  const word = readString(holder, key, parent);
  return word === undefined ? undefined : effortAmount(word.toLowerCase(), memberPath(parent, key));
}

function effortAmount(word: string, path: string): ReasoningAmount {
  const amount = amountOfWord(word);
  if (amount === undefined) throw unknownWord(path, ['none', ...EFFORTS]);
  return amount;
}

function isSame(one: ReasoningAmount, other: ReasoningAmount): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
