// Drops signatures another model family issued, and thoughts whose signature nobody here issued.

import type { Part, Signature } from '../canonical/request.ts';
import { mapTurns, type Transform, type TransformContext } from './transform.ts';

export const dropForeignSignatures: Transform = (request, context) =>
  mapTurns(request, (turn) => {
    if (turn.role !== 'assistant') return turn;
    const parts = turn.parts.map((part) => withoutForeignSignature(part, context));
    return parts.every((part, i) => part === turn.parts[i]) ? turn : { ...turn, parts };
  });

function withoutForeignSignature(part: Part, context: TransformContext): Part {
  if (!('signature' in part) || part.signature === undefined) return part;
  const verdict = judge(part.signature, { part, context });
  if (verdict === undefined) return part;
  context.receipt.add('dropped', 'messages', verdict);
  return { ...part, signature: undefined };
}

/** Why the signature cannot go upstream; undefined when it can. */
function judge(
  signature: Signature,
  { part, context }: { readonly part: Part; readonly context: TransformContext },
): string | undefined {
  const { signatureFamily } = context.capabilities;
  const family = signature.family ?? context.recall.familyOf(signature.value);
  if (family !== undefined && family !== signatureFamily) {
    return `A thought signature of the ${family} family means nothing to this model.`;
  }
  const isForeignThought = part.kind === 'thinking' && family === undefined;
  return isForeignThought ? 'A thought signature was not issued by this gateway.' : undefined;
}
