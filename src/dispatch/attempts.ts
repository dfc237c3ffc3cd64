// The attempt loop: leases an account, tries, and follows the retry table until one attempt commits.

import {
  asGatewayError,
  GatewayError,
  type UpstreamFailure,
  withRetryAfter,
} from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';
import type { Pool } from '../pool/create-pool.ts';
import type { Lease, LeaseRequest, LeaseResult } from '../pool/pool.ts';
import type { SignaturePlan } from '../upstreams/upstream.ts';
import type { AttemptRecord, CallRecord } from './dispatcher.ts';
import { exhaustedError } from './exhausted.ts';
import {
  decideRetry,
  isAccountDoubt,
  isAccountTrouble,
  isLimit,
  isPathFault,
  isRefusal,
  mayBeOfRequest,
  type NextStep,
  REPEAT_WAITS_MS,
  type SameAccountChange,
} from './retry.ts';

export interface AttemptDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly random: () => number;
  readonly budget: RetryBudget;
}

export interface AttemptRequest {
  readonly leaseRequest: Omit<LeaseRequest, 'exclude'>;
  readonly signal: AbortSignal;
  readonly record: CallRecord;
  /** True for calls that the upstream limits apart from answers: what they meet rests no account. */
  readonly hasOwnLimits?: boolean;
  /** Which of several upstream calls of the record these attempts are of, from 1. */
  readonly upstreamCall?: number | undefined;
  /** Stands for what is asked; the same requests of one key are held against an account once in a while. */
  fingerprint?(): string;
  /** Whether an attempt by this plan would send what the last one on this account sent; without it none would. */
  repeats?(lease: Lease, plan: AttemptPlan): boolean;
}

/**
 * Runs `attempt` until it resolves. The lease of the attempt that resolved stays open: its owner
 * releases it. Every other lease is released here.
 * @throws GatewayError of the last attempt, or the reason why no account was left.
 */
export async function runAttempts<Result>(
  request: AttemptRequest,
  attempt: (lease: Lease, plan: AttemptPlan, hasOther: () => boolean) => Promise<Result>,
  dependencies: AttemptDependencies,
): Promise<Result> {
  dependencies.budget.noteRequest();
  const run = new AttemptRun(request, dependencies);
  for (;;) {
    const lease = await run.nextLease();
    const result = await run.tryOn(lease, attempt);
    if (result.kind === 'done') return result.value;
  }
}

/** For a client whose next request may find an account at once. */
const NEXT_REQUEST_MS = 1000;

type NothingLeft = Extract<LeaseResult, { kind: 'none' }>;

type TryResult<Result> =
  | { readonly kind: 'done'; readonly value: Result }
  | { readonly kind: 'again' };

/** The first account that refused the request: whether that is its own fault, the next ones tell. */
interface Suspect {
  readonly lease: Lease;
  readonly failure: UpstreamFailure;
}

class AttemptRun {
  readonly #request: AttemptRequest;
  readonly #dependencies: AttemptDependencies;
  readonly #startedAt: number;
  /** Accounts that are not asked again. */
  readonly #spent = new Set<string>();
  /** Accounts that met a fault of the path or an overload: asked again where no other is left. */
  readonly #faulted = new Set<string>();
  #attempts = 0;
  #limits = 0;
  #refusals = 0;
  #pathFaults = 0;
  #repeats = 0;
  #lastError: GatewayError | undefined;
  #suspect: Suspect | undefined;
  #attemptStartedAt = 0;
  /** For the account of its session, before all attempts so far. */
  #waitedMs = 0;
  #pause: 'none' | 'jitter' = 'none';
  /** The last attempt was a retry the budget was asked for. */
  #isBudgeted = false;

  constructor(request: AttemptRequest, dependencies: AttemptDependencies) {
    this.#request = request;
    this.#dependencies = dependencies;
    this.#startedAt = dependencies.clock.monotonic();
  }

  async nextLease(): Promise<Lease> {
    if (this.#pause === 'jitter' && this.hasOther()) await this.#sleep(this.#between([100, 400]));
    this.#pause = 'none';
    let result = await this.#leaseOrWait();
    if (result.kind === 'none') result = await this.#leaseAgain(result);
    if (result.kind === 'none') {
      this.#endSuspicion('held');
      this.#request.record.passedOver = result.selectionLog;
      throw this.#withRest(exhaustedError(result, this.#lastError));
    }
    return result.lease;
  }

  async tryOn<Result>(
    lease: Lease,
    attempt: (lease: Lease, plan: AttemptPlan, hasOther: () => boolean) => Promise<Result>,
  ): Promise<TryResult<Result>> {
    const changes = new Set<SameAccountChange>();
    for (;;) {
      this.#attemptStartedAt = this.#dependencies.clock.monotonic();
      this.#attempts += 1;
      try {
        const hasOther = (): boolean => this.hasOther(lease);
        const value = await attempt(lease, planOf(changes), hasOther);
        this.#note(lease, { outcome: 'ok', status: 200 });
        lease.noteAnswer();
        if (this.#isBudgeted) this.#dependencies.budget.giveBack();
        // Another account does what it refused: that was its own fault.
        this.#endSuspicion('held');
        return { kind: 'done', value };
      } catch (error) {
        const failure = this.#failureOf(error, lease);
        const change = this.#follow(error, { failure, lease, changes });
        if (change === undefined) return { kind: 'again' };
        changes.add(change);
      }
    }
  }

  /** True while an account is left that this request has not tried. */
  hasOther(current?: Lease): boolean {
    const tried = [...this.#spent, ...this.#faulted, ...(current ? [current.account.id] : [])];
    return this.#lookAhead(new Set(tried)).kind !== 'none';
  }

  /** Most faults of the path pass at once: where no other account is left, those that met one are asked again. */
  async #leaseAgain(nothing: NothingLeft): Promise<Exclude<LeaseResult, { kind: 'wait' }>> {
    const wait = REPEAT_WAITS_MS[this.#repeats];
    if (this.#faulted.size === 0 || wait === undefined) return nothing;
    this.#repeats += 1;
    await this.#sleep(this.#between(wait));
    this.#faulted.clear();
    const result = await this.#leaseOrWait();
    return result.kind === 'none' && result.reason === 'all-tried' ? nothing : result;
  }

  async #leaseOrWait(): Promise<Exclude<LeaseResult, { kind: 'wait' }>> {
    const result = this.#lease();
    return result.kind === 'wait' ? this.#waitForAccount(result.waitMs) : result;
  }

  #lease(): LeaseResult {
    const { leaseRequest } = this.#request;
    const { pool } = this.#dependencies;
    const exclude = new Set([...this.#spent, ...this.#faulted]);
    return pool.lease({ ...leaseRequest, exclude, waitedMs: this.#waitedMs });
  }

  /** The pool itself bounds how long a request may wait in all. */
  async #waitForAccount(waitMs: number): Promise<Exclude<LeaseResult, { kind: 'wait' }>> {
    for (let nextMs = waitMs; ; ) {
      await this.#sleep(nextMs);
      this.#waitedMs += nextMs;
      const result = this.#lease();
      if (result.kind !== 'wait') return result;
      nextMs = result.waitMs;
    }
  }

  /** The upstream failure an attempt ended in; anything else ends the whole request. */
  #failureOf(error: unknown, lease: Lease): UpstreamFailure {
    const { signal } = this.#request;
    if (!signal.aborted && error instanceof GatewayError && error.failure !== undefined) {
      const { kind, status } = error.failure;
      this.#note(lease, { outcome: kind, status, detail: describeFault(error) });
      return error.failure;
    }
    lease.release({ kind: 'neutral' });
    this.#endSuspicion({ kind: 'neutral' });
    const ending = signal.aborted ? abortError(signal) : asGatewayError(error);
    this.#note(lease, { outcome: ending.kind });
    throw signal.aborted ? ending : error;
  }

  /** The change for another try on the same account; undefined to go on with another account. */
  #follow(
    error: unknown,
    {
      failure,
      lease,
      changes,
    }: { failure: UpstreamFailure; lease: Lease; changes: ReadonlySet<SameAccountChange> },
  ): SameAccountChange | undefined {
    const counts = failure.kind !== 'connection-lost' || changes.has('fresh-connection');
    // Lost again on a fresh connection it was no accident of a kept one, and the repeat a retry like others.
    if (counts && failure.kind === 'connection-lost') this.#dependencies.budget.take();
    if (counts) this.#count(failure, 1);
    const step = this.#decide(failure, lease, changes);
    if (step.kind === 'same-account') {
      // Another try on the same account is no other account: the limit is of accounts.
      if (counts && !isPathFault(failure.kind)) this.#count(failure, -1);
      return step.change;
    }
    const isOfRequest = this.#settle(lease, failure);
    if (isOfRequest || step.kind === 'stop') {
      this.#endSuspicion('held');
      throw this.#finalError(error, failure);
    }
    this.#isBudgeted = step.mayRepeat;
    if (step.mayRepeat) this.#dependencies.budget.take();
    (step.mayRepeat ? this.#faulted : this.#spent).add(lease.account.id);
    this.#remember(error, failure);
    this.#pause = step.pause;
    return undefined;
  }

  #count({ kind }: UpstreamFailure, by: 1 | -1): void {
    if (isPathFault(kind)) this.#pathFaults += by;
    else if (isLimit(kind)) this.#limits += by;
    else this.#refusals += by;
  }

  /** Gives the account back. True when the refusal is the request's own: a second account gave the same. */
  #settle(lease: Lease, failure: UpstreamFailure): boolean {
    const { kind } = failure;
    if (!isRefusal(kind)) {
      const isOwnLimit = this.#request.hasOwnLimits === true && isLimit(kind);
      const isHeld = kind !== 'rejected' && !isOwnLimit;
      const fingerprint = this.#request.fingerprint?.();
      lease.release(isHeld ? { kind: 'failure', failure, fingerprint } : { kind: 'neutral' });
      return false;
    }
    const suspect = this.#suspect;
    if (suspect === undefined) {
      this.#suspect = { lease, failure };
      return false;
    }
    // One request holds a refusal against one account alone.
    const isOfRequest = mayBeOfRequest(kind) && isSameRefusal(suspect, { lease, failure });
    const end = { kind: isOfRequest && isAccountDoubt(kind) ? 'doubted' : 'neutral' } as const;
    lease.release(end);
    if (isOfRequest) this.#endSuspicion(end);
    return isOfRequest;
  }

  /** `held`: the first refusal counts against its account; else how its account is given back. */
  #endSuspicion(end: 'held' | { readonly kind: 'neutral' | 'doubted' }): void {
    const suspect = this.#suspect;
    if (suspect === undefined) return;
    this.#suspect = undefined;
    const { lease, failure } = suspect;
    lease.release(end === 'held' ? { kind: 'failure', failure } : end);
  }

  #decide(
    { kind }: UpstreamFailure,
    lease: Lease,
    changes: ReadonlySet<SameAccountChange>,
  ): NextStep {
    const { repeats } = this.#request;
    try {
      return decideRetry(kind, {
        attempts: this.#attempts,
        limits: this.#limits,
        elapsedMs: this.#dependencies.clock.monotonic() - this.#startedAt,
        refusals: this.#refusals,
        pathFaults: this.#pathFaults,
        changes,
        alters: (change) => repeats?.(lease, planOf(new Set([...changes, change]))) !== true,
        canRefresh: lease.canRefresh,
        hasRetryBudget: this.#dependencies.budget.hasRoom(),
      });
    } catch (error) {
      lease.release({ kind: 'neutral' });
      this.#endSuspicion({ kind: 'neutral' });
      throw error;
    }
  }

  /** Trouble of several accounts is told as the pool's: with its soonest recovery, and without their names. */
  #finalError(error: unknown, { kind }: UpstreamFailure): unknown {
    if (!(error instanceof GatewayError)) return error;
    if (!isAccountTrouble(kind)) return this.#withRest(error);
    const rest = this.#lookAhead(new Set([...this.#spent, ...this.#faulted]));
    if (rest.kind === 'none') return exhaustedError(rest, error);
    // Accounts are left that this request may not try any more; the next one may.
    const { retryAfterMs } = rest;
    const reason = isLimit(kind) ? 'limited' : 'unusable';
    return exhaustedError({ kind: 'none', reason, retryAfterMs, selectionLog: [] }, error);
  }

  /** An overload tells when the next request finds the upstream asked again, whatever was said before. */
  #withRest(error: GatewayError): GatewayError {
    if (error.failure?.kind !== 'overloaded') return error;
    const { retryAfterMs } = this.#lookAhead(new Set());
    return retryAfterMs === undefined ? error : withRetryAfter(error, retryAfterMs);
  }

  /** What a request would find now, but for the accounts it is not to try. */
  #lookAhead(
    exclude: ReadonlySet<string>,
  ): NothingLeft | { readonly kind: 'soon'; readonly retryAfterMs: number } {
    const { leaseRequest } = this.#request;
    const rest = this.#dependencies.pool.lease({ ...leaseRequest, exclude, isDryRun: true });
    if (rest.kind === 'none') return rest;
    if (rest.kind === 'lease') rest.lease.release({ kind: 'neutral' });
    return { kind: 'soon', retryAfterMs: rest.kind === 'wait' ? rest.waitMs : NEXT_REQUEST_MS };
  }

  /** A fault of the path says more of the whole than the limit of one account. */
  #remember(error: unknown, failure: UpstreamFailure): void {
    const known = this.#lastError?.failure?.kind;
    const keepsKnown = known !== undefined && isPathFault(known) && !isPathFault(failure.kind);
    if (error instanceof GatewayError && !keepsKnown) this.#lastError = error;
  }

  #note(lease: Lease, end: Pick<AttemptRecord, 'outcome' | 'status' | 'detail'>): void {
    const { record, upstreamCall } = this.#request;
    record.attempts.push({
      accountId: lease.account.id,
      accountLabel: lease.account.label,
      modelId: lease.modelId,
      upstreamCall,
      considered: lease.selectionLog,
      ...end,
      startedAt: this.#attemptStartedAt,
      durationMs: this.#dependencies.clock.monotonic() - this.#attemptStartedAt,
    });
  }

  #between([from, to]: readonly [number, number]): number {
    return from + this.#dependencies.random() * (to - from);
  }

  async #sleep(delayMs: number): Promise<void> {
    const { signal } = this.#request;
    await this.#dependencies.clock.sleep(delayMs, signal).catch(() => {
      this.#endSuspicion({ kind: 'neutral' });
      throw abortError(signal);
    });
  }
}

function isSameRefusal(one: Suspect, other: Suspect): boolean {
  return (
    one.lease.account.upstreamId === other.lease.account.upstreamId &&
    one.failure.kind === other.failure.kind &&
    one.failure.status === other.failure.status &&
    one.failure.reason === other.failure.reason
  );
}

/** The upstream's own words, else ours with what lies behind them: `connect ECONNREFUSED …`. */
function describeFault({ failure, message, cause }: GatewayError): string {
  if (failure?.detail !== undefined) return failure.detail;
  const behind = cause instanceof Error ? cause.message : '';
  return behind === '' ? message : `${message} (${behind})`;
}

export interface AttemptPlan extends SignaturePlan {
  readonly refreshCredential: boolean;
  readonly freshConnection: boolean;
}

/** How an attempt differs from the first one on its account. */
export function planOf(changes: ReadonlySet<SameAccountChange>): AttemptPlan {
  return {
    signatures: signaturesOf(changes),
    usesPlaceholders: changes.has('add-stand-ins') && !changes.has('reissue-calls'),
    refreshCredential: changes.has('refresh-credential'),
    freshConnection: changes.has('fresh-connection'),
  };
}

function signaturesOf(changes: ReadonlySet<SameAccountChange>): AttemptPlan['signatures'] {
  if (changes.has('reissue-calls')) return 'reissued';
  if (changes.has('strip-signatures')) return 'stripped';
  return changes.has('replace-signatures') ? 'remembered' : 'carried';
}

/** The edge may abort with an error of its own (a time limit); otherwise the client left. */
export function abortError(signal: AbortSignal): GatewayError {
  if (signal.reason instanceof GatewayError) return signal.reason;
  return new GatewayError({
    kind: 'client-gone',
    source: 'client',
    message: told`The client closed the connection.`,
  });
}

export type RetryBudget = ReturnType<typeof createRetryBudget>;

const WINDOW_MS = 10_000;
const SHARE = 0.2;
const FLOOR = 10;

/**
 * Retries that did not help, and those under way, may be 20 % of the requests of the last ten to twenty
 * seconds, and at least ten.
 */
export function createRetryBudget(clock: Pick<Clock, 'monotonic'>) {
  let current = { start: clock.monotonic(), requests: 0, retries: 0 };
  let previous = { requests: 0, retries: 0 };
  const roll = (): void => {
    const elapsed = clock.monotonic() - current.start;
    if (elapsed < WINDOW_MS) return;
    previous = elapsed < 2 * WINDOW_MS ? current : { requests: 0, retries: 0 };
    current = { start: clock.monotonic(), requests: 0, retries: 0 };
  };
  const hasRoom = (): boolean => {
    roll();
    const requests = current.requests + previous.requests;
    return current.retries + previous.retries < Math.max(FLOOR, requests * SHARE);
  };
  return {
    /** Counts a request that starts. */
    noteRequest(): void {
      roll();
      current.requests += 1;
    },
    /** True when another path retry is allowed now. */
    hasRoom,
    /** Counts a retry that is made, also one there was room for when it was decided and no more. */
    take(): void {
      roll();
      current.retries += 1;
    },
    /** A retry that succeeded is no part of an outage, and makes room for another. */
    giveBack(): void {
      roll();
      if (current.retries > 0) current.retries -= 1;
      else if (previous.retries > 0) previous.retries -= 1;
    },
  };
}
