// Makes the conversation end with a user turn, wherever the upstream does not take a prefill.

import { CONTINUE_PROMPT, CONTINUE_REASON } from '../canonical/prefill.ts';
import type { CanonicalRequest } from '../canonical/request.ts';
import type { TransformContext } from './transform.ts';

/**
 * `asked` is the request before all transforms: a conversation the client itself ends with an
 * assistant turn is a prefill; any other lost its last turn, which was empty, or one result that
 * belongs further up.
 */
export function endWithUser(
  request: CanonicalRequest,
  asked: CanonicalRequest,
  { capabilities, receipt }: TransformContext,
): CanonicalRequest {
  if (request.turns.at(-1)?.role !== 'assistant') return request;
  if (asked.turns.at(-1)?.role === 'assistant') {
    if (capabilities.acceptsPrefill === true) return request;
    receipt.add('approximated', 'messages', CONTINUE_REASON);
    return withPrompt(request, CONTINUE_PROMPT);
  }
  receipt.add('approximated', 'messages', 'A user turn "…" stands for the empty last one.');
  return withPrompt(request, '…');
}

function withPrompt(request: CanonicalRequest, text: string): CanonicalRequest {
  return {
    ...request,
    turns: [...request.turns, { role: 'user', parts: [{ kind: 'text', text }] }],
  };
}
