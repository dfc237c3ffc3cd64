// Signatures that ended a thinking block but stood on the part after it: put back where they stood.

import type { Signature } from '../../canonical/request.ts';

export interface PendingSignature {
  /** The signature to write on a block of this kind, given the one the block came with. */
  sign(kind: string, own: Signature | undefined): Signature | undefined;
  /** What no later block took. */
  take(): Signature | undefined;
}

/** One instance a choice; blocks are signed in their order. */
export function createPendingSignature(): PendingSignature {
  let pending: Signature | undefined;
  return {
    sign(kind, own) {
      if (kind === 'thinking') {
        if (own?.on === undefined || own.on === 'thinking') return own;
        pending = own;
        return undefined;
      }
      const signature = own ?? (pending?.on === kind ? pending : undefined);
      if (signature !== undefined && signature.value === pending?.value) pending = undefined;
      return signature;
    },
    take() {
      const left = pending;
      pending = undefined;
      return left;
    },
  };
}
