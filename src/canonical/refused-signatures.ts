// Tells which thought signatures of a conversation may be sent again after the upstream refused one of them.

import { type Sentence, told } from './receipt.ts';
import type { SignatureRecall } from './signature-recall.ts';

/**
 * What the signatures of an attempt are: `carried` ones, with the remembered where there is none; after a
 * refusal `remembered` ones in place of those that came back damaged; after another none, `stripped`; where
 * even that is refused the remembered ones again, on calls `reissued` with the arguments they vouch for.
 */
export type SignatureSource = 'carried' | 'remembered' | 'stripped' | 'reissued';

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
    case 'reissued':
      return { recalls: true, keeps: (signature) => isAsIssued(signature, recall) };
    default:
      return source satisfies never;
  }
}

/** For the receipt, of a call that goes back with other arguments than its client returned. */
export function tellReissued(name: string): Sentence {
  return told`The call of ${name} went back with the arguments the model wrote: the upstream took it with no others.`;
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
