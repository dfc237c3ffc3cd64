// Resolves what the client said about thinking into what this model can be told.

import type { Reasoning, ReasoningAmount, ThinkingCapability } from '../canonical/effort.ts';
import { applyThinkingMode, tokensOfAmount } from '../canonical/effort.ts';
import type { ModelCapabilities } from '../canonical/model.ts';
import type { CanonicalRequest, Part } from '../canonical/request.ts';
import { told } from '../lib/localized-message.ts';
import { mapTurns, type Transform, type TransformContext, withParts } from './transform.ts';
import { lastPrompt } from './turns.ts';

/**
 * After this rule the amount is unset, off, a budget within the cap or verbatim, or (level models)
 * an effort, or adaptive where the upstream has such a mode.
 */
export const resolveThinking: Transform = (request, context) => {
  const reasoning = resolve(applyVariant(request.reasoning, context), request, context);
  if (reasoning.amount.kind !== 'off') return { ...request, reasoning };
  // A thought may still carry the signature of the call behind it; its text stays out.
  const isSaid = (part: Part) => part.kind !== 'thinking' || part.signature?.on === 'tool-call';
  const silent = mapTurns(request, (turn) => withParts(turn, turn.parts.filter(isSaid)));
  return { ...silent, reasoning };
};

/** A suffix of the model name speaks only where the request itself is silent. */
function applyVariant(reasoning: Reasoning, { variant }: TransformContext): Reasoning {
  if (reasoning.amount.kind !== 'unset') return reasoning;
  const { showThoughts } = reasoning;
  if (variant.effort !== undefined) {
    return { amount: { kind: 'effort', effort: variant.effort }, showThoughts };
  }
  if (variant.thinking === 'on') {
    return { amount: { kind: 'adaptive' }, showThoughts: showThoughts ?? true };
  }
  return reasoning;
}

function resolve(
  reasoning: Reasoning,
  request: CanonicalRequest,
  context: TransformContext,
): Reasoning {
  const { capabilities, receipt, thinkingMode } = context;
  const amount = askedAmount(reasoning, capabilities);
  if (amount.kind === 'unset' || amount.kind === 'off') return reasoning;
  if (capabilities.thinking.kind === 'none') {
    receipt.add('dropped', 'thinking', told`This model does not think.`);
    return { amount: { kind: 'unset' } };
  }
  if (mustNotThink(request, capabilities)) {
    receipt.add('approximated', 'thinking', told`Off: a tool call in this turn has no signature.`);
    return { amount: { kind: 'off' } };
  }
  const { thinking } = capabilities;
  const decided = applyThinkingMode(amount, {
    mode: thinkingMode,
    thinking,
    note: (reason) => receipt.add('approximated', 'thinking', reason),
  });
  return { ...reasoning, amount: fitToModel(decided, thinking, context) };
}

/** Who wants to see thoughts, and says no amount, wants what the model thinks by itself. */
function askedAmount(
  { amount, showThoughts }: Reasoning,
  { thinking }: ModelCapabilities,
): ReasoningAmount {
  const isSilent = amount.kind === 'unset' && showThoughts === true;
  const thinksUnasked = thinking.kind !== 'none' && thinking.isOptIn !== true;
  return isSilent && !thinksUnasked ? { kind: 'adaptive' } : amount;
}

function mustNotThink(request: CanonicalRequest, capabilities: ModelCapabilities): boolean {
  if (capabilities.unsignedCalls !== 'refused') return false;
  return request.turns.slice(lastPrompt(request.turns) + 1).some((turn) => {
    if (turn.role !== 'assistant') return false;
    const first = turn.parts.find((part) => part.kind === 'tool-call');
    return first !== undefined && first.signature === undefined;
  });
}

function fitToModel(
  amount: ReasoningAmount,
  thinking: Exclude<ThinkingCapability, { kind: 'none' }>,
  { receipt }: TransformContext,
): ReasoningAmount {
  if (thinking.kind === 'level') {
    const isSilent = amount.kind === 'adaptive' && thinking.isAdaptive !== true;
    return isSilent ? { kind: 'unset' } : amount;
  }
  if (amount.kind === 'budget' && amount.isVerbatim) return amount;
  const asked = tokensOfAmount(amount, thinking.maxTokens);
  if (asked === undefined) return amount;
  const tokens = Math.min(Math.max(asked, thinking.minTokens), thinking.maxTokens);
  if (amount.kind === 'budget' && tokens !== asked) {
    receipt.add('capped', 'thinking', told`The thinking budget is ${tokens} tokens on this model.`);
  }
  return { kind: 'budget', tokens };
}
