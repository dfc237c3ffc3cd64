// Gives calls and thoughts back the signatures their clients could not carry.

import type { Part } from '../canonical/request.ts';
import { mapTurns, type Transform, type TransformContext } from './transform.ts';

/** What the client returned wins; then what was remembered for its key; thoughts left unsigned go. */
export const restoreSignatures: Transform = (request, context) =>
  mapTurns(request, (turn) => {
    if (turn.role !== 'assistant') return turn;
    const parts = turn.parts
      .map((part) => restore(part, context))
      .filter((part) => isSendable(part, context));
    if (parts.length === 0) return undefined;
    return parts.length === turn.parts.length && parts.every((part, i) => part === turn.parts[i])
      ? turn
      : { ...turn, parts };
  });

function restore(part: Part, { recall, capabilities }: TransformContext): Part {
  if (part.kind !== 'tool-call' && part.kind !== 'thinking') return part;
  if (part.signature !== undefined) return part;
  const found =
    part.kind === 'tool-call' ? recall.call(part.id, part.name) : recall.thought(part.text);
  if (found === undefined || found.family !== capabilities.signatureFamily) return part;
  return { ...part, signature: found };
}

function isSendable(part: Part, { receipt }: TransformContext): boolean {
  if (part.kind !== 'thinking' || part.signature !== undefined) return true;
  receipt.add('dropped', 'messages', 'Thinking without a valid signature cannot be sent upstream.');
  return false;
}
