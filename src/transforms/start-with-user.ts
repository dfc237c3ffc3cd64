// Makes the conversation start with a user turn, as every upstream demands.

import { told } from '../canonical/receipt.ts';
import type { Transform } from './transform.ts';

export const startWithUser: Transform = (request, { receipt }) => {
  const first = request.turns[0];
  if (first?.role === 'user') return request;
  if (first === undefined && request.system.length > 0) {
    receipt.add('approximated', 'messages', told`Instructions alone are sent as the user turn.`);
    return { ...request, system: [], turns: [{ role: 'user', parts: request.system }] };
  }
  const reason =
    first === undefined
      ? told`A user turn "…" stands for the empty conversation.`
      : told`A user turn "…" was put before the first answer.`;
  receipt.add('approximated', 'messages', reason);
  return {
    ...request,
    turns: [{ role: 'user', parts: [{ kind: 'text', text: '…' }] }, ...request.turns],
  };
};
