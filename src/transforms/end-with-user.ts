// Keeps the client's question last, also when nothing of it is left to send.

import type { CanonicalRequest } from '../canonical/request.ts';
import type { TransformContext } from './transform.ts';

/**
 * The request, ending with a user turn when the client's own did: its last turn may have been empty,
 * or one result that belongs further up. A conversation the client itself ends with an assistant
 * turn (a prefill) stays as it is.
 */
export function endWithUser(
  request: CanonicalRequest,
  asked: CanonicalRequest,
  { receipt }: TransformContext,
): CanonicalRequest {
  const wasAnswerLast = asked.turns.at(-1)?.role === 'assistant';
  if (wasAnswerLast || request.turns.at(-1)?.role !== 'assistant') return request;
  receipt.add('approximated', 'messages', 'A user turn "…" stands for the empty last one.');
  return {
    ...request,
    turns: [...request.turns, { role: 'user', parts: [{ kind: 'text', text: '…' }] }],
  };
}
