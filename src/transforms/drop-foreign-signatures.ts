// Drops signatures another model family issued, and thoughts whose signature nobody here issued.

import { type Sentence, told } from '../canonical/receipt.ts';
import type { Part } from '../canonical/request.ts';
import { mapTurns, type Transform, type TransformContext } from './transform.ts';

export const dropForeignSignatures: Transform = (request, context) =>
  mapTurns(request, (turn) => {
    if (turn.role !== 'assistant') return turn;
    const parts = turn.parts.map((part) => withoutForeignSignature(part, context));
    return parts.every((part, i) => part === turn.parts[i]) ? turn : { ...turn, parts };
  });

function withoutForeignSignature(part: Part, context: TransformContext): Part {
  if (!('signature' in part) || part.signature === undefined) return part;
  const { signature } = part;
  const issued =
    signature.family === undefined ? context.recall.issued(signature.value) : undefined;
  const verdict = judge(signature.family ?? issued?.family, { part, context });
  if (verdict !== undefined) {
    context.receipt.add('dropped', 'messages', verdict);
    return { ...part, signature: undefined };
  }
  if (issued === undefined || issued.value === signature.value) return part;
  return { ...part, signature: { ...signature, value: issued.value } };
}

/** Why the signature cannot go upstream; undefined when it can. */
function judge(
  family: string | undefined,
  { part, context }: { readonly part: Part; readonly context: TransformContext },
): Sentence | undefined {
  const { signatureFamily } = context.capabilities;
  if (family !== undefined && family !== signatureFamily) {
    return told`A thought signature of the ${family} family means nothing to this model.`;
  }
  const isForeignThought = part.kind === 'thinking' && family === undefined;
  return isForeignThought ? told`A thought signature was not issued by this gateway.` : undefined;
}
