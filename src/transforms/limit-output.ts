// The limit of an answer: within the model's own, with room for thinking and for what is said.

import { told } from '../lib/localized-message.ts';
import type { Transform, TransformContext } from './transform.ts';

/** Caps the output limit to the model and leaves room for an answer beside the thinking budget. */
export const limitOutput: Transform = (request, context) => {
  const { maxOutputTokens: asked, reasoning } = request;
  if (asked === undefined) return request;
  const { amount } = reasoning;
  // Only a budget that is sent takes room: models with levels share the limit out themselves.
  const isSent = context.capabilities.thinking.kind === 'budget' && amount.kind === 'budget';
  const budget = isSent ? amount.tokens : 0;
  const maxOutputTokens = fitOutputLimit(asked, budget, context);
  const limited = { ...request, maxOutputTokens };
  if (!isSent || maxOutputTokens > budget || amount.isVerbatim) return limited;
  const room = Math.min(asked, Math.ceil(maxOutputTokens / 2));
  const tokens = Math.max(0, maxOutputTokens - room);
  const reason = told`The thinking budget was lowered to ${tokens} tokens.`;
  context.receipt.add('capped', 'thinking', reason);
  return { ...limited, reasoning: { ...reasoning, amount: { kind: 'budget', tokens } } };
};

/** The output limit to send: within the model's own, and above the thinking it has to hold. */
export function fitOutputLimit(
  asked: number,
  budget: number,
  { capabilities, receipt }: Pick<TransformContext, 'capabilities' | 'receipt'>,
): number {
  const { outputTokenLimit } = capabilities;
  const capped = Math.min(asked, outputTokenLimit);
  if (capped < asked) {
    const reason = told`This model writes at most ${outputTokenLimit} tokens.`;
    receipt.add('capped', 'max_tokens', reason);
  }
  if (capped > budget) return capped;
  const raised = Math.min(budget + capped, outputTokenLimit);
  if (raised > capped) {
    const reason = told`The limit was raised to leave room beside thinking.`;
    receipt.add('approximated', 'max_tokens', reason);
  }
  return raised;
}
