// The retry table: what follows a failed attempt. Pure; the attempt loop carries it out.

import type { UpstreamFailureKind } from '../canonical/error.ts';

/** What one request has tried so far. */
export interface RetryState {
  /** Accounts that this request found at fault (429, 401, 403, 404). */
  readonly accountFaults: number;
  /** Attempts that ended in a fault of the path (5xx, network, garbage), an overload or a useless answer. */
  readonly pathFaults: number;
  /** What was already changed for a second try on the same account. */
  readonly changes: ReadonlySet<SameAccountChange>;
  /** Whether a change of signatures makes another request of it than the one that failed. */
  readonly alters: (change: SignatureChange) => boolean;
  readonly canRefresh: boolean;
  /** False when the pool-wide budget for path retries is spent. */
  readonly hasRetryBudget: boolean;
}

export type SignatureChange = 'replace-signatures' | 'strip-signatures' | 'reissue-calls';

export type SameAccountChange =
  | SignatureChange
  | 'refresh-credential'
  | 'add-stand-ins'
  | 'fresh-connection';

export type NextStep =
  | { readonly kind: 'stop' }
  | { readonly kind: 'same-account'; readonly change: SameAccountChange }
  /** `pause`: none, a short jitter, or until the overloaded model may be asked again. */
  | { readonly kind: 'other-account'; readonly pause: 'none' | 'jitter' | 'overload' };

const MOST_ACCOUNT_ATTEMPTS = 6;
const MOST_PATH_ATTEMPTS = 3;
const MOST_OVERLOAD_ATTEMPTS = 2;

/** `state` counts the failed attempt already. */
export function decideRetry(failure: UpstreamFailureKind, state: RetryState): NextStep {
  switch (failure) {
    case 'rejected':
      return STOP;
    case 'bad-signature':
      return state.changes.has('reissue-calls') ? STOP : afterBadSignature(state);
    case 'missing-signature':
      if (state.changes.has('reissue-calls')) return STOP;
      return changeOnce('add-stand-ins', state) ?? afterLastSignatures(state);
    case 'connection-lost':
      // A repeat that succeeds takes nothing of the budget; one that fails does.
      return state.hasRetryBudget
        ? (changeOnce('fresh-connection', state) ?? afterPathFault(state))
        : STOP;
    case 'unauthenticated':
      return (
        (state.canRefresh ? changeOnce('refresh-credential', state) : undefined) ??
        afterAccountFault(state)
      );
    case 'rate-limited':
    case 'quota-exhausted':
    case 'credential-revoked':
    case 'credential-unavailable':
    case 'verification-required':
    case 'forbidden':
    case 'model-forbidden':
    case 'model-not-found':
      return afterAccountFault(state);
    case 'path':
    case 'unusable-answer':
      return afterPathFault(state);
    case 'overloaded':
      return state.pathFaults < MOST_OVERLOAD_ATTEMPTS && state.hasRetryBudget
        ? { kind: 'other-account', pause: 'overload' }
        : STOP;
    default:
      return failure satisfies never;
  }
}

/** Faults of the path are counted against the path budgets, everything else against the account's. */
export function isPathFault(failure: UpstreamFailureKind): boolean {
  return (
    failure === 'path' ||
    failure === 'connection-lost' ||
    failure === 'overloaded' ||
    failure === 'unusable-answer'
  );
}

export function isLimit(failure: UpstreamFailureKind): boolean {
  return failure === 'rate-limited' || failure === 'quota-exhausted';
}

/** True for limits and refused credentials; a model that is not there is the client's to know. */
export function isAccountTrouble(failure: UpstreamFailureKind): boolean {
  switch (failure) {
    case 'rate-limited':
    case 'quota-exhausted':
    case 'unauthenticated':
    case 'credential-revoked':
    case 'verification-required':
    case 'forbidden':
    case 'model-forbidden':
      return true;
    default:
      return false;
  }
}

const STOP: NextStep = { kind: 'stop' };

function changeOnce(change: SameAccountChange, state: RetryState): NextStep | undefined {
  return state.changes.has(change) ? undefined : { kind: 'same-account', change };
}

/** Nothing is sent again as it was, but for the one retry without signatures that every refusal gets (decision 017). */
function afterBadSignature(state: RetryState): NextStep {
  const { changes, alters } = state;
  if (changes.has('strip-signatures')) return afterLastSignatures(state);
  const isReplaced = changes.has('replace-signatures');
  if (!isReplaced && alters('replace-signatures')) return SIGNATURES_REPLACED;
  return isReplaced && !alters('strip-signatures')
    ? afterLastSignatures(state)
    : SIGNATURES_STRIPPED;
}

/** What the client says of its calls is given up last, and only where the upstream takes nothing else. */
function afterLastSignatures(state: RetryState): NextStep {
  return state.alters('reissue-calls') ? { kind: 'same-account', change: 'reissue-calls' } : STOP;
}

const SIGNATURES_REPLACED: NextStep = { kind: 'same-account', change: 'replace-signatures' };
const SIGNATURES_STRIPPED: NextStep = { kind: 'same-account', change: 'strip-signatures' };

function afterAccountFault(state: RetryState): NextStep {
  return state.accountFaults < MOST_ACCOUNT_ATTEMPTS
    ? { kind: 'other-account', pause: 'none' }
    : STOP;
}

function afterPathFault(state: RetryState): NextStep {
  return state.pathFaults < MOST_PATH_ATTEMPTS && state.hasRetryBudget
    ? { kind: 'other-account', pause: 'jitter' }
    : STOP;
}
