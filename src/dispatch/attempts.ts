// The attempt loop: leases an account, tries, and follows the retry table until one attempt commits.

import type { AttemptRecord, FallbackReason } from '../canonical/call-record.ts';
import { asGatewayError, changed, clientGone, GatewayError } from '../canonical/error.ts';
import { explainFailure, type UpstreamFailure } from '../canonical/failure.ts';
import { asSentence } from '../lib/localized-message.ts';
import type { Lease } from '../pool/pool.ts';
import { type RoutedModel, targetName } from '../routing/router.ts';
import {
  type AccountSearch,
  exhaustedError,
  leaseAgain,
  leaseInTurn,
  leaveUpstream,
  lookAhead,
  moreHopeful,
  NOT_SEARCHED,
  type NothingLeft,
  type SearchTools,
  sleepBetween,
} from './account-search.ts';
import { type AttemptPlan, FIRST_PLAN, planOf } from './attempt-plan.ts';
import { peek, type RoutedCall, RoutesInTurn } from './call-setup.ts';
import type { CallContext } from './dispatcher.ts';
import type { CallBodies } from './prepare.ts';
import {
  decideRetry,
  isAccountTrouble,
  isLimit,
  isPathFault,
  isRefusal,
  isTooLong,
  MAX_ATTEMPTS,
  type NextStep,
  type SameAccountChange,
  whyFallBack,
} from './retry.ts';
import type { RetryBudget, RetryBudgets } from './retry-budget.ts';
import { Suspicion } from './suspicion.ts';

export interface AttemptDependencies extends SearchTools {
  readonly budgetOf: RetryBudgets;
}

interface AttemptRequest {
  readonly routes: RoutedCall;
  readonly context: Pick<CallContext, 'signal' | 'record' | 'upstreamCall'>;
  /** True for calls that the upstream limits apart from answers: what they meet rests no account. */
  readonly hasOwnLimits?: boolean;
  /** What attempts send; absent where none sends again what another one sent. */
  readonly bodies?: Pick<CallBodies, 'repeats' | 'fingerprint'> | undefined;
}

/** What an attempt is told beside the account it is made on. */
export interface AttemptFacts {
  readonly plan: AttemptPlan;
  readonly route: RoutedModel;
  /** True while another account could be asked in place of this one. */
  readonly hasOther: () => boolean;
  /** The same of an account that has the same model. */
  readonly hasSibling: () => boolean;
  /** True where another model goes first, now that what this one lacks is known. */
  readonly isOutdone: () => boolean;
}

type Attempt<Result> = (lease: Lease, facts: AttemptFacts) => Promise<Result>;

/** The attempts of one request, or of one part of it. */
export class AttemptRun {
  readonly #request: AttemptRequest;
  readonly #dependencies: AttemptDependencies;
  readonly #client: string;
  readonly #routes: RoutesInTurn;
  #search: AccountSearch;
  /** The most hopeful of what was left of the routes that were given up. */
  #nothing: NothingLeft | undefined;
  /** What was changed for another try on the same account. */
  #changes: Set<SameAccountChange> | undefined;
  #attempts = 0;
  /** Of the failures on this route. */
  #counts = NO_FAILURES;
  /** Connections that were closed before any byte came back. */
  #lostConnections = 0;
  #lastError: GatewayError | undefined;
  /** When the first account was at its limit. */
  #limitedAt: number | undefined;
  #suspicion: Suspicion | undefined;
  #attemptStartedAt = 0;
  #pause: 'none' | 'jitter' = 'none';
  /** Of the models that were asked. */
  readonly #budgets: RetryBudget[] = [];
  /** What the attempt that is made now was taken from as a retry. */
  #takenFrom: RetryBudget | undefined;

  constructor(request: AttemptRequest, dependencies: AttemptDependencies) {
    this.#request = request;
    this.#routes = new RoutesInTurn(request.routes);
    const { choice } = this.#routes;
    this.#search = { ...NOT_SEARCHED, choice };
    this.#client = choice.leaseRequest.clientKeyId;
    this.#dependencies = dependencies;
  }

  /**
   * Runs `attempt` until it resolves. The lease of the attempt that resolved stays open: its owner
   * releases it. Every other lease is released here.
   * @throws GatewayError of the last attempt, or the reason why no account was left.
   */
  async run<Result>(attempt: Attempt<Result>): Promise<Result> {
    const { signal } = this.#request.context;
    const { pool, clock, budgetOf } = this.#dependencies;
    try {
      for (;;) {
        const lease = await this.#nextLease();
        const budget = budgetOf(`${lease.upstream.id} ${lease.modelId}`);
        // A request counts once for each model it asks.
        if (!this.#budgets.includes(budget)) {
          this.#budgets.push(budget);
          budget.noteRequest(this.#client);
        }
        // No other kept connection is trusted any more.
        this.#changes = this.#lostConnections > 0 ? new Set(['fresh-connection']) : undefined;
        for (let isSame = true; isSame; ) {
          this.#attemptStartedAt = clock.monotonic();
          this.#attempts += 1;
          const plan = this.#changes === undefined ? FIRST_PLAN : planOf(this.#changes);
          const { route } = this.#search.choice;
          try {
            const value = await attempt(lease, {
              plan,
              route,
              hasOther: () => this.#hasOther(lease),
              hasSibling: () => this.#hasSibling(lease),
              isOutdone: () => this.#isOutdone(lease),
            });
            this.#note(lease, { outcome: 'ok', status: 200 });
            lease.noteAnswer();
            this.#takenFrom?.giveBack(this.#client);
            // Another account does what the first one refused: that was its own fault.
            this.#suspicion?.end('held');
            // The client may ask another process next.
            if (this.#attempts > 1) await pool.heard();
            return value;
          } catch (error) {
            isSame = this.#follow(error, lease, budget);
          }
        }
      }
    } catch (error) {
      if (signal.aborted) throw abortError(signal);
      await pool.heard();
      throw error;
    } finally {
      this.#suspicion?.end('neutral');
    }
  }

  async #nextLease(): Promise<Lease> {
    const [search, routes, tools] = [this.#search, this.#routes, this.#dependencies];
    const { signal, record } = this.#request.context;
    if (this.#pause === 'jitter' && this.#hasOther()) {
      await sleepBetween([100, 400], tools, signal);
    }
    this.#pause = 'none';
    const hasLater = routes.later.length > 0;
    const outdone = hasLater
      ? routes.whyOutdone(tools.pool, search.tried !== undefined)
      : undefined;
    if (outdone !== undefined) {
      this.#askAgainLater();
      this.#fallBack(outdone);
      return this.#nextLease();
    }
    let result = await leaseInTurn(search, tools, signal);
    if (result.kind === 'none' && hasLater) {
      this.#nothing = moreHopeful(this.#nothing, this.#hopeOf(result));
      const tried = [...(search.tried?.values() ?? [])];
      if (tried.includes('faulted')) this.#askAgainLater();
      // The retry it was taken for is none of this model.
      this.#takenFrom?.giveBack(this.#client);
      this.#fallBack(result.reason);
      return this.#nextLease();
    }
    if (result.kind === 'none') result = await leaseAgain(search, result, tools, signal);
    if (result.kind === 'lease') return result.lease;
    this.#suspicion?.end('held');
    record.passedOver = result.selectionLog;
    const nothing = moreHopeful(this.#nothing, this.#hopeOf(result));
    throw this.#withRest(exhaustedError(nothing, search.choice, this.#lastError));
  }

  /** Accounts that were asked and do not know the model are as good as those that never offered it. */
  #hopeOf(nothing: NothingLeft): NothingLeft {
    const isUnknown =
      nothing.reason === 'all-tried' && this.#lastError?.failure?.kind === 'model-not-found';
    return isUnknown ? { ...nothing, reason: 'not-offered' } : nothing;
  }

  /** Goes on with the next route, whose accounts have refused nothing yet. */
  #fallBack(reason: FallbackReason): void {
    const { record, upstreamCall } = this.#request.context;
    const { choice } = this.#search;
    this.#suspicion?.end('held');
    const next = this.#routes.goOn();
    record.routedModel = next.route.target;
    record.fallbacks ??= [];
    record.fallbacks.push({
      ...{ from: targetName(choice.route), to: targetName(next.route), reason, upstreamCall },
      afterAttempts: this.#attempts,
    });
    this.#search = { ...NOT_SEARCHED, choice: next };
    this.#counts = NO_FAILURES;
    this.#pause = this.#routes.isAgain ? 'jitter' : 'none';
    this.#takenFrom = undefined;
  }

  #askAgainLater(): void {
    if (this.#attempts < MAX_ATTEMPTS) this.#routes.askAgainLater();
  }

  /** True while an account is left that this request has not tried. */
  #hasOther(current?: Lease): boolean {
    const { pool } = this.#dependencies;
    return (
      this.#hasSibling(current) ||
      this.#routes.later.some((route) => lookAhead(route, new Set(), pool).kind !== 'none')
    );
  }

  /** True where the choice is another now, of this model or of a later one. */
  #isOutdone({ account: { upstreamId }, modelId }: Lease): boolean {
    const { pool } = this.#dependencies;
    if (this.#routes.whyOutdone(pool, true) === 'loses-more') return true;
    const best = peek(this.#search.choice, pool, this.#triedHere());
    return (
      best !== undefined && (best.account.upstreamId !== upstreamId || best.modelId !== modelId)
    );
  }

  #hasSibling(current?: Lease): boolean {
    const tried = this.#triedHere();
    if (current !== undefined) tried.add(current.account.id);
    return lookAhead(this.#search.choice, tried, this.#dependencies.pool).kind !== 'none';
  }

  #triedHere(): Set<string> {
    return new Set(this.#search.tried?.keys());
  }

  /** The upstream failure an attempt ended in; anything else ends the whole request. */
  #failureOf(error: unknown, lease: Lease): UpstreamFailure {
    const { signal } = this.#request.context;
    if (!signal.aborted && error instanceof GatewayError && error.failure !== undefined) {
      const failure = explainFailure(error.failure, error);
      const { kind, status, detail } = failure;
      this.#note(lease, { outcome: kind, status, detail: asSentence(detail) });
      return failure;
    }
    lease.release({ kind: 'neutral' });
    const ending = signal.aborted ? abortError(signal) : asGatewayError(error);
    this.#note(lease, { outcome: ending.kind });
    throw error;
  }

  /** True where the same account is tried again, with one more change. */
  #follow(error: unknown, lease: Lease, budget: RetryBudget): boolean {
    const failure = this.#failureOf(error, lease);
    const isLost = failure.kind === 'connection-lost';
    if (isLost) this.#lostConnections += 1;
    const counts = !isLost || this.#lostConnections > 1;
    // Lost again on a fresh connection it was no accident of a kept one, and the repeat a retry like others.
    if (isLost && this.#lostConnections === 2) budget.take(this.#client);
    const before = this.#counts;
    if (counts) this.#counts = countedWith(before, failure);
    const step = this.#decide(failure, lease, budget);
    if (step.kind === 'same-account') {
      // Another try on the same account is no other account: the limit is of accounts.
      if (!isPathFault(failure.kind)) this.#counts = before;
      this.#changes ??= new Set();
      this.#changes.add(step.change);
      return true;
    }
    const isOfRequest = this.#settle(lease, failure);
    if (isOfRequest || step.kind === 'stop') {
      this.#goElsewhere(error, failure, lease);
      return false;
    }
    this.#takenFrom = step.mayRepeat ? budget : undefined;
    this.#takenFrom?.take(this.#client);
    if (failure.kind === 'lacking') return false;
    this.#search.tried ??= new Map();
    const mayRepeat = step.mayRepeat && failure.isTriedOut !== true;
    this.#search.tried.set(lease.account.id, mayRepeat ? 'faulted' : 'spent');
    this.#remember(error, failure);
    this.#pause = step.pause;
    return false;
  }

  /** @throws the error where nobody else may do what was refused here */
  #goElsewhere(error: unknown, failure: UpstreamFailure, lease: Lease): void {
    const isElsewhere = isTooLong(error) && leaveUpstream(this.#search, lease, this.#dependencies);
    const hasLater = this.#routes.later.length > 0;
    const reason = isElsewhere || !hasLater ? undefined : whyFallBack(error, failure);
    if (!isElsewhere && reason === undefined) {
      this.#suspicion?.end('held');
      throw this.#finalError(error, failure);
    }
    this.#remember(error, failure);
    if (reason !== undefined) this.#fallBack(reason);
  }

  /** Gives the account back. True when the refusal is the request's own. */
  #settle(lease: Lease, failure: UpstreamFailure): boolean {
    const { kind, isOversized = false } = failure;
    if (isRefusal(kind)) {
      this.#suspicion ??= new Suspicion();
      return this.#suspicion.add(lease, failure);
    }
    const { hasOwnLimits = false, bodies } = this.#request;
    const isOfRequest = kind === 'rejected' || kind === 'lacking' || isOversized;
    const isHeld = !isOfRequest && !(hasOwnLimits && isLimit(kind));
    const fingerprint = hasOwnLimits ? undefined : bodies?.fingerprint();
    lease.release(isHeld ? { kind: 'failure', failure, fingerprint } : { kind: 'neutral' });
    // Others learn of it while the next account is asked.
    void this.#dependencies.pool.heard();
    return false;
  }

  #decide({ kind }: UpstreamFailure, lease: Lease, budget: RetryBudget): NextStep {
    const { bodies } = this.#request;
    const changes = this.#changes ?? new Set();
    const { route } = this.#search.choice;
    const now = this.#dependencies.clock.monotonic();
    if (isLimit(kind)) this.#limitedAt ??= now;
    try {
      return decideRetry(kind, {
        ...this.#counts,
        attempts: this.#attempts,
        limitedMs: now - (this.#limitedAt ?? now),
        changes,
        alters: (change) =>
          bodies?.repeats(lease, planOf(new Set([...changes, change])), route) !== true,
        canRefresh: lease.canRefresh,
        hasRetryBudget: budget.hasRoom(this.#client),
      });
    } catch (error) {
      lease.release({ kind: 'neutral' });
      throw error;
    }
  }

  /** Trouble of several accounts is told as the pool's: with its soonest recovery, and without their names. */
  #finalError(error: unknown, { kind }: UpstreamFailure): unknown {
    if (!(error instanceof GatewayError)) return error;
    const { choice } = this.#search;
    // The model of an earlier route has only to be waited for.
    if (kind === 'model-not-found' && this.#nothing !== undefined) {
      return exhaustedError(this.#nothing, choice, error);
    }
    if (!isAccountTrouble(kind)) return this.#withRest(error);
    const rest = lookAhead(choice, this.#triedHere(), this.#dependencies.pool);
    if (rest.kind === 'none') return exhaustedError(rest, choice, error);
    // Accounts are left that this request may not try any more; the next one may.
    const { retryAfterMs } = rest;
    const reason = isLimit(kind) ? 'limited' : 'unusable';
    return exhaustedError({ kind: 'none', reason, retryAfterMs, selectionLog: [] }, choice, error);
  }

  /** An overload tells when the next request finds the upstream asked again, whatever was said before. */
  #withRest(error: GatewayError): GatewayError {
    if (error.failure?.kind !== 'overloaded') return error;
    const { retryAfterMs } = lookAhead(this.#search.choice, new Set(), this.#dependencies.pool);
    return retryAfterMs === undefined ? error : changed(error, { retryAfterMs });
  }

  /** A fault of the path says more of the whole than the limit of one account. */
  #remember(error: unknown, failure: UpstreamFailure): void {
    const known = this.#lastError?.failure?.kind;
    const keepsKnown = known !== undefined && isPathFault(known) && !isPathFault(failure.kind);
    if (error instanceof GatewayError && !keepsKnown) this.#lastError = error;
  }

  #note(lease: Lease, end: Pick<AttemptRecord, 'outcome' | 'status' | 'detail'>): void {
    const { record, upstreamCall } = this.#request.context;
    record.attempts.push({
      accountId: lease.account.id,
      upstreamId: lease.account.upstreamId,
      accountLabel: lease.account.label,
      modelId: lease.modelId,
      upstreamCall,
      considered: lease.selectionLog,
      ...end,
      startedAt: this.#attemptStartedAt,
      durationMs: this.#dependencies.clock.monotonic() - this.#attemptStartedAt,
    });
  }
}

const NO_FAILURES = { limits: 0, refusals: 0, pathFaults: 0 };

function countedWith(counts: typeof NO_FAILURES, { kind }: UpstreamFailure): typeof NO_FAILURES {
  const ofAccount = isLimit(kind) ? 'limits' : 'refusals';
  const counted = isPathFault(kind) ? 'pathFaults' : ofAccount;
  return { ...counts, [counted]: counts[counted] + 1 };
}

/** The edge may abort with an error of its own (a time limit); otherwise the client left. */
export function abortError(signal: AbortSignal): GatewayError {
  return signal.reason instanceof GatewayError ? signal.reason : clientGone();
}
