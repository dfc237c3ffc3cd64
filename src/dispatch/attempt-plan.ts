// What an attempt does otherwise than the first one on its account.

import type { SignaturePlan } from '../upstreams/upstream.ts';
import type { SameAccountChange } from './retry.ts';

export interface AttemptPlan extends SignaturePlan {
  readonly refreshCredential: boolean;
  readonly freshConnection: boolean;
}

export const FIRST_PLAN: AttemptPlan = {
  signatures: 'carried',
  usesPlaceholders: false,
  refreshCredential: false,
  freshConnection: false,
};

/** How an attempt differs from the first one on its account. */
export function planOf(changes: ReadonlySet<SameAccountChange>): AttemptPlan {
  const isReissued = changes.has('reissue-calls');
  const replaced = changes.has('replace-signatures') ? 'remembered' : 'carried';
  const kept = changes.has('strip-signatures') ? 'stripped' : replaced;
  return {
    signatures: isReissued ? 'reissued' : kept,
    usesPlaceholders: changes.has('add-stand-ins') && !isReissued,
    refreshCredential: changes.has('refresh-credential'),
    freshConnection: changes.has('fresh-connection'),
  };
}
