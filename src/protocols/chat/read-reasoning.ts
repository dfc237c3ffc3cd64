// Reads how much the model should think: the official field and the dialects third-party clients send.

import type { Reasoning, ReasoningAmount } from '../../canonical/effort.ts';
import {
  amountOfBudget,
  amountOfWord,
  BUDGET_KEYS,
  EFFORTS,
  LEVEL_KEYS,
  noteOverruled,
  type SaidAmount,
} from '../../canonical/effort.ts';
import { memberPath } from '../../canonical/receipt.ts';
import { type JsonValue, readNumber } from '../../lib/json.ts';
import { usedKey } from '../../lib/read-values.ts';
import { CHAT_EXTENSION_KEYS } from '../../wire/vocabulary.ts';
import type { ValueOf } from '../body-schema.ts';
import {
  type AMOUNTS,
  type Body,
  check,
  EXTENSION,
  EXTRA_BODY,
  type ReadContext,
  readAll,
  TEMPLATE,
  unknownWord,
} from './schema.ts';

/** What one dialect says; `unset` amounts only tell whether thoughts are to be shown. */
interface Wish extends SaidAmount {
  readonly showThoughts?: boolean | undefined;
}

/** Levels and budgets under the names that libraries have for them. */
type Amounts = { readonly [Key in keyof typeof AMOUNTS]?: ValueOf<(typeof AMOUNTS)[Key]> | null };

const LEVELS = ['effort', ...LEVEL_KEYS] as const;

const OFF: ReasoningAmount = { kind: 'off' };
const ADAPTIVE: ReasoningAmount = { kind: 'adaptive' };
const UNSET: ReasoningAmount = { kind: 'unset' };

/** Fields that may say something of thinking. */
const SAYING = [
  ...(['reasoning_effort', 'reasoningEffort', 'reasoning', 'thinking', 'enable_thinking'] as const),
  ...(['thinking_budget', 'thinking_config', 'thinkingConfig', 'extra_body'] as const),
  ...(['chat_template_kwargs', ...CHAT_EXTENSION_KEYS] as const),
] as const;

/**
 * Precedence: `reasoning_effort`, `reasoning`, `thinking`, the vendor's `thinking_config`,
 * `enable_thinking`, that of `chat_template_kwargs`; the first that names an amount wins. Chat clients always take
 * `reasoning_content`, so thoughts are shown unless the client says no. @throws GatewayError 400
 */
export function readReasoning(body: Body, extension: Extension, context: ReadContext): Reasoning {
  if (usedKey(body, SAYING) === undefined) return { amount: UNSET };
  const said: readonly (Wish | undefined)[] = [
    // The AI SDK's options, which some clients send as they are, say `reasoningEffort`.
    sayLevel(body, usedKey(body, ['reasoning_effort', 'reasoningEffort']), ''),
    body.reasoning ? readReasoningObject(body.reasoning, context) : undefined,
    body.thinking ? readThinkingObject(body.thinking, context) : undefined,
    readThinkingConfig(extension, context),
    readEnableThinking(body),
    readTemplate(body, context),
  ];
  const wishes = said.filter((wish) => wish !== undefined);
  const winner = wishes.find((wish) => wish.amount.kind !== 'unset');
  const amount = winner?.amount ?? UNSET;
  const shown = wishes.find((wish) => wish.showThoughts !== undefined);
  context.thinkingPath = (winner ?? shown)?.path;
  if (winner !== undefined) for (const wish of wishes) noteOverruled(wish, winner, context.receipt);
  const showThoughts = shown?.showThoughts ?? (amount.kind === 'unset' ? undefined : true);
  if (amount.kind === 'off') return { amount, showThoughts: false };
  return { amount, showThoughts };
}

/** `{effort, max_tokens, enabled, exclude}`, or what other libraries call the first two. */
function readReasoningObject(
  reasoning: NonNullable<Body['reasoning']>,
  context: ReadContext,
): Wish {
  const path = 'reasoning';
  const said = [readBudget(reasoning, path), readNamedLevel(reasoning, path)];
  const { enabled } = reasoning;
  if (enabled === false) return { path, amount: OFF };
  const amount = firstSaid(said, context)?.amount ?? (enabled === true ? ADAPTIVE : UNSET);
  return { path, amount, showThoughts: reasoning.exclude === true ? false : undefined };
}

/**
 * `{type: enabled|disabled|adaptive|auto, budget_tokens}`, or what other libraries call the budget; without a type
 * what it says besides.
 */
function readThinkingObject(thinking: NonNullable<Body['thinking']>, context: ReadContext): Wish {
  const path = 'thinking';
  const budget = readBudget(thinking, path);
  const level = readNamedLevel(thinking, path);
  if (thinking.type === 'disabled') return { path, amount: OFF };
  const showThoughts = thinking.include_thoughts ?? thinking.includeThoughts ?? undefined;
  const isChosen = thinking.type === 'adaptive' || thinking.type === 'auto';
  const said = isChosen
    ? [level ?? { path: 'thinking.type', amount: ADAPTIVE }, budget]
    : [budget, level];
  const unsaid = thinking.type === 'enabled' ? ADAPTIVE : UNSET;
  return { path, amount: firstSaid(said, context)?.amount ?? unsaid, showThoughts };
}

/** The vendor extension object, and its path. */
export interface Extension {
  readonly path: string;
  readonly value: ValueOf<typeof EXTENSION>;
}

/**
 * The vendor's own words, in `extra_body`, beside the other fields or bare (ai.google.dev, "OpenAI compatibility";
 * Vertex AI, "Using OpenAI libraries").
 */
export function readExtension(body: Body, context: ReadContext): Extension {
  const extra = body.extra_body ? check(body.extra_body, EXTRA_BODY, 'extra_body').value : {};
  const inner = usedKey(extra, CHAT_EXTENSION_KEYS);
  const key = inner ?? usedKey(body, CHAT_EXTENSION_KEYS);
  if (key !== undefined) context.extensionKey = key;
  const extension = inner === undefined ? key && body[key] : extra[inner];
  const path = inner === undefined ? (key ?? '') : `extra_body.${inner}`;
  const { thinking_config, thinkingConfig } = body;
  const bare = { thinking_config: thinking_config ?? null, thinkingConfig: thinkingConfig ?? null };
  return { path, value: readAll(extension ?? bare, EXTENSION, { path, receipt: context.receipt }) };
}

function readThinkingConfig(extension: Extension, context: ReadContext): Wish | undefined {
  const config = extension.value.thinking_config ?? extension.value.thinkingConfig;
  if (!config) return undefined;
  const path = memberPath(extension.path, 'thinking_config');
  const tokens = config.thinking_budget ?? config.thinkingBudget;
  const budget = sayBudget(tokens, `${path}.thinking_budget`);
  const levelKey = config.thinking_level === undefined ? 'thinkingLevel' : 'thinking_level';
  const isLevel = config[levelKey]?.toLowerCase() !== 'thinking_level_unspecified';
  const level = isLevel ? sayLevel(config, levelKey, path) : undefined;
  const amount = firstSaid([budget, level], context)?.amount ?? UNSET;
  const showThoughts = config.include_thoughts ?? config.includeThoughts ?? undefined;
  return { path, amount, showThoughts };
}

/** `enable_thinking` with an optional `thinking_budget`. */
function readEnableThinking(body: Body): Wish | undefined {
  const path = 'enable_thinking';
  const enabled = body[path];
  if (enabled === false) return { path, amount: OFF };
  const budget = sayBudget(body.thinking_budget, 'thinking_budget');
  return budget ?? (enabled === true ? { path, amount: ADAPTIVE } : undefined);
}

/** The switch of local servers, which OpenAI's clients have no other field for. */
function readTemplate(body: Body, { receipt }: ReadContext): Wish | undefined {
  const field = 'chat_template_kwargs';
  const template = readAll(body[field] ?? {}, TEMPLATE, { path: field, receipt });
  const key = usedKey(template, ['enable_thinking', 'thinking']);
  if (key === undefined) return undefined;
  return { path: `${field}.${key}`, amount: template[key] === true ? ADAPTIVE : OFF };
}

/** A number of tokens under any of the names it goes by. */
export function readBudget(holder: Amounts, parent: string): SaidAmount | undefined {
  const key = usedKey(holder, BUDGET_KEYS);
  return key && sayBudget(holder[key], memberPath(parent, key));
}

function sayBudget(value: JsonValue | undefined, path: string): SaidAmount | undefined {
  const tokens = readNumber(value);
  return tokens === undefined ? undefined : { path, amount: amountOfBudget(tokens) };
}

/** A level under any of the names it goes by. */
export function readNamedLevel(holder: Amounts, parent: string): SaidAmount | undefined {
  return sayLevel(holder, usedKey(holder, LEVELS), parent);
}

/** The first of what one object says; the others are told where they say something else. */
export function firstSaid(
  all: readonly (SaidAmount | undefined)[],
  { receipt }: Pick<ReadContext, 'receipt'>,
): SaidAmount | undefined {
  const [winner, ...others] = all.filter((said) => said !== undefined);
  if (winner !== undefined) for (const loser of others) noteOverruled(loser, winner, receipt);
  return winner;
}

function sayLevel<Key extends string>(
  holder: { readonly [Name in Key]?: string | null },
  key: Key | undefined,
  parent: string,
): SaidAmount | undefined {
  const word = key && holder[key];
  if (key === undefined || word === undefined || word === null) return undefined;
  const path = memberPath(parent, key);
  const lower = word.toLowerCase();
  // "default" is Groq's: console.groq.com/docs/reasoning.
  const amount = lower === 'default' ? UNSET : amountOfWord(lower);
  if (amount === undefined) throw unknownWord(path, ['none', ...EFFORTS]);
  return { path, amount };
}
