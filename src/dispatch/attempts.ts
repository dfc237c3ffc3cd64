// The attempt loop: leases an account, tries, and follows the retry table until one attempt commits.

import type { AttemptRecord, FallbackReason } from '../canonical/call-record.ts';
import {
  asGatewayError,
  changed,
  explainFailure,
  GatewayError,
  type UpstreamFailure,
} from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { asSentence, type Sentence, told } from '../lib/localized-message.ts';
import { remember } from '../lib/once.ts';
import type { Pool } from '../pool/create-pool.ts';
import type { Lease, LeaseRequest, LeaseResult } from '../pool/pool.ts';
import { type RoutedModel, targetName } from '../routing/router.ts';
import type { SignaturePlan } from '../upstreams/upstream.ts';
import type { RouteChoice, RoutedCall } from './call-setup.ts';
import type { CallContext } from './dispatcher.ts';
import { exhaustedError, NEXT_REQUEST_MS, type NothingLeft } from './exhausted.ts';
import type { CallBodies } from './prepare.ts';
import {
  decideRetry,
  isAccountDoubt,
  isAccountTrouble,
  isLimit,
  isPathFault,
  isRefusal,
  MAX_ATTEMPTS,
  mayBeOfRequest,
  type NextStep,
  REPEAT_WAITS_MS,
  type SameAccountChange,
  whyFallBack,
} from './retry.ts';

export interface AttemptDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly random: () => number;
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
}

type Attempt<Result> = (lease: Lease, facts: AttemptFacts) => Promise<Result>;

type Place = NonNullable<LeaseRequest['admitted']>;
type LeaseOrNothing = Exclude<LeaseResult, { kind: 'wait' | 'busy' }>;

/** The first account that refused the request: whether that is its own fault, the next ones tell. */
interface Suspect {
  readonly lease: Lease;
  readonly failure: UpstreamFailure;
}

/** The attempts of one request, or of one part of it. */
export class AttemptRun {
  readonly #request: AttemptRequest;
  readonly #dependencies: AttemptDependencies;
  readonly #startedAt: number;
  readonly #client: string;
  /** In the order they are tried. */
  readonly #routes: RouteChoice[];
  /** Which of the routes is tried. */
  #place = 0;
  /** Of the routes those that come a second time. */
  #again: Set<RouteChoice> | undefined;
  #choice: RouteChoice;
  /** The most hopeful of what was left of the routes that were given up. */
  #nothing: NothingLeft | undefined;
  /**
   * Accounts that are not asked again, or only where no other is left, as they met a fault of the path or an
   * overload.
   */
  #tried: Map<string, 'spent' | 'faulted'> | undefined;
  /** What was changed for another try on the same account. */
  #changes: Set<SameAccountChange> | undefined;
  #attempts = 0;
  #limits = 0;
  #refusals = 0;
  #pathFaults = 0;
  #repeats = 0;
  /** Connections that were closed before any byte came back. */
  #lostConnections = 0;
  #lastError: GatewayError | undefined;
  #suspect: Suspect | undefined;
  #attemptStartedAt = 0;
  /** For the account of its session, before all attempts so far. */
  #waitedMs = 0;
  /** When it began to wait for a slot of the accounts of this route. */
  #queuedAt: number | undefined;
  #pause: 'none' | 'jitter' = 'none';
  /** Of the models that were asked. */
  readonly #budgets: RetryBudget[] = [];
  /** What the attempt that is made now was taken from as a retry. */
  #takenFrom: RetryBudget | undefined;

  constructor(request: AttemptRequest, dependencies: AttemptDependencies) {
    this.#request = request;
    const [first] = request.routes;
    this.#routes = [...request.routes];
    this.#choice = first;
    this.#client = first.leaseRequest.clientKeyId;
    this.#dependencies = dependencies;
    this.#startedAt = dependencies.clock.monotonic();
  }

  /**
   * Runs `attempt` until it resolves. The lease of the attempt that resolved stays open: its owner
   * releases it. Every other lease is released here.
   * @throws GatewayError of the last attempt, or the reason why no account was left.
   */
  async run<Result>(attempt: Attempt<Result>): Promise<Result> {
    const { clock, budgetOf } = this.#dependencies;
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
        try {
          const { route } = this.#choice;
          const value = await attempt(lease, {
            plan,
            route,
            hasOther: () => this.#hasOther(lease),
          });
          this.#note(lease, { outcome: 'ok', status: 200 });
          lease.noteAnswer();
          this.#takenFrom?.giveBack(this.#client);
          // Another account does what it refused: that was its own fault.
          if (this.#suspect !== undefined) this.#endSuspicion('held');
          return value;
        } catch (error) {
          isSame = this.#follow(error, lease, budget);
        }
      }
    }
  }

  async #nextLease(): Promise<Lease> {
    if (this.#pause === 'jitter' && this.#hasOther()) await this.#sleep([100, 400]);
    this.#pause = 'none';
    while (!this.#isLast && this.#tried === undefined && this.#isOutdone()) {
      this.#askAgainLater();
      this.#fallBack('fails-more');
    }
    let result = await this.#leaseInTurn();
    if (result.kind === 'none' && !this.#isLast) {
      this.#nothing = moreHopeful(this.#nothing, this.#hopeOf(result));
      if (this.#metFault) this.#askAgainLater();
      this.#fallBack(result.reason);
      return this.#nextLease();
    }
    if (result.kind === 'none') result = await this.#leaseAgain(result);
    if (result.kind === 'lease') return result.lease;
    this.#endSuspicion('held');
    this.#request.context.record.passedOver = result.selectionLog;
    const nothing = moreHopeful(this.#nothing, this.#hopeOf(result));
    throw this.#withRest(exhaustedError(nothing, this.#choice, this.#lastError));
  }

  /** Accounts that were asked and do not know the model are as good as those that never offered it. */
  #hopeOf(nothing: NothingLeft): NothingLeft {
    const isUnknown =
      nothing.reason === 'all-tried' && this.#lastError?.failure?.kind === 'model-not-found';
    return isUnknown ? { ...nothing, reason: 'not-offered' } : nothing;
  }

  get #isLast(): boolean {
    return this.#place + 1 >= this.#routes.length;
  }

  /** Goes on with the next route, whose accounts have refused nothing yet. */
  #fallBack(reason: FallbackReason): void {
    const { context } = this.#request;
    const from = targetName(this.#choice.route);
    this.#endSuspicion('held');
    this.#place += 1;
    this.#choice = this.#routes[this.#place] ?? this.#choice;
    const { route } = this.#choice;
    const { record, upstreamCall } = context;
    record.routedModel = route.target;
    record.fallbacks ??= [];
    record.fallbacks.push({
      ...{ from, to: targetName(route), reason, upstreamCall },
      afterAttempts: this.#attempts,
    });
    this.#tried = undefined;
    this.#repeats = 0;
    this.#limits = 0;
    this.#refusals = 0;
    this.#pathFaults = 0;
    this.#waitedMs = 0;
    this.#queuedAt = undefined;
    this.#pause = this.#again?.has(this.#choice) === true ? 'jitter' : 'none';
  }

  /** Behind the others, once: health takes no model away, and most faults of the path pass at once. */
  #askAgainLater(): void {
    if (this.#again?.has(this.#choice) === true || this.#attempts >= MAX_ATTEMPTS) return;
    this.#again ??= new Set();
    this.#again.add(this.#choice);
    this.#routes.push(this.#choice);
  }

  /** True where an account of this route met a fault of the path, and another try is within the budget. */
  get #metFault(): boolean {
    return [...(this.#tried?.values() ?? [])].includes('faulted');
  }

  /** True where the model of this route fails more often than not, and that of a later one does better. */
  #isOutdone(): boolean {
    if (this.#again?.has(this.#choice) === true) return false;
    const rivals = this.#routes
      .slice(this.#place)
      .filter(({ isLastResort }) => isLastResort !== true);
    const bands = rivals.map(({ leaseRequest }) => {
      const look = this.#dependencies.pool.lease({ ...leaseRequest, isDryRun: true });
      if (look.kind === 'lease') look.lease.release({ kind: 'neutral' });
      return look.kind === 'lease' ? look.lease.band() : undefined;
    });
    const [own, ...later] = bands;
    return own === 2 && later.some((band) => band !== undefined && band < 2);
  }

  /** True while an account is left that this request has not tried. */
  #hasOther(current?: Lease): boolean {
    const tried = new Set(this.#tried?.keys());
    if (current !== undefined) tried.add(current.account.id);
    const later = this.#routes.slice(this.#place + 1);
    return (
      this.#lookAhead(tried).kind !== 'none' ||
      later.some((choice) => this.#lookAhead(new Set(), choice).kind !== 'none')
    );
  }

  /** Most faults of the path pass at once: where no other account is left, those that met one are asked again. */
  async #leaseAgain(nothing: NothingLeft): Promise<LeaseOrNothing> {
    const wait = REPEAT_WAITS_MS[this.#repeats];
    const tried = this.#tried ?? new Map();
    const faulted = [...tried].filter(([, how]) => how === 'faulted');
    if (faulted.length === 0 || wait === undefined) return nothing;
    this.#repeats += 1;
    await this.#sleep(wait);
    for (const [id] of faulted) tried.delete(id);
    const result = await this.#leaseInTurn();
    return result.kind === 'none' && result.reason === 'all-tried' ? nothing : result;
  }

  /** Waits for the session's account, and for a slot; the pool itself bounds how long in all. */
  async #leaseInTurn(): Promise<LeaseOrNothing> {
    const { pool } = this.#dependencies;
    const { leaseRequest } = this.#choice;
    let admitted: Place | undefined;
    for (;;) {
      const isFirst = this.#tried === undefined && this.#waitedMs === 0 && admitted === undefined;
      const result = pool.lease(
        isFirst
          ? leaseRequest
          : {
              ...{ ...leaseRequest, waitedMs: this.#waitedMs, admitted },
              exclude: new Set(this.#tried?.keys()),
            },
      );
      admitted = undefined;
      if (result.kind === 'wait') {
        const { waitMs } = result;
        await this.#sleep([waitMs, waitMs]);
        this.#waitedMs += waitMs;
      } else if (result.kind === 'busy') {
        admitted = await this.#waitForSlot(result.places);
        if (admitted === undefined) {
          return { kind: 'none', reason: 'busy', selectionLog: result.selectionLog };
        }
      } else return result;
    }
  }

  /** Undefined where none becomes free in time. */
  async #waitForSlot(places: readonly Place[]): Promise<Place | undefined> {
    const { pool, clock } = this.#dependencies;
    const { signal } = this.#request.context;
    const { clientKeyId } = this.#choice.leaseRequest;
    this.#queuedAt ??= clock.monotonic();
    try {
      return await pool.slots.wait(places, { clientKeyId, since: this.#queuedAt, signal });
    } catch (error) {
      this.#endSuspicion({ kind: 'neutral' });
      throw signal.aborted ? abortError(signal) : error;
    }
  }

  /** The upstream failure an attempt ended in; anything else ends the whole request. */
  #failureOf(error: unknown, lease: Lease): UpstreamFailure {
    const { signal } = this.#request.context;
    if (!signal.aborted && error instanceof GatewayError && error.failure !== undefined) {
      const { kind, status } = error.failure;
      this.#note(lease, { outcome: kind, status, detail: describeFault(error) });
      return explainFailure(error.failure, error);
    }
    lease.release({ kind: 'neutral' });
    this.#endSuspicion({ kind: 'neutral' });
    const ending = signal.aborted ? abortError(signal) : asGatewayError(error);
    this.#note(lease, { outcome: ending.kind });
    throw signal.aborted ? ending : error;
  }

  /** True where the same account is tried again, with one more change. */
  #follow(error: unknown, lease: Lease, budget: RetryBudget): boolean {
    const failure = this.#failureOf(error, lease);
    const isLost = failure.kind === 'connection-lost';
    if (isLost) this.#lostConnections += 1;
    const counts = !isLost || this.#lostConnections > 1;
    // Lost again on a fresh connection it was no accident of a kept one, and the repeat a retry like others.
    if (isLost && this.#lostConnections === 2) budget.take(this.#client);
    if (counts) this.#count(failure, 1);
    const step = this.#decide(failure, lease, budget);
    if (step.kind === 'same-account') {
      // Another try on the same account is no other account: the limit is of accounts.
      if (counts && !isPathFault(failure.kind)) this.#count(failure, -1);
      this.#changes ??= new Set();
      this.#changes.add(step.change);
      return true;
    }
    const isOfRequest = this.#settle(lease, failure);
    if (isOfRequest || step.kind === 'stop') {
      const reason = this.#isLast ? undefined : whyFallBack(error, failure);
      if (reason !== undefined) {
        this.#remember(error, failure);
        this.#fallBack(reason);
        return false;
      }
      this.#endSuspicion('held');
      throw this.#finalError(error, failure);
    }
    this.#takenFrom = step.mayRepeat ? budget : undefined;
    this.#takenFrom?.take(this.#client);
    this.#tried ??= new Map();
    this.#tried.set(lease.account.id, step.mayRepeat ? 'faulted' : 'spent');
    this.#remember(error, failure);
    this.#pause = step.pause;
    return false;
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
      const { hasOwnLimits = false, bodies } = this.#request;
      const isHeld = kind !== 'rejected' && !(hasOwnLimits && isLimit(kind));
      const fingerprint = hasOwnLimits ? undefined : bodies?.fingerprint();
      lease.release(isHeld ? { kind: 'failure', failure, fingerprint } : { kind: 'neutral' });
      return false;
    }
    const suspect = this.#suspect;
    if (suspect === undefined) {
      this.#suspect = { lease, failure };
      return false;
    }
    // One request holds a refusal against one account alone.
    const isSame =
      suspect.lease.account.upstreamId === lease.account.upstreamId &&
      suspect.failure.kind === kind &&
      suspect.failure.status === failure.status &&
      suspect.failure.reason === failure.reason;
    const isOfRequest = mayBeOfRequest(kind) && isSame;
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

  #decide({ kind }: UpstreamFailure, lease: Lease, budget: RetryBudget): NextStep {
    const { clock } = this.#dependencies;
    const { bodies } = this.#request;
    const changes = this.#changes ?? new Set();
    try {
      return decideRetry(kind, {
        attempts: this.#attempts,
        limits: this.#limits,
        elapsedMs: clock.monotonic() - this.#startedAt,
        refusals: this.#refusals,
        pathFaults: this.#pathFaults,
        changes,
        alters: (change) =>
          bodies?.repeats(lease, planOf(new Set([...changes, change])), this.#choice.route) !==
          true,
        canRefresh: lease.canRefresh,
        hasRetryBudget: budget.hasRoom(this.#client),
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
    // The model of an earlier route has only to be waited for.
    if (kind === 'model-not-found' && this.#nothing !== undefined) {
      return exhaustedError(this.#nothing, this.#choice, error);
    }
    if (!isAccountTrouble(kind)) return this.#withRest(error);
    const rest = this.#lookAhead(new Set(this.#tried?.keys()));
    if (rest.kind === 'none') return exhaustedError(rest, this.#choice, error);
    // Accounts are left that this request may not try any more; the next one may.
    const { retryAfterMs } = rest;
    const reason = isLimit(kind) ? 'limited' : 'unusable';
    return exhaustedError(
      { kind: 'none', reason, retryAfterMs, selectionLog: [] },
      this.#choice,
      error,
    );
  }

  /** An overload tells when the next request finds the upstream asked again, whatever was said before. */
  #withRest(error: GatewayError): GatewayError {
    if (error.failure?.kind !== 'overloaded') return error;
    const { retryAfterMs } = this.#lookAhead(new Set());
    return retryAfterMs === undefined ? error : changed(error, { retryAfterMs });
  }

  /** What a request would find now, but for the accounts it is not to try. */
  #lookAhead(
    exclude: ReadonlySet<string>,
    { leaseRequest }: RouteChoice = this.#choice,
  ): NothingLeft | { readonly kind: 'soon'; readonly retryAfterMs: number } {
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

  async #sleep([from, to]: readonly [number, number]): Promise<void> {
    const { clock, random } = this.#dependencies;
    const { signal } = this.#request.context;
    const delayMs = from === to ? from : from + random() * (to - from);
    await clock.sleep(delayMs, signal).catch(() => {
      this.#endSuspicion({ kind: 'neutral' });
      throw abortError(signal);
    });
  }
}

const BY_HOPE: readonly NothingLeft['reason'][] = [
  ...(['all-tried', 'busy', 'overloaded', 'limited', 'unusable'] as const),
  ...(['not-offered', 'no-accounts'] as const),
];

/** Of two routes without an account the one that may have one first. */
function moreHopeful(known: NothingLeft | undefined, next: NothingLeft): NothingLeft {
  if (known === undefined) return next;
  const isKept = BY_HOPE.indexOf(known.reason) <= BY_HOPE.indexOf(next.reason);
  const waits = [known.retryAfterMs, next.retryAfterMs].filter((wait) => wait !== undefined);
  const retryAfterMs = waits.length === 0 ? undefined : Math.min(...waits);
  return { ...(isKept ? known : next), retryAfterMs, selectionLog: next.selectionLog };
}

/** The upstream's own words, else ours with what lies behind them: `connect ECONNREFUSED …`. */
function describeFault({ failure, sentence, cause }: GatewayError): Sentence {
  if (failure?.detail !== undefined) return asSentence(failure.detail);
  const behind = cause instanceof Error ? cause.message : '';
  return behind === '' ? sentence : told`${sentence} (${behind})`;
}

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
function planOf(changes: ReadonlySet<SameAccountChange>): AttemptPlan {
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

/** The edge may abort with an error of its own (a time limit); otherwise the client left. */
export function abortError(signal: AbortSignal): GatewayError {
  if (signal.reason instanceof GatewayError) return signal.reason;
  return new GatewayError({
    kind: 'client-gone',
    source: 'client',
    message: told`The client closed the connection.`,
  });
}

type RetryBudget = ReturnType<typeof createRetryBudget>;
/** By the upstream and the model. */
type RetryBudgets = (place: string) => RetryBudget;

/** Clients may name any model. */
const MAX_BUDGETS = 1000;

/** One for each model of an upstream: the outage of one is nothing to the others. */
export function createRetryBudgets(clock: Pick<Clock, 'monotonic'>): RetryBudgets {
  return remember(MAX_BUDGETS, () => createRetryBudget(clock));
}

const WINDOW_MS = 10_000;
const SHARE = 0.2;
const FLOOR = 10;

/**
 * Retries that did not help, and those under way, may be 20 % of the requests of the last ten to twenty
 * seconds, and at least ten: of all clients and of each alone, as what it asks may be what fails.
 */
function createRetryBudget(clock: Pick<Clock, 'monotonic'>) {
  let start = clock.monotonic();
  let current = createRetryWindow();
  let previous = createRetryWindow();
  const roll = (): void => {
    const elapsed = clock.monotonic() - start;
    if (elapsed < WINDOW_MS) return;
    previous = elapsed < 2 * WINDOW_MS ? current : createRetryWindow();
    current = createRetryWindow();
    start += elapsed;
  };
  return {
    noteRequest(client: string): void {
      if (clock.monotonic() - start >= WINDOW_MS) roll();
      add(current, client, 'requests', 1);
    },
    /** True when another path retry is allowed now. */
    hasRoom(client: string): boolean {
      roll();
      const own = [current, previous].map(({ byClient }) => byClient.get(client) ?? NONE);
      return isLeft([current.all, previous.all]) && isLeft(own);
    },
    /** Counts a retry that is made, also one there was room for when it was decided and no more. */
    take(client: string): void {
      roll();
      add(current, client, 'retries', 1);
    },
    /** A retry that succeeded is no part of an outage, and makes room for another. */
    giveBack(client: string): void {
      roll();
      const window = [current, previous].find(
        ({ byClient }) => (byClient.get(client) ?? NONE).retries > 0,
      );
      if (window !== undefined) add(window, client, 'retries', -1);
    },
  };
}

interface RetryCounts {
  requests: number;
  retries: number;
}

interface RetryWindow {
  readonly all: RetryCounts;
  readonly byClient: Map<string, RetryCounts>;
}

const NONE: Readonly<RetryCounts> = { requests: 0, retries: 0 };

function createRetryWindow(): RetryWindow {
  return { all: { ...NONE }, byClient: new Map() };
}

function add(window: RetryWindow, client: string, what: keyof RetryCounts, count: 1 | -1): void {
  const own = window.byClient.get(client) ?? { ...NONE };
  window.byClient.set(client, own);
  own[what] += count;
  window.all[what] += count;
}

function isLeft(windows: readonly Readonly<RetryCounts>[]): boolean {
  const requests = windows.reduce((sum, window) => sum + window.requests, 0);
  const retries = windows.reduce((sum, window) => sum + window.retries, 0);
  return retries < Math.max(FLOOR, requests * SHARE);
}
