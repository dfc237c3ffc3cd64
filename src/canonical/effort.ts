// How much thinking: what a client may ask for, the tokens a word stands for, what a model takes, and the operator's say in it.

import { isDeepStrictEqual } from 'node:util';
import { type Sentence, told } from '../lib/localized-message.ts';
import type { Receipt } from './receipt.ts';

export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface Reasoning {
  readonly amount: ReasoningAmount;
  /** Whether the client wants to see the thoughts; absent when it did not say. */
  readonly showThoughts?: boolean | undefined;
}

export type ReasoningAmount =
  | { readonly kind: 'unset' }
  /** Unasked where the client's own form knows no thoughts: what is left of them is no news to it. */
  | { readonly kind: 'off'; readonly isUnasked?: true | undefined }
  /** The model decides; upstreams without that mode get a fixed budget. */
  | { readonly kind: 'adaptive' }
  | { readonly kind: 'effort'; readonly effort: Effort }
  /** A verbatim budget is sent as it is, whatever the model's range. */
  | { readonly kind: 'budget'; readonly tokens: number; readonly isVerbatim?: true | undefined };

export type ThinkingCapability =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'budget';
      readonly minTokens: number;
      readonly maxTokens: number;
      /** False when a budget of 0 is refused. */
      readonly canDisable: boolean;
      readonly isOptIn?: OptIn;
    }
  | {
      readonly kind: 'level';
      /** Accepted levels by rising amount, in the upstream's own words. */
      readonly levels: readonly ThinkingLevel[];
      /** True when the upstream has a mode of its own in which the model decides; else silence stands for it. */
      readonly isAdaptive?: true | undefined;
      readonly isOptIn?: OptIn;
    };

/** True for a model that does not think where nothing is said of it. */
type OptIn = true | undefined;

export type ThinkingLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';

/** By rising amount. */
export const EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** `xhigh` and `max` mean the model's own cap. */
export const EFFORT_TOKENS = { minimal: 1024, low: 8192, medium: 16_384, high: 24_576 } as const;

/** Tokens for "let the model decide" where no such mode is known. */
export const ADAPTIVE_TOKENS = 24_576;

/** What the operator does with the amounts clients ask for. */
export type ThinkingMode =
  /** Each amount is fitted to the model. */
  | { readonly kind: 'auto' }
  /** A client's own budget is sent as it is. */
  | { readonly kind: 'passthrough' }
  /** The operator's budget replaces every amount. */
  | { readonly kind: 'custom'; readonly tokens: number }
  /** The model decides. */
  | { readonly kind: 'adaptive' };

interface ModeContext {
  readonly mode: ThinkingMode;
  readonly thinking: ThinkingCapability;
  /** Told why, where the client does not get the amount it asked for. */
  readonly note: (reason: Sentence) => void;
}

/** The amount under the operator's mode; the same object when the mode does not touch it. */
export function applyThinkingMode(amount: ReasoningAmount, context: ModeContext): ReasoningAmount {
  const { mode, note } = context;
  if (amount.kind === 'unset' || amount.kind === 'off') return amount;
  switch (mode.kind) {
    case 'auto':
      return amount;
    case 'passthrough':
      return amount.kind === 'budget' ? { ...amount, isVerbatim: true } : amount;
    case 'custom':
      return customAmount(amount, mode.tokens, context);
    case 'adaptive':
      if (amount.kind === 'adaptive') return amount;
      note(told`The operator leaves the amount of thinking to the model.`);
      return { kind: 'adaptive' };
    default:
      return mode satisfies never;
  }
}

function customAmount(
  amount: ReasoningAmount,
  wanted: number,
  { thinking, note }: ModeContext,
): ReasoningAmount {
  const cap = thinking.kind === 'budget' ? thinking.maxTokens : Number.MAX_SAFE_INTEGER;
  const tokens = Math.min(wanted, cap);
  if (amount.kind !== 'adaptive' && tokensOfAmount(amount, cap) === tokens) return amount;
  note(told`The operator set the thinking budget to ${tokens} tokens.`);
  return { kind: 'budget', tokens };
}

/** The tokens an amount stands for on a model with this cap; undefined when none was asked for. */
export function tokensOfAmount(amount: ReasoningAmount, cap: number): number | undefined {
  switch (amount.kind) {
    case 'unset':
      return undefined;
    case 'off':
      return 0;
    case 'adaptive':
      return ADAPTIVE_TOKENS;
    case 'budget':
      return amount.tokens < 0 ? ADAPTIVE_TOKENS : amount.tokens;
    case 'effort': {
      const { effort } = amount;
      return effort === 'xhigh' || effort === 'max' ? cap : EFFORT_TOKENS[effort];
    }
    default:
      return amount satisfies never;
  }
}

/** 0 switches thinking off, −1 leaves the amount to the model (ai.google.dev, "Thinking"). */
export function amountOfBudget(tokens: number): ReasoningAmount {
  if (tokens === 0) return { kind: 'off' };
  return tokens < 0 ? { kind: 'adaptive' } : { kind: 'budget', tokens };
}

/** An effort in lower case, or `none`; undefined for any other word. */
export function amountOfWord(word: string): ReasoningAmount | undefined {
  if (word === 'none') return { kind: 'off' };
  const effort = EFFORTS.find((known) => known === word);
  return effort && { kind: 'effort', effort };
}

/** The effort that stands for so many tokens: the smallest that is at least as much. */
export function effortOfTokens(tokens: number): keyof typeof EFFORT_TOKENS {
  const words = Object.keys(EFFORT_TOKENS) as (keyof typeof EFFORT_TOKENS)[];
  return words.find((word) => tokens <= EFFORT_TOKENS[word]) ?? 'high';
}

/** A number of tokens. The AI SDK, OpenRouter and the upstreams' own options each have their own word. */
export const BUDGET_KEYS = [
  ...(['budget_tokens', 'budgetTokens', 'max_tokens', 'maxTokens'] as const),
  ...(['thinking_budget', 'thinkingBudget', 'budget'] as const),
] as const;

/** A word; `effort` is the protocols' own. */
export const LEVEL_KEYS = [
  ...(['reasoning_effort', 'reasoningEffort'] as const),
  ...(['thinking_level', 'thinkingLevel', 'level'] as const),
] as const;

/** An amount, and the field that says it. */
export interface SaidAmount {
  readonly path: string;
  readonly amount: ReasoningAmount;
}

/** Tells of an amount that another field overrules, unless both say the same. */
export function noteOverruled(
  { path, amount }: SaidAmount,
  winner: SaidAmount,
  receipt: Receipt,
): void {
  if (amount.kind === 'unset' || isDeepStrictEqual(amount, winner.amount)) return;
  receipt.add('dropped', path, told`${winner.path} says something else and takes precedence.`);
}
