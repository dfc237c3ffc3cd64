// Gives calls and thoughts back the signatures their clients could not carry.

import type { Part, Signature, ThinkingPart, ToolCallPart } from '../canonical/request.ts';
import { mapTurns, type Transform, type TransformContext } from './transform.ts';

/** What the client returned wins; then what was remembered for its key; thoughts left unsigned go. */
export const restoreSignatures: Transform = (request, context) =>
  mapTurns(request, (turn) => {
    if (turn.role !== 'assistant') return turn;
    const parts = turn.parts
      .map((part, index) => restore(part, turn.parts.slice(index + 1), context))
      .filter((part) => isSendable(part, context));
    if (parts.length === 0) return undefined;
    return parts.length === turn.parts.length && parts.every((part, i) => part === turn.parts[i])
      ? turn
      : { ...turn, parts };
  });

function restore(part: Part, behind: readonly Part[], context: TransformContext): Part {
  if (part.kind !== 'tool-call' && part.kind !== 'thinking') return part;
  if (part.signature !== undefined) return part;
  const found =
    part.kind === 'tool-call' ? recallCall(part, context) : recallThought(part, context);
  if (found === undefined || found.family !== context.capabilities.signatureFamily) return part;
  if (part.kind === 'thinking' && !isOfNextCall(found, behind, context)) return part;
  return { ...part, signature: found };
}

function recallCall({ id, name }: ToolCallPart, { recall }: TransformContext) {
  return recall.call(id, name);
}

function recallThought({ text }: ThinkingPart, { recall }: TransformContext) {
  return recall.thought(text);
}

/**
 * False when the signature belongs to a call, but not to the one behind this thought: the same words
 * may have been thought before another call.
 */
function isOfNextCall(
  signature: Signature,
  behind: readonly Part[],
  context: TransformContext,
): boolean {
  if (signature.on !== 'tool-call') return true;
  const call = behind.find((part) => part.kind === 'tool-call');
  const own = call === undefined ? undefined : (call.signature ?? recallCall(call, context));
  return own === undefined || own.value === signature.value;
}

function isSendable(part: Part, { receipt }: TransformContext): boolean {
  if (part.kind !== 'thinking' || part.signature !== undefined) return true;
  receipt.add('dropped', 'messages', 'Thinking without a valid signature cannot be sent upstream.');
  return false;
}
