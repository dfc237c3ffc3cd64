// Keeps a conversation that lost its last user turn from ending with the model.

import { told } from '../canonical/receipt.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { TransformContext } from './transform.ts';

/**
 * `asked` is the request before all transforms. A conversation the client itself ends with an
 * assistant turn is a prefill and stays one; any other lost its last turn, which was empty, or held
 * one result that belongs further up.
 */
export function endWithUser(
  request: CanonicalRequest,
  asked: CanonicalRequest,
  { receipt }: TransformContext,
): CanonicalRequest {
  const isPrefill = asked.turns.at(-1)?.role === 'assistant';
  if (isPrefill || request.turns.at(-1)?.role !== 'assistant') return request;
  receipt.add('approximated', 'messages', told`A user turn "…" stands for the empty last one.`);
  return {
    ...request,
    turns: [...request.turns, { role: 'user', parts: [{ kind: 'text', text: '…' }] }],
  };
}
