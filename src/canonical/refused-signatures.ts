// Tells which thought signatures of a conversation may be sent again after the upstream refused one of them.

import type { SignatureRecall } from './request.ts';

/**
 * What the signatures of an attempt are: `carried` ones, with the remembered where there is none; after a
 * refusal `remembered` ones in place of those that came back damaged; after another none, `stripped`.
 */
export type SignatureSource = 'carried' | 'remembered' | 'stripped';

/** A signature a client carried, and the call it stands on, where it stands on one that has an id. */
export interface PlacedSignature {
  readonly value: string;
  readonly call?: { readonly id: string; readonly name: string } | undefined;
}

/** What is left to be sent of a refused conversation. */
export interface SignatureTrust {
  keeps(signature: PlacedSignature): boolean;
  /** False when those that are remembered were refused themselves. */
  readonly recalls: boolean;
}

/** Undefined while the upstream refused nothing: all signatures are trusted then. */
export function trustOf(
  source: SignatureSource,
  {
    carried,
    recall,
  }: { readonly carried: () => readonly PlacedSignature[]; readonly recall: SignatureRecall },
): SignatureTrust | undefined {
  switch (source) {
    case 'carried':
      return undefined;
    case 'remembered':
      return trustAfterRefusal(carried(), recall);
    case 'stripped':
      return { keeps: () => false, recalls: false };
    default:
      return source satisfies never;
  }
}

/**
 * Signatures that are not what was issued are at fault: they go, and what is remembered takes their
 * place. Where all are as they were issued nothing tells which one was meant, and none is sent again.
 */
function trustAfterRefusal(
  carried: readonly PlacedSignature[],
  recall: SignatureRecall,
): SignatureTrust {
  const isAtFault = (signature: PlacedSignature): boolean => !isAsIssued(signature, recall);
  const recalls = carried.some(isAtFault);
  return { recalls, keeps: (signature) => recalls && !isAtFault(signature) };
}

function isAsIssued({ value, call }: PlacedSignature, recall: SignatureRecall): boolean {
  const own = call && recall.call(call.id, call.name);
  return own === undefined ? recall.issued(value) !== undefined : own.value === value;
}
