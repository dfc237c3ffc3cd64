// Answers lease requests: the choice, the session it binds, and why none was left.

import type { Account, TokenSource } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { GatewayError, type UpstreamFailure } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';
import type { AccountAccess, Upstream } from '../upstreams/upstream.ts';
import type { WaitingCause } from './eligibility.ts';
import type { ModelIndex, ModelIndexes } from './model-index.ts';
import type { AccountLabels } from './model-lists.ts';
import type { OverloadOutcome, Overloads } from './overload.ts';
import type {
  AccountLoad,
  AccountView,
  Candidate,
  Lease,
  LeaseOutcome,
  LeaseRequest,
  LeaseResult,
  PoolSettings,
  SelectionLogEntry,
} from './pool.ts';
import { TrialPasses } from './probes.ts';
import type { Claim, QuotaReservations, Reservation } from './quota-reservations.ts';
import {
  type Choice,
  chooseAccount,
  OVERLOADED,
  TRIED,
  UsableCandidates,
  type Verdict,
} from './selection.ts';
import { logEach, toSelectionLog } from './selection-log.ts';
import {
  type BoundAccountState,
  boundAccounts,
  nextBinding,
  type SessionBinding,
  type SessionTable,
} from './sessions.ts';
import type { HealthBand, SuccessShares } from './success-shares.ts';

export interface LeasingOptions {
  readonly book: AccountBook;
  readonly upstreams: { get(id: string): Upstream | undefined };
  readonly tokens: TokenSource;
  readonly settings: () => PoolSettings;
  readonly clock: Clock;
  readonly random: () => number;
  readonly indexes: ModelIndexes;
  readonly labels: AccountLabels;
  readonly sessions: SessionTable;
  readonly overloads: Overloads;
  readonly shares: SuccessShares;
  readonly reservations: QuotaReservations;
  readonly onDoubt: LeaseSources['onDoubt'];
}

export function createLeasing(options: LeasingOptions): (request: LeaseRequest) => LeaseResult {
  let uses = 0;
  const trials = new TrialPasses();
  return (request) => new Leasing(request, { ...options, trials }).run(() => (uses += 1));
}

const NONE: ReadonlySet<string> = new Set();

interface BoundSession {
  readonly binding: SessionBinding;
  /** The accounts to try for this model, best first. */
  readonly accountIds: readonly string[];
}

interface LeasingState extends LeasingOptions {
  readonly trials: TrialPasses;
}

/** An account that fails more than others is tried so often, and by no more than one request in five. */
const HEALTH_TRIAL_MS = 1_000;
const BANDS: readonly HealthBand[] = [0, 1, 2];

/** One lease request. */
class Leasing {
  readonly #request: LeaseRequest;
  readonly #options: LeasingState;
  readonly #settings: PoolSettings;
  readonly #now: number;
  readonly #index: ModelIndex;
  readonly #usable: UsableCandidates;

  constructor(request: LeaseRequest, options: LeasingState) {
    const { labels, overloads, shares, indexes, clock, settings, random } = options;
    this.#request = request;
    this.#options = options;
    this.#settings = settings();
    this.#now = clock.now();
    this.#index = indexes.of(request.model);
    this.#usable = new UsableCandidates({
      index: this.#index,
      overloads,
      shares,
      random,
      isDryRun: request.isDryRun === true,
      labels,
      tried: request.exclude ?? NONE,
      now: this.#now,
    });
  }

  run(nextUse: () => number): LeaseResult {
    if (this.#index.size === 0) return { kind: 'none', reason: 'no-accounts', selectionLog: [] };
    const { session, isDryRun } = this.#request;
    const bound = session === undefined ? undefined : this.#findBound(session);
    const hasLowered = this.#options.shares.loweredCount > 0;
    const choice = (hasLowered ? this.#chooseTrial() : undefined) ?? this.#choose(bound);
    const isOnCall = choice?.candidate.eligibility.kind === 'unusable';
    const waitMs = bound && this.#patienceFor(bound, choice);
    if (waitMs !== undefined)
      return { kind: 'wait', waitMs, selectionLog: this.#selectionLog(undefined) };
    if (choice === undefined) return this.#tryRefused(nextUse) ?? this.#noneLeft();
    // A session is not bound to a stand-by account.
    if (session !== undefined && !isDryRun && !isOnCall) this.#bind(session, bound, choice);
    return this.#lend(choice, nextUse);
  }

  #choose(bound: BoundSession | undefined): Choice | undefined {
    const { onlyAccount, preferredAccount } = this.#request;
    const named = onlyAccount ?? preferredAccount;
    const onCall = named === undefined ? undefined : this.#usable.onCall(named);
    if (onCall !== undefined) return { candidate: onCall, by: 'preferred-account' };
    if (onlyAccount !== undefined) {
      const candidate = this.#usable.byLabel(onlyAccount)[0];
      return candidate && { candidate, by: 'preferred-account' };
    }
    for (const band of this.#options.shares.loweredCount === 0 ? BANDS.slice(-1) : BANDS) {
      this.#usable.lowestBand = band;
      const choice = chooseAccount({
        request: this.#request,
        usable: this.#usable,
        fixedAccount: this.#settings.fixedAccount,
        boundAccountIds: bound?.accountIds ?? [],
        random: this.#options.random,
      });
      if (choice !== undefined) return choice;
    }
    return undefined;
  }

  /** Once in a while an account that others go before is asked first: whether it is well again shows in no other way. */
  #chooseTrial(): Choice | undefined {
    const { shares, trials } = this.#options;
    const { exclude, onlyAccount, isDryRun, model } = this.#request;
    if ((exclude?.size ?? 0) > 0 || onlyAccount !== undefined || isDryRun === true)
      return undefined;
    const lowered = Array.from(shares.lowered(), (id) => this.#usable.byId(id));
    const candidates = lowered.filter(
      (candidate) => candidate !== undefined && this.#usable.bandOf(candidate) > 0,
    );
    if (candidates.length === 0 || candidates.length === this.#index.eligibleCount)
      return undefined;
    const isTurn = trials.countTurn(model);
    if (!isTurn || trials.waitMs(model, { now: this.#now, everyMs: HEALTH_TRIAL_MS }) > 0) {
      return undefined;
    }
    trials.note(model, this.#now);
    const candidate = candidates.toSorted(
      (a, b) => (a?.load.lastUse ?? 0) - (b?.load.lastUse ?? 0),
    )[0];
    return candidate && { candidate, by: 'trial' };
  }

  /**
   * Where no account is left, one that was only refused is tried once a second, and one whose limit we only
   * guess once a minute: by each client key, as what one of them met says little to the others.
   */
  #tryRefused(nextUse: () => number): LeaseResult | undefined {
    const { trials } = this.#options;
    for (const { candidate, name, everyMs } of this.#refusedCandidates()) {
      if (trials.waitMs(name, { now: this.#now, everyMs }) > 0) continue;
      if (this.#usable.overloadMs(candidate) > 0) continue;
      if (this.#request.isDryRun !== true) trials.note(name, this.#now);
      return this.#lend({ candidate, by: 'trial' }, nextUse);
    }
    return undefined;
  }

  *#refusedCandidates(): Iterable<{
    readonly candidate: Candidate;
    readonly name: string;
    readonly everyMs: number;
  }> {
    const { onlyAccount, model, clientKeyId } = this.#request;
    const only =
      onlyAccount === undefined ? undefined : [...this.#options.labels.idsOf(onlyAccount)];
    for (const { eligibility, accountIds } of this.#index.unusableGroups()) {
      if (eligibility.kind !== 'waiting' || eligibility.triedEveryMs === undefined) continue;
      const everyMs = eligibility.triedEveryMs;
      for (const id of accountIds) {
        const candidate = only?.includes(id) === false ? undefined : this.#index.peek(id);
        if (candidate === undefined || this.#usable.isTried(candidate)) continue;
        const name = `${clientKeyId}\n${model}${everyMs > HEALTH_TRIAL_MS ? `\n${id}` : ''}`;
        yield { candidate, name, everyMs };
        // The accounts of a group pass together: the first that was not tried stands for them.
        if (everyMs <= HEALTH_TRIAL_MS) break;
      }
    }
  }

  /** How soon one of those that were only refused is tried again. */
  #trialMs(): number | undefined {
    const waits = Array.from(this.#refusedCandidates(), ({ name, everyMs }) =>
      this.#options.trials.waitMs(name, { now: this.#now, everyMs }),
    );
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  #findBound(session: string): BoundSession | undefined {
    const { clientKeyId, model, onlyAccount } = this.#request;
    if (this.#settings.mode === 'performance-first' || onlyAccount !== undefined) return undefined;
    const binding = this.#options.sessions.find({ clientKeyId, session });
    return binding && { binding, accountIds: boundAccounts(binding, model) };
  }

  #stateOf(bound: BoundSession): BoundAccount {
    return lookAtBoundAccount(bound.accountIds[0] ?? bound.binding.home, {
      index: this.#index,
      usable: this.#usable,
      now: this.#now,
    });
  }

  /** How long to wait for the session's own account; undefined to go on with the choice. */
  #patienceFor(bound: BoundSession, choice: Choice | undefined): number | undefined {
    if (this.#settings.mode !== 'cache-first') return undefined;
    const isNamed = choice?.by === 'fixed-account' || choice?.by === 'preferred-account';
    if (isNamed) return undefined;
    const { state: fate, waitMs: restMs } = this.#stateOf(bound);
    if (fate !== 'resting' || restMs === undefined) return undefined;
    const leftMs = this.#settings.maxWaitMs - (this.#request.waitedMs ?? 0);
    return restMs <= leftMs ? restMs : undefined;
  }

  /** A choice of the fixed account leaves the bindings of sessions as they were. */
  #bind(session: string, bound: BoundSession | undefined, { candidate, by }: Choice): void {
    const { clientKeyId, model } = this.#request;
    if (this.#settings.mode === 'performance-first') return;
    if (by === 'fixed-account' || by === 'trial') return;
    if (this.#request.onlyAccount !== undefined) return;
    const chosen = candidate.account.record.id;
    const fate = bound === undefined ? 'gone' : this.#stateOf(bound).state;
    const binding = nextBinding(bound?.binding, { model, chosen, state: fate });
    this.#options.sessions.keep({ clientKeyId, session }, binding);
  }

  #lend(choice: Choice, nextUse: () => number): LeaseResult {
    const { account, modelId, load } = choice.candidate;
    const upstream = this.#options.upstreams.get(account.record.upstreamId);
    if (upstream === undefined || modelId === undefined) {
      throw new Error(
        `The account ${account.record.id} was chosen without an upstream or a model.`,
      );
    }
    if (!this.#request.isDryRun) {
      load.lastUse = nextUse();
      load.lastUsedAt = this.#now;
    }
    const wanted = this.#request.preferredAccount?.toLowerCase();
    const preferenceFollowed =
      wanted === undefined || account.record.label.toLowerCase() === wanted;
    const selectionLog = this.#selectionLog(choice);
    const reservation = this.#request.isDryRun ? undefined : this.#reserve(choice.candidate);
    const { clientKeyId, session } = this.#request;
    const asker = { clientKeyId, session };
    const leased = { account, upstream, modelId, load, selectionLog, preferenceFollowed, asker };
    const { isDryRun } = this.#request;
    return { kind: 'lease', lease: openLease({ ...leased, reservation, isDryRun }, this.#options) };
  }

  /** Whatever frees some of the quota again makes the account one to choose. */
  #reserve({ account, modelId }: Candidate): Pick<Reservation, 'settle' | 'release'> | undefined {
    const { reservations, indexes, book } = this.#options;
    if (modelId === undefined) return undefined;
    const reservation = reservations.reserve(account, modelId, this.#now);
    if (reservation === undefined) return undefined;
    const lookAgain = (): void => {
      const current = book.find(account.record.id);
      if (current !== undefined) indexes.take({ kind: 'quotas', account: current });
    };
    if (reservation.leavesNone) lookAgain();
    return {
      settle: (now) => reservation.settle(now),
      release() {
        const hadRoom = !reservation.leavesNone;
        reservation.release();
        if (!hadRoom) lookAgain();
      },
    };
  }

  #selectionLog(choice: Choice | undefined) {
    return toSelectionLog({
      index: this.#index,
      usable: this.#usable,
      choice,
      tried: this.#request.exclude ?? NONE,
    });
  }

  #noneLeft(): LeaseResult {
    const { onlyAccount } = this.#request;
    if (onlyAccount !== undefined) return this.#onlyLeft(onlyAccount);
    const verdicts: Verdict[] = Array.from(
      this.#index.unusableGroups(),
      ({ eligibility }) => eligibility,
    );
    const ends = this.#index.soonestEnd();
    const waits = [ends === undefined ? undefined : ends - this.#now, this.#trialMs()];
    const known = waits.filter((ms) => ms !== undefined);
    let soonestMs = known.length === 0 ? undefined : Math.max(1, Math.min(...known));
    let overloaded = 0;
    for (const group of this.#index.groups()) {
      const waitMs = this.#usable.groupOverloadMs(group);
      if (group.size === 0 || waitMs === 0) continue;
      overloaded += group.size;
      soonestMs = Math.min(soonestMs ?? waitMs, waitMs);
      verdicts.push({ kind: 'overloaded', verdict: OVERLOADED, waitMs });
    }
    // Nothing was chosen, so an eligible account without an overload was tried before.
    if (this.#index.eligibleCount > overloaded) verdicts.push(TRIED);
    return noAccountReason({ verdicts, soonestMs, selectionLog: this.#selectionLog(undefined) });
  }

  /** Why the one account asked for cannot serve it, whatever the others could do. */
  #onlyLeft(label: string): LeaseResult {
    const asked = [...this.#options.labels.idsOf(label)].flatMap(
      (id) => this.#index.find(id, this.#now) ?? [],
    );
    const verdicts = asked.map((candidate) => this.#usable.verdictOf(candidate));
    const waits = verdicts.flatMap((verdict) => waitOf(verdict, this.#now) ?? []);
    const soonestMs = waits.length === 0 ? undefined : Math.max(1, Math.min(...waits));
    const selectionLog = logEach(asked, { usable: this.#usable, choice: undefined });
    return noAccountReason({ verdicts, soonestMs, selectionLog });
  }
}

function waitOf(verdict: Verdict, now: number): number | undefined {
  if (verdict.kind === 'overloaded') return verdict.waitMs;
  if (verdict.kind !== 'waiting' || verdict.until === undefined) return undefined;
  return verdict.until - now;
}

export interface LeaseSources {
  readonly book: Pick<AccountBook, 'find' | 'apply'>;
  readonly tokens: TokenSource;
  readonly overloads: Overloads;
  readonly shares: SuccessShares;
  readonly clock: Pick<Clock, 'now'>;
  /** An account whose refusal may be the request's own. */
  readonly onDoubt: (accountId: string, modelId: string) => void;
  /** Told how each lease ended, whatever it ended in. */
  readonly onOutcome?:
    | ((accountId: string, modelId: string, outcome: LeaseOutcome) => void)
    | undefined;
}

interface LeasedAccount {
  readonly account: Account;
  readonly upstream: Upstream;
  readonly modelId: string;
  readonly load: AccountLoad;
  readonly selectionLog: readonly SelectionLogEntry[];
  readonly preferenceFollowed: boolean;
  /** Whose request it is. */
  readonly asker: Pick<LeaseRequest, 'clientKeyId' | 'session'>;
  /** True for a look without a call. */
  readonly isDryRun?: boolean | undefined;
  /** What the call will use of the quota, where that is reserved. */
  readonly reservation?: Claim | undefined;
}

function openLease(leased: LeasedAccount, sources: LeaseSources): Lease {
  const { account, upstream, modelId, load, selectionLog, preferenceFollowed } = leased;
  const startedAt = sources.clock.now();
  let isOpen = true;
  let hasAnswered = false;
  let wasWithdrawn = false;
  /** What the upstream refused, when the credential is asked for again. */
  let lastGiven: string | undefined;
  const isCounted = leased.isDryRun !== true;
  load.inFlight += 1;
  if (isCounted) sources.overloads.noteStart(upstream.id, modelId, startedAt);
  return {
    account: viewOf(account),
    upstream,
    modelId,
    listedModel: account.models?.get(modelId),
    selectionLog,
    preferenceFollowed,
    canRefresh: account.record.kind !== 'api-key',
    async access(options): Promise<AccountAccess> {
      const current = sources.book.find(account.record.id);
      if (current !== undefined && mayServe(current)) {
        const given = await sources.tokens.accessFor(current, { ...options, refused: lastGiven });
        lastGiven = given.credential;
        return given;
      }
      wasWithdrawn = true;
      throw withdrawn();
    },
    noteAnswer() {
      if (!isOpen || hasAnswered) return;
      hasAnswered = true;
      if (isCounted) noteOverload(leased, 'success', sources);
      const { book } = sources;
      book.apply(account.record.id, { kind: 'success', model: modelId, startedAt });
    },
    release(outcome) {
      if (!isOpen) return;
      isOpen = false;
      load.inFlight -= 1;
      if (isCounted && !hasAnswered) noteOverload(leased, overloadOutcome(outcome), sources);
      if (outcome.kind === 'success') leased.reservation?.settle(sources.clock.now());
      else leased.reservation?.release();
      if (wasWithdrawn) return;
      settle({ leased, outcome, startedAt }, sources);
      sources.onOutcome?.(account.record.id, modelId, outcome);
    },
  };
}

function noteOverload(
  { upstream, modelId }: LeasedAccount,
  outcome: OverloadOutcome,
  { overloads, clock }: LeaseSources,
): void {
  overloads.noteEnd(upstream.id, modelId, { now: clock.now(), outcome });
}

function overloadOutcome(outcome: LeaseOutcome): OverloadOutcome {
  if (outcome.kind === 'success') return 'success';
  if (outcome.kind === 'neutral') return 'unknown';
  const isOverload = outcome.kind === 'failure' && outcome.failure.kind === 'overloaded';
  return isOverload ? 'overloaded' : 'answered';
}

export function viewOf({ record, models }: Account): AccountView {
  const { id, label, tier, upstreamId } = record;
  return { id, label, tier, upstreamId, models };
}

const MAX_COOLDOWN_MS = 60_000;
const SERVED_LATELY_MS = 300_000;

interface Settlement {
  readonly leased: LeasedAccount;
  readonly outcome: LeaseOutcome;
  readonly startedAt: number;
}

function settle({ leased, outcome, startedAt }: Settlement, sources: LeaseSources): void {
  const { book, shares, clock } = sources;
  const { account, modelId: model, asker } = leased;
  const { id, kind } = account.record;
  const end = { ...asker, accountId: id, model, at: clock.now() };
  switch (outcome.kind) {
    case 'neutral':
      return;
    case 'doubted':
      sources.onDoubt(id, model);
      return;
    case 'success':
      shares.note({ ...end, failure: undefined });
      book.apply(id, { kind: 'success', model, startedAt });
      return;
    case 'failure': {
      const { failure, fingerprint } = outcome;
      shares.note({ ...end, failure, fingerprint });
      restLowered(end, failure, shares);
      if (failure.kind === 'model-not-found' && !isMissing(leased, sources)) return;
      const servedAt = shares.servedAt(id, failure.kind === 'unauthenticated' ? undefined : model);
      const isKey = kind === 'api-key';
      book.apply(id, { kind: 'failure', model, failure, startedAt, servedAt, isKey });
      return;
    }
    default:
      outcome satisfies never;
  }
}

/** A wait that a single answer asks for is one prompt's; where most fail, others go before the account. */
function restLowered(
  { accountId, model, at }: { accountId: string; model: string; at: number },
  { kind, retryAfterMs }: UpstreamFailure,
  shares: SuccessShares,
): void {
  if (kind !== 'overloaded' || retryAfterMs === undefined) return;
  const share = shares.shareOf(accountId, model, at);
  if (share !== undefined && share < 0.5) {
    shares.rest(accountId, model, at + Math.min(retryAfterMs, MAX_COOLDOWN_MS));
  }
}

/** A stand-by account was asked for by name. */
function mayServe({ health: { status } }: Account): boolean {
  return status.kind !== 'disabled' || status.reason === 'standing-by';
}

/** A 404 means that the account has no such model only where neither its list nor an answer says otherwise. */
function isMissing({ account, modelId }: LeasedAccount, { shares, clock }: LeaseSources): boolean {
  const servedAt = shares.servedAt(account.record.id, modelId) ?? Number.NEGATIVE_INFINITY;
  const isListed = account.models?.has(modelId) ?? true;
  return !isListed && servedAt < clock.now() - SERVED_LATELY_MS;
}

/** The account was removed or disabled after it was chosen: another one serves. */
function withdrawn(): GatewayError {
  return new GatewayError({
    kind: 'upstream-auth',
    source: 'gateway',
    message: told`The account was taken out of use while the request was under way.`,
    failure: { kind: 'credential-revoked' },
  });
}

interface BoundAccount {
  readonly state: BoundAccountState;
  /** For `resting`: how long; undefined when this request tried the account before. */
  readonly waitMs?: number | undefined;
}

/** A session comes back to an account that rests no longer than this; upstream caches live about as long. */
const MAX_BOUND_WAIT_MS = 300_000;

function lookAtBoundAccount(
  accountId: string,
  {
    index,
    usable,
    now,
  }: { readonly index: ModelIndex; readonly usable: UsableCandidates; readonly now: number },
): BoundAccount {
  const candidate = index.find(accountId, now);
  if (candidate === undefined) return { state: 'gone' };
  const { eligibility } = candidate;
  switch (eligibility.kind) {
    case 'unusable':
      return { state: 'gone' };
    case 'not-offered':
      return { state: 'unfit' };
    case 'waiting': {
      const { cause, until } = eligibility;
      if (cause === 'exhausted' || cause === 'protected' || until === undefined) {
        return { state: 'unfit' };
      }
      if (until - now > MAX_BOUND_WAIT_MS) return { state: 'unfit' };
      if (usable.isTried(candidate)) return { state: 'resting' };
      return { state: 'resting', waitMs: Math.max(until - now, usable.overloadMs(candidate)) };
    }
    case 'eligible': {
      if (!usable.isLeft(candidate)) return { state: 'resting' };
      const restMs = usable.overloadMs(candidate);
      return restMs > 0 ? { state: 'resting', waitMs: restMs } : { state: 'ready' };
    }
    default:
      return eligibility satisfies never;
  }
}

/** By then the quota of an account that gave no reset time is read again. */
const UNKNOWN_RECOVERY_MS = 300_000;
const LIMITS: readonly WaitingCause[] = ['limited', 'exhausted', 'protected'];

export interface NoAccountFacts {
  /** One of each kind is enough. */
  readonly verdicts: readonly Verdict[];
  /** The soonest end of a wait, from now; undefined when none is known. */
  readonly soonestMs: number | undefined;
  readonly selectionLog: readonly SelectionLogEntry[];
}

/**
 * Why no account can serve a request. The most hopeful reason wins: an account that failed this request
 * may serve the next one; an overload ends within seconds, also where other accounts are at their limit;
 * and a limit that ends says more than an account that is gone.
 */
export function noAccountReason(facts: NoAccountFacts): LeaseResult {
  const { verdicts, soonestMs: retryAfterMs, selectionLog } = facts;
  const kinds = new Set(verdicts.map(({ kind }) => kind));
  if (kinds.has('tried')) return { kind: 'none', reason: 'all-tried', selectionLog };
  if (kinds.has('overloaded')) {
    return { kind: 'none', reason: 'overloaded', retryAfterMs, selectionLog };
  }
  const causes = verdicts.flatMap((one) => (one.kind === 'waiting' ? [one.cause] : []));
  if (causes.some((cause) => LIMITS.includes(cause))) {
    const limitedMs = retryAfterMs ?? UNKNOWN_RECOVERY_MS;
    return { kind: 'none', reason: 'limited', retryAfterMs: limitedMs, selectionLog };
  }
  if (causes.length > 0) return { kind: 'none', reason: 'unusable', retryAfterMs, selectionLog };
  const isUnusable = verdicts.some(
    (one) => one.kind === 'unusable' && (one.isStandIn !== true || !kinds.has('not-offered')),
  );
  return { kind: 'none', reason: isUnusable ? 'unusable' : 'not-offered', selectionLog };
}
