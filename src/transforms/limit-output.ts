// Caps the output limit to the model and leaves room for an answer beside the thinking budget.

import { told } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { Transform, TransformContext } from './transform.ts';

export const limitOutput: Transform = (request, { capabilities, receipt }) => {
  const asked = request.maxOutputTokens;
  if (asked === undefined) return request;
  const limit = capabilities.outputTokenLimit;
  const budget = budgetOf(request, capabilities);
  const capped = Math.min(asked, limit);
  if (capped < asked) {
    receipt.add('capped', 'max_tokens', told`This model writes at most ${limit} tokens.`);
  }
  if (budget === 0 || capped > budget) return { ...request, maxOutputTokens: capped };
  const raised = Math.min(budget + capped, limit);
  receipt.add(
    'approximated',
    'max_tokens',
    told`The limit was raised to leave room beside thinking.`,
  );
  if (raised > budget) return { ...request, maxOutputTokens: raised };
  const { amount } = request.reasoning;
  if (amount.kind === 'budget' && amount.isVerbatim) {
    return { ...request, maxOutputTokens: raised };
  }
  const tokens = Math.max(0, raised - Math.min(capped, Math.ceil(raised / 2)));
  receipt.add('capped', 'thinking', told`The thinking budget was lowered to ${tokens} tokens.`);
  return {
    ...request,
    maxOutputTokens: raised,
    reasoning: { ...request.reasoning, amount: { kind: 'budget', tokens } },
  };
};

/** Only a budget that is sent takes room: models with levels share the limit out themselves. */
function budgetOf(
  { reasoning: { amount } }: CanonicalRequest,
  { thinking }: TransformContext['capabilities'],
): number {
  return thinking.kind === 'budget' && amount.kind === 'budget' ? amount.tokens : 0;
}
