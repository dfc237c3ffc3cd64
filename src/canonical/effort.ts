// How much thinking a word or a number asks for, and the tokens it stands for.

import type { Effort, ReasoningAmount } from './request.ts';

/** By rising amount. */
export const EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** `xhigh` and `max` mean the model's own cap. */
export const EFFORT_TOKENS = { minimal: 1024, low: 8192, medium: 16_384, high: 24_576 } as const;

/** Tokens for "let the model decide" where no such mode is known. */
export const ADAPTIVE_TOKENS = 24_576;

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
    case 'effort':
      return tokensOfEffort(amount.effort, cap);
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

function tokensOfEffort(effort: Effort, cap: number): number {
  return effort === 'xhigh' || effort === 'max' ? cap : EFFORT_TOKENS[effort];
}
