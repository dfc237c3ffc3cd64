// Writes the thinking configuration: a budget or a level, never both, nothing where nothing is asked.

import { tokensOfAmount } from '../../canonical/effort.ts';
import type { ModelCapabilities } from '../../canonical/model.ts';
import { told } from '../../canonical/receipt.ts';
import type { Reasoning } from '../../canonical/request.ts';
import type { WireThinkingConfig } from '../../wire/generate.ts';
import type { EncodeTarget } from '../upstream.ts';
import { traitsOf } from './capabilities.ts';
import {
  type BudgetThinking,
  fitBudget,
  type LevelThinking,
  levelOfTokens,
  levelReason,
} from './thinking.ts';

/** Undefined when the model is to do as it does by itself, or does not think at all. */
export function encodeThinking(
  reasoning: Reasoning,
  target: EncodeTarget,
): WireThinkingConfig | undefined {
  const { thinking } = target.capabilities;
  switch (thinking.kind) {
    case 'none':
      if (isAskedFor(reasoning))
        target.receipt.add('dropped', 'thinking', told`This model does not think.`);
      return undefined;
    case 'budget':
      return budgetConfig(reasoning, thinking, target);
    case 'level':
      return levelConfig(reasoning, thinking, target);
    default:
      return thinking satisfies never;
  }
}

/** True when thoughts of earlier turns may be sent: the model thinks and was not told not to. */
export function isThinking(reasoning: Reasoning, { thinking }: ModelCapabilities): boolean {
  return thinking.kind !== 'none' && reasoning.amount.kind !== 'off';
}

/** False where nothing was said of thinking, so that there is nothing to tell of it. */
function isNews({ amount }: Reasoning): boolean {
  return amount.kind !== 'off' || amount.isUnasked !== true;
}

function isAskedFor({ amount }: Reasoning): boolean {
  return amount.kind !== 'unset' && amount.kind !== 'off';
}

function budgetConfig(
  reasoning: Reasoning,
  thinking: BudgetThinking,
  { modelId, capabilities, receipt }: EncodeTarget,
): WireThinkingConfig | undefined {
  const { amount, showThoughts } = reasoning;
  const asked = tokensOfAmount(amount, thinking.maxTokens);
  if (asked === undefined) return showThoughts === true ? { includeThoughts: true } : undefined;
  const isVerbatim = amount.kind === 'budget' && amount.isVerbatim;
  const thinkingBudget = isVerbatim ? asked : fitBudget(asked, thinking, capabilities);
  if (asked > 0) return { includeThoughts: showThoughts ?? true, thinkingBudget };
  if (!traitsOf(modelId).thinksUnasked) return undefined;
  if (thinkingBudget > 0 && isNews(reasoning)) {
    receipt.add(
      'approximated',
      'thinking',
      told`This model thinks ${thinkingBudget} tokens or more.`,
    );
  }
  return { includeThoughts: false, thinkingBudget };
}

function levelConfig(
  reasoning: Reasoning,
  thinking: LevelThinking,
  { receipt }: EncodeTarget,
): WireThinkingConfig | undefined {
  const { amount, showThoughts } = reasoning;
  const isLeftToModel =
    amount.kind === 'adaptive' || (amount.kind === 'budget' && amount.tokens < 0);
  const asked = isLeftToModel ? undefined : tokensOfAmount(amount, Number.MAX_SAFE_INTEGER);
  if (asked === undefined) {
    const isWanted = showThoughts ?? isLeftToModel;
    return isWanted ? { includeThoughts: true } : undefined;
  }
  const thinkingLevel = levelOfTokens(asked, thinking);
  const isExact = amount.kind === 'effort' && amount.effort.toUpperCase() === thinkingLevel;
  if (!isExact && isNews(reasoning)) {
    receipt.add('approximated', 'thinking', levelReason(asked, thinkingLevel));
  }
  return { includeThoughts: asked > 0 && (showThoughts ?? true), thinkingLevel };
}
