// What one attempt does otherwise than the first one on its account.

import type { SignaturePlan } from '../upstreams/upstream.ts';
import type { SameAccountChange } from './retry.ts';

export interface AttemptPlan extends SignaturePlan {
  readonly refreshCredential: boolean;
  readonly freshConnection: boolean;
}

export function planOf(changes: ReadonlySet<SameAccountChange>): AttemptPlan {
  return {
    signatures: signaturesOf(changes),
    standsIn: changes.has('add-stand-ins') && !changes.has('reissue-calls'),
    refreshCredential: changes.has('refresh-credential'),
    freshConnection: changes.has('fresh-connection'),
  };
}

function signaturesOf(changes: ReadonlySet<SameAccountChange>): AttemptPlan['signatures'] {
  if (changes.has('reissue-calls')) return 'reissued';
  if (changes.has('strip-signatures')) return 'stripped';
  return changes.has('replace-signatures') ? 'remembered' : 'carried';
}
