// The retry table: what follows a failed attempt, on the same account, on another or with the next model. Pure; the
// attempt loop carries it out.

import type { FallbackReason } from '../canonical/call-record.ts';
import { GatewayError } from '../canonical/error.ts';
import type { UpstreamFailure, UpstreamFailureKind } from '../canonical/failure.ts';

/** What one request has tried so far. */
interface RetryState {
  readonly attempts: number;
  /** Accounts that were at their limit (429, 402). */
  readonly limits: number;
  /** Since the first of them was, in milliseconds: what others took is no reason to look for none. */
  readonly limitedMs: number;
  /** Accounts that refused it (401, 403, 404). */
  readonly refusals: number;
  /** Attempts that ended in a fault of the path (5xx, network, garbage), an overload or a useless answer. */
  readonly pathFaults: number;
  /** What was already changed for a second try on the same account. */
  readonly changes: ReadonlySet<SameAccountChange>;
  /** Whether a change of signatures makes another request of it than the one that failed. */
  readonly alters: (change: SignatureChange) => boolean;
  readonly canRefresh: boolean;
  /** False when the model's budget for path retries is spent. */
  readonly hasRetryBudget: boolean;
}

type SignatureChange = 'replace-signatures' | 'strip-signatures' | 'reissue-calls';

export type SameAccountChange =
  | SignatureChange
  | 'refresh-credential'
  | 'add-stand-ins'
  | 'fresh-connection';

export type NextStep =
  | { readonly kind: 'stop' }
  | { readonly kind: 'same-account'; readonly change: SameAccountChange }
  /**
   * `pause`: before another account is asked. `mayRepeat`: where no other is left, those that met such a
   * fault are asked again, after `REPEAT_WAITS_MS`.
   */
  | {
      readonly kind: 'other-account';
      readonly pause: 'none' | 'jitter';
      readonly mayRepeat: boolean;
    };

export const MAX_ATTEMPTS = 40;
const MAX_LIMITS = 32;
const MAX_LIMITS_MS = 10_000;
const MAX_REFUSALS = 6;
const MAX_PATH_ATTEMPTS = 4;
/** The waits before an account that met a fault is asked again, from and to: as often as there are rows. */
export const REPEAT_WAITS_MS: readonly (readonly [number, number])[] = [
  [100, 400],
  [400, 1_200],
  [1_200, 3_000],
];

/** `state` counts the failed attempt already. */
export function decideRetry(failure: UpstreamFailureKind, state: RetryState): NextStep {
  const step = nextStep(failure, state);
  return step.kind === 'other-account' && state.attempts >= MAX_ATTEMPTS ? STOP : step;
}

function nextStep(failure: UpstreamFailureKind, state: RetryState): NextStep {
  switch (failure) {
    case 'rejected':
      return STOP;
    case 'lacking':
      return OTHER_ACCOUNT;
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
        afterRefusal(state)
      );
    case 'rate-limited':
    case 'quota-exhausted':
      return state.limits < MAX_LIMITS && state.limitedMs < MAX_LIMITS_MS ? OTHER_ACCOUNT : STOP;
    case 'credential-unavailable':
      // A moment later it may be had.
      return afterRefusal(state, state.hasRetryBudget);
    case 'credential-revoked':
    case 'verification-required':
    case 'forbidden':
    case 'model-forbidden':
    case 'model-not-found':
      return afterRefusal(state);
    case 'path':
    case 'gateway-proxy':
    case 'unusable-answer':
      return afterPathFault(state);
    case 'overloaded':
      return mayRetryPath(state) ? { ...OTHER_ACCOUNT, mayRepeat: true } : STOP;
    default:
      return failure satisfies never;
  }
}

type Kinds = readonly UpstreamFailureKind[];

const PATH_FAULTS: Kinds = [
  ...(['path', 'connection-lost', 'gateway-proxy'] as const),
  ...(['overloaded', 'unusable-answer'] as const),
];
const LIMITS: Kinds = ['rate-limited', 'quota-exhausted'];
/** A 403 that speaks of the whole account: two accounts that say it alike are asked once more, for one token. */
const ACCOUNT_DOUBTS: Kinds = ['forbidden', 'verification-required'];
/** Refusals that may be the request's own: a second account that says the same tells. */
const OF_REQUEST: Kinds = [...ACCOUNT_DOUBTS, 'model-forbidden', 'model-not-found'];
/** Refusals of a single account, of which one request holds one against one account. */
const REFUSALS: Kinds = [...OF_REQUEST, 'unauthenticated'];
/** Limits and refused credentials; what the request itself may be to blame for is the client's to know. */
const ACCOUNT_TROUBLE: Kinds = [
  ...LIMITS,
  ...ACCOUNT_DOUBTS,
  'unauthenticated',
  'credential-revoked',
];

const among =
  (kinds: Kinds) =>
  (failure: UpstreamFailureKind): boolean =>
    kinds.includes(failure);

/** Faults of the path are counted against the path budgets, everything else against the account's. */
export const isPathFault = among(PATH_FAULTS);
export const isLimit = among(LIMITS);
export const isAccountDoubt = among(ACCOUNT_DOUBTS);
export const mayBeOfRequest = among(OF_REQUEST);
export const isRefusal = among(REFUSALS);
export const isAccountTrouble = among(ACCOUNT_TROUBLE);

/** True of a prompt that a model with more room may take. */
export function isTooLong(error: unknown): boolean {
  return (
    error instanceof GatewayError &&
    (error.reason === 'context-length' || error.kind === 'too-large')
  );
}

/** Why another model may do what this one did not; undefined where the request itself is refused. */
export function whyFallBack(error: unknown, { kind }: UpstreamFailure): FallbackReason | undefined {
  if (isTooLong(error)) return 'prompt-too-long';
  if (kind === 'model-not-found') return 'not-offered';
  if (isLimit(kind)) return 'limited';
  if (kind === 'overloaded') return 'overloaded';
  if (isPathFault(kind)) return 'no-answer';
  return isRefusal(kind) || isAccountTrouble(kind) ? 'unusable' : undefined;
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

const OTHER_ACCOUNT = { kind: 'other-account', pause: 'none', mayRepeat: false } as const;

function afterRefusal({ refusals }: RetryState, mayRepeat = false): NextStep {
  return refusals < MAX_REFUSALS ? { ...OTHER_ACCOUNT, mayRepeat } : STOP;
}

function afterPathFault(state: RetryState): NextStep {
  return mayRetryPath(state) ? { kind: 'other-account', pause: 'jitter', mayRepeat: true } : STOP;
}

function mayRetryPath({ pathFaults, hasRetryBudget }: RetryState): boolean {
  return pathFaults < MAX_PATH_ATTEMPTS && hasRetryBudget;
}
