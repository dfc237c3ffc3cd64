// The attempt loop: leases an account, tries, and follows the retry table until one attempt commits.

import {
  asGatewayError,
  GatewayError,
  type UpstreamFailure,
  withRetryAfter,
} from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import type { Lease, LeaseRequest, LeaseResult, Pool } from '../pool/pool.ts';
import { abortError } from './abort-error.ts';
import { type AttemptPlan, planOf } from './attempt-plan.ts';
import type { AttemptRecord, CallRecord } from './dispatcher.ts';
import { exhaustedError } from './exhausted.ts';
import {
  decideRetry,
  isAccountTrouble,
  isLimit,
  isPathFault,
  type NextStep,
  type SameAccountChange,
} from './retry.ts';
import type { RetryBudget } from './retry-budget.ts';

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
  attempt: (lease: Lease, plan: AttemptPlan) => Promise<Result>,
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

class AttemptRun {
  readonly #request: AttemptRequest;
  readonly #dependencies: AttemptDependencies;
  readonly #tried = new Set<string>();
  #accountFaults = 0;
  #pathFaults = 0;
  #lastError: GatewayError | undefined;
  #attemptStartedAt = 0;
  /** For the account of its session, before all attempts so far. */
  #waitedMs = 0;
  #pause: 'none' | 'jitter' | 'overload' = 'none';
  /** The account that met the first fault of the path; null once it was asked again. */
  #secondChance: string | undefined | null;

  constructor(request: AttemptRequest, dependencies: AttemptDependencies) {
    this.#request = request;
    this.#dependencies = dependencies;
  }

  async nextLease(): Promise<Lease> {
    if (this.#pause === 'jitter') await this.#sleep(this.#jitterMs());
    let result = this.#lease();
    if (result.kind === 'wait') result = await this.#waitForAccount(result.waitMs);
    if (result.kind === 'none' && this.#pause === 'overload' && result.reason === 'overloaded') {
      await this.#sleep((result.retryAfterMs ?? 0) + this.#jitterMs());
      result = this.#lease();
    }
    if (result.kind === 'wait') result = await this.#waitForAccount(result.waitMs);
    if (result.kind === 'none') result = this.#leaseAgain(result);
    if (result.kind === 'none') {
      this.#request.record.passedOver = result.considered;
      throw this.#withRest(exhaustedError(result, this.#lastError));
    }
    this.#tried.add(result.lease.account.id);
    return result.lease;
  }

  async tryOn<Result>(
    lease: Lease,
    attempt: (lease: Lease, plan: AttemptPlan) => Promise<Result>,
  ): Promise<TryResult<Result>> {
    const changes = new Set<SameAccountChange>();
    for (;;) {
      this.#attemptStartedAt = this.#dependencies.clock.monotonic();
      try {
        const value = await attempt(lease, planOf(changes));
        this.#note(lease, { outcome: 'ok', status: 200 });
        return { kind: 'done', value };
      } catch (error) {
        const failure = this.#failureOf(error, lease);
        const change = this.#follow(error, { failure, lease, changes });
        if (change === undefined) return { kind: 'again' };
        changes.add(change);
      }
    }
  }

  /** Most faults of the path pass at once: the account is asked again, once, when no other is left to ask. */
  #leaseAgain(nothing: NothingLeft): Exclude<LeaseResult, { kind: 'wait' }> {
    const accountId = this.#secondChance;
    if (accountId === undefined || accountId === null) return nothing;
    this.#secondChance = null;
    this.#tried.delete(accountId);
    const result = this.#lease();
    return result.kind === 'lease' ? result : nothing;
  }

  #lease(): LeaseResult {
    const { leaseRequest } = this.#request;
    const { pool } = this.#dependencies;
    return pool.lease({ ...leaseRequest, exclude: this.#tried, waitedMs: this.#waitedMs });
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
    if (counts && isPathFault(failure.kind)) this.#pathFaults += 1;
    else if (counts) this.#accountFaults += 1;
    const step = this.#decide(failure, lease, changes);
    if (step.kind === 'same-account') {
      // Another try on the same account is no other account: the limit is of accounts.
      if (counts && !isPathFault(failure.kind)) this.#accountFaults -= 1;
      return step.change;
    }
    // What one request meets twice on one account is held against it once.
    const isRepeated = this.#secondChance === null && isPathFault(failure.kind);
    const isOwnLimit = this.#request.hasOwnLimits === true && isLimit(failure.kind);
    const isHeld = failure.kind !== 'rejected' && !isRepeated && !isOwnLimit;
    lease.release(isHeld ? { kind: 'failure', failure } : { kind: 'neutral' });
    if (step.kind === 'stop') throw this.#finalError(error, failure);
    if (step.pause !== 'none') this.#dependencies.budget.take();
    // An overload is the upstream's, so the account may serve the next attempt itself.
    if (step.pause === 'overload') this.#tried.delete(lease.account.id);
    else if (step.pause === 'jitter' && this.#secondChance === undefined) {
      this.#secondChance = lease.account.id;
    }
    this.#remember(error, failure);
    this.#pause = step.pause;
    return undefined;
  }

  #decide(
    { kind }: UpstreamFailure,
    lease: Lease,
    changes: ReadonlySet<SameAccountChange>,
  ): NextStep {
    const { repeats } = this.#request;
    try {
      return decideRetry(kind, {
        accountFaults: this.#accountFaults,
        pathFaults: this.#pathFaults,
        changes,
        alters: (change) => repeats?.(lease, planOf(new Set([...changes, change]))) !== true,
        canRefresh: lease.canRefresh,
        hasRetryBudget: this.#dependencies.budget.hasRoom(),
      });
    } catch (error) {
      lease.release({ kind: 'neutral' });
      throw error;
    }
  }

  /** Trouble of several accounts is told as the pool's: with its soonest recovery, and without their names. */
  #finalError(error: unknown, { kind }: UpstreamFailure): unknown {
    if (!(error instanceof GatewayError)) return error;
    if (!isAccountTrouble(kind)) return this.#withRest(error);
    const rest = this.#lookAhead(this.#tried);
    if (rest.kind === 'none') return exhaustedError(rest, error);
    // Accounts are left that this request may not try any more; the next one may.
    const { retryAfterMs } = rest;
    const reason = isLimit(kind) ? 'limited' : 'unusable';
    return exhaustedError({ kind: 'none', reason, retryAfterMs, considered: [] }, error);
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
      considered: lease.considered,
      ...end,
      startedAt: this.#attemptStartedAt,
      durationMs: this.#dependencies.clock.monotonic() - this.#attemptStartedAt,
    });
  }

  #jitterMs(): number {
    return 100 + this.#dependencies.random() * 300;
  }

  async #sleep(delayMs: number): Promise<void> {
    const { signal } = this.#request;
    await this.#dependencies.clock.sleep(delayMs, signal).catch(() => {
      throw abortError(signal);
    });
  }
}

/** The upstream's own words, else ours with what lies behind them: `connect ECONNREFUSED …`. */
function describeFault({ failure, message, cause }: GatewayError): string {
  if (failure?.detail !== undefined) return failure.detail;
  const behind = cause instanceof Error ? cause.message : '';
  return behind === '' ? message : `${message} (${behind})`;
}
