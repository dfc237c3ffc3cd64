// Answers lease requests: the choice, the session it binds, how a lease ends, and why none was left.

import type { Account } from '../accounts/account.ts';
import { type GatewayError, gatewayError } from '../canonical/error.ts';
import type { NeedSet } from '../canonical/needs.ts';
import { told } from '../lib/localized-message.ts';
import type { AccountAccess } from '../upstreams/upstream.ts';
import type { AccountLabels } from './account-labels.ts';
import type { ModelIndexes } from './model-index.ts';
import type { OverloadOutcome, Overloads } from './overload.ts';
import {
  type Candidate,
  type Lease,
  type LeaseOutcome,
  type LeaseRequest,
  type LeaseResult,
  type PoolOptions,
  placeOf,
} from './pool.ts';
import { type Probes, TrialPasses } from './probes.ts';
import type { QuotaReservations } from './quota-reservations.ts';
import {
  type Choice,
  lackingByGroup,
  noAccountReason,
  OVERLOADED,
  Selection,
  TRIED,
  type Verdict,
} from './selection.ts';
import {
  type BoundAccountState,
  boundAccounts,
  nextBinding,
  type SessionBinding,
  type SessionTable,
} from './sessions.ts';
import type { Slots } from './slots.ts';
import type { HealthBand, SuccessShares } from './success-shares.ts';

export interface LeasingParts {
  readonly indexes: ModelIndexes;
  readonly labels: AccountLabels;
  readonly sessions: SessionTable;
  readonly overloads: Overloads;
  readonly shares: SuccessShares;
  readonly reservations: QuotaReservations;
  readonly probes: Probes;
  readonly slots: Slots;
}

/** The accounts a session is bound to, to try for this model: best first. */
interface BoundSession {
  readonly binding: SessionBinding;
  readonly accountIds: readonly string[];
}

/** An account that is tried all the same: its refusal is no limit, or how long it is limited a guess. */
interface RefusedCandidate {
  readonly candidate: Candidate;
  /** Those of one name are tried in turn. */
  readonly name: string;
  /** Until the next of these trials. */
  readonly waitMs: number;
  /** True where this request tried it before. */
  readonly isTried: boolean;
}

interface Lent {
  readonly account: Account;
  readonly modelId: string;
  readonly request: LeaseRequest;
  readonly startedAt: number;
}

/** An account that fails more than others is tried so often, and by no more than one request in five. */
const HEALTH_TRIAL_MS = 1_000;
const BANDS: readonly HealthBand[] = [0, 1, 2];
const MAX_COOLDOWN_MS = 60_000;
const SERVED_LATELY_MS = 300_000;
/** So long an account that did not know a model comes after others. */
const UNKNOWN_MODEL_MS = 300_000;
/** A session returns to an account that cools down no longer than this; upstream caches live about as long. */
const MAX_BOUND_WAIT_MS = 300_000;

export class Leasing {
  readonly #options: PoolOptions & LeasingParts;
  readonly #trials = new TrialPasses();
  #uses = 0;

  constructor(options: PoolOptions & LeasingParts) {
    this.#options = options;
  }

  /** What the accounts that could serve it now lack, upstream by upstream. */
  lacking(request: LeaseRequest, now: number): readonly NeedSet[] {
    const { groups } = this.#options.indexes.of(request, now);
    return [...lackingByGroup(groups, request, this.#options).values()];
  }

  lease(request: LeaseRequest, now: number): LeaseResult {
    const { indexes, settings } = this.#options;
    const index = indexes.of(request, now);
    if (index.candidates.size === 0) {
      return { kind: 'none', reason: 'no-accounts', selectionLog: [] };
    }
    const { session, onlyAccount } = request;
    const { mode, fixedAccount, maxWaitMs } = settings();
    const selection = new Selection(request, index, now, this.#options);
    const isBinding =
      session !== undefined && mode !== 'performance-first' && onlyAccount === undefined;
    const bound = isBinding ? this.#findBound(request, session) : undefined;
    const choice = this.#chooseOf(selection, fixedAccount, bound?.accountIds ?? []);
    if (bound !== undefined && mode === 'cache-first') {
      const waitMs = this.#patienceFor(bound, choice, selection);
      if (waitMs !== undefined && waitMs <= maxWaitMs - (request.waitedMs ?? 0)) {
        return { kind: 'wait', waitMs, selectionLog: selection.log(undefined) };
      }
    }
    if (choice === undefined) {
      const places = selection.busyPlaces();
      if (places.length > 0) {
        return { kind: 'busy', places, selectionLog: selection.log(undefined) };
      }
      return this.#tryRefused(selection) ?? this.#noneLeft(selection);
    }
    // A session is not bound to a stand-by account.
    if (isBinding && !request.isDryRun && choice.candidate.eligibility.kind !== 'unusable') {
      this.#bind({ ...request, session }, bound, { choice, selection });
    }
    return this.#lend(choice, selection);
  }

  #chooseOf(
    selection: Selection,
    fixedAccount: string | undefined,
    boundAccountIds: readonly string[],
  ): Choice | undefined {
    const { shares } = this.#options;
    const { onlyAccount, preferredAccount } = selection.request;
    const trial = shares.lowered.size > 0 ? this.#chooseTrial(selection) : undefined;
    if (trial !== undefined) return trial;
    const named = onlyAccount ?? preferredAccount;
    const onCall = named === undefined ? undefined : selection.onCall(named);
    if (onCall !== undefined) return { candidate: onCall, by: 'preferred-account' };
    if (onlyAccount !== undefined) {
      const candidate = selection.byLabel(onlyAccount);
      return candidate && { candidate, by: 'preferred-account' };
    }
    if (shares.lowered.size === 0) return selection.choose(fixedAccount, boundAccountIds);
    for (const band of BANDS) {
      selection.lowestBand = band;
      const choice = selection.choose(fixedAccount, boundAccountIds);
      if (choice !== undefined) return choice;
    }
    return undefined;
  }

  /** Once in a while an account that others go before is asked first: whether it is well again shows in no other way. */
  #chooseTrial(selection: Selection): Choice | undefined {
    const { exclude, onlyAccount, isDryRun } = selection.request;
    const isFirst = exclude === undefined || exclude.size === 0;
    if (!isFirst || onlyAccount !== undefined || isDryRun === true) return undefined;
    const candidates = selection.lowered();
    const [first] = candidates;
    if (first === undefined || candidates.length === selection.index.eligibleCount)
      return undefined;
    const model = placeOf(selection.request);
    if (!this.#trials.countTurn(model)) return undefined;
    const { now } = selection;
    if (this.#trials.waitMs(model, { now, everyMs: HEALTH_TRIAL_MS }) > 0) return undefined;
    this.#trials.note(model, now);
    const candidate = candidates.reduce(
      (oldest, one) => (one.load.lastUse < oldest.load.lastUse ? one : oldest),
      first,
    );
    return { candidate, by: 'trial' };
  }

  /** With no account left, each key tries a refused one once a second, or a minute if its limit is a guess. */
  #tryRefused(selection: Selection): LeaseResult | undefined {
    const { now, request } = selection;
    for (const { candidate, name, waitMs, isTried } of this.#refusedCandidates(selection)) {
      if (isTried || waitMs > 0) continue;
      if (selection.overloadMs(candidate) > 0) continue;
      if (request.isDryRun !== true) this.#trials.note(name, now);
      return this.#lend({ candidate, by: 'trial' }, selection);
    }
    return undefined;
  }

  #refusedCandidates({ request, index, now }: Selection): readonly RefusedCandidate[] {
    const { onlyAccount, clientKeyId, exclude } = request;
    const model = placeOf(request);
    const only =
      onlyAccount === undefined ? undefined : [...this.#options.labels.idsOf(onlyAccount)];
    const found: RefusedCandidate[] = [];
    for (const { eligibility, accountIds } of index.unusable.values()) {
      if (eligibility.kind !== 'waiting' || eligibility.triedEveryMs === undefined) continue;
      const everyMs = eligibility.triedEveryMs;
      // The accounts of a group pass together: the first that was not tried stands for them.
      const isTogether = everyMs <= HEALTH_TRIAL_MS;
      for (const id of accountIds) {
        const candidate = index.candidates.get(id);
        const isTried = exclude?.has(id) === true;
        const isOther = only?.includes(id) === false || (isTogether && isTried);
        if (candidate === undefined || isOther) continue;
        const name = `${clientKeyId}\n${model}${isTogether ? '' : `\n${id}`}`;
        const passMs = this.#trials.waitMs(name, { now, everyMs });
        const firstMs = Math.min(triedFromOf(candidate) - now, everyMs);
        found.push({ candidate, name, waitMs: Math.max(passMs, firstMs), isTried });
        if (isTogether) break;
      }
    }
    return found;
  }

  #findBound(request: LeaseRequest, session: string): BoundSession | undefined {
    const binding = this.#options.sessions.find({ clientKeyId: request.clientKeyId, session });
    return binding && { binding, accountIds: boundAccounts(binding, placeOf(request)) };
  }

  /** How long the session's own account still cools down; undefined to continue with the choice. */
  #patienceFor(
    bound: BoundSession,
    choice: Choice | undefined,
    selection: Selection,
  ): number | undefined {
    if (choice?.by === 'fixed-account' || choice?.by === 'preferred-account') return undefined;
    const { state, waitMs } = lookAtBoundAccount(bound, selection);
    return state === 'resting' ? waitMs : undefined;
  }

  /** A choice of the fixed account leaves the bindings of sessions as they were. */
  #bind(
    request: LeaseRequest & { readonly session: string },
    bound: BoundSession | undefined,
    { choice, selection }: { readonly choice: Choice; readonly selection: Selection },
  ): void {
    const { candidate, by } = choice;
    if (by === 'fixed-account' || by === 'trial') return;
    const chosen = candidate.account.record.id;
    const state = bound === undefined ? 'gone' : lookAtBoundAccount(bound, selection).state;
    const binding = nextBinding(bound?.binding, { model: placeOf(request), chosen, state });
    this.#options.sessions.keep(request, binding);
  }

  #lend(choice: Choice, selection: Selection): LeaseResult {
    const { upstreams, overloads, reservations, book, tokens, clock, slots, labels } =
      this.#options;
    const { request, now: startedAt } = selection;
    const { account, modelId, draws, load } = choice.candidate;
    const { models } = account;
    const { id, upstreamId, label, kind, tier } = account.record;
    const upstream = upstreams.get(upstreamId);
    if (upstream === undefined || modelId === undefined) {
      throw new Error(`The account ${id} was chosen without an upstream or a model.`);
    }
    if (request.isDryRun !== true) {
      this.#uses += 1;
      load.lastUse = this.#uses;
      load.lastUsedAt = startedAt;
    }
    const wanted = request.preferredAccount;
    const selectionLog = selection.log(choice);
    load.inFlight += 1;
    const place = { accountId: id, upstreamId };
    slots.take(place);
    const isCounted = request.isDryRun !== true;
    const claim =
      isCounted && draws ? reservations.reserve(account, modelId, startedAt) : undefined;
    const window = isCounted ? overloads.noteStart(upstreamId, modelId, startedAt) : undefined;
    let isOpen = true;
    let hasAnswered = false;
    let wasWithdrawn = false;
    /** What the upstream refused, when the credential is asked for again. */
    let lastGiven: string | undefined;
    const lease: Lease = {
      account: { id, label: labels.nameOf(id) ?? label, upstreamId, tier, models },
      upstream,
      modelId,
      listedModel: models?.get(modelId),
      band: () => this.#options.shares.bandOf(id, modelId, startedAt),
      selectionLog,
      preferenceFollowed: wanted === undefined || labels.idsOf(wanted).has(id),
      canRefresh: kind !== 'api-key',
      async access(options): Promise<AccountAccess> {
        const current = book.find(id);
        const status = current?.health.status;
        // A stand-by account was asked for by name.
        const isOut = status?.kind === 'disabled' && status.reason !== 'standing-by';
        if (current === undefined || isOut) {
          wasWithdrawn = true;
          throw withdrawn();
        }
        if ((await claim?.isGranted) === false) {
          wasWithdrawn = true;
          throw reservedElsewhere();
        }
        const given = await tokens.accessFor(current, { ...options, refused: lastGiven });
        lastGiven = given.credential;
        return given;
      },
      noteAnswer: () => {
        if (!isOpen || hasAnswered) return;
        hasAnswered = true;
        if (window !== undefined) overloads.noteEnd(window, 'success', clock.now());
        book.apply(id, { kind: 'success', model: modelId, startedAt });
      },
      noteRateLimit: (read) => this.#options.onRateLimit?.(id, modelId, read),
      release: (outcome) => {
        if (!isOpen) return;
        isOpen = false;
        load.inFlight -= 1;
        slots.release(place);
        const at = clock.now();
        if (window !== undefined && !hasAnswered) {
          overloads.noteEnd(window, overloadOutcome(outcome), at);
        }
        if (outcome.kind === 'success') claim?.settle(at);
        else claim?.release();
        if (wasWithdrawn) return;
        this.#settle({ account, modelId, request, startedAt }, outcome);
        this.#options.onOutcome?.(id, modelId, outcome, draws);
      },
    };
    return { kind: 'lease', lease };
  }

  /** Tells all who keep figures of the account how the lease ended. */
  #settle({ account, modelId: model, request, startedAt }: Lent, outcome: LeaseOutcome): void {
    const { book, shares, clock, probes } = this.#options;
    const { id: accountId, kind } = account.record;
    if (outcome.kind === 'neutral') return;
    if (outcome.kind === 'doubted') {
      probes.doubt(accountId, model);
      return;
    }
    const { clientKeyId, session } = request;
    const at = clock.now();
    const failure = outcome.kind === 'failure' ? outcome.failure : undefined;
    const fingerprint = outcome.kind === 'failure' ? outcome.fingerprint : undefined;
    shares.note({ accountId, model, clientKeyId, session, fingerprint, failure, at });
    if (failure === undefined) {
      book.apply(accountId, { kind: 'success', model, startedAt });
      return;
    }
    const { kind: fault, retryAfterMs } = failure;
    if (fault === 'overloaded' && retryAfterMs !== undefined) {
      // A wait that a single answer asks for is one prompt's; where most fail, others go before the account.
      const share = shares.shareOf(accountId, model, at) ?? 1;
      const until = at + Math.min(retryAfterMs, MAX_COOLDOWN_MS);
      if (share < 0.5) shares.rest(accountId, model, { until, now: at });
    }
    if (fault === 'model-not-found') {
      // It means that the account has no such model only where neither its list nor an answer says otherwise.
      const lastServed = shares.servedAt(accountId, model) ?? Number.NEGATIVE_INFINITY;
      if (lastServed >= at - SERVED_LATELY_MS) return;
      // Without a list nobody can say that it is not the request's own: others go before the account.
      if (account.models === undefined) {
        shares.rest(accountId, model, { until: at + UNKNOWN_MODEL_MS, now: at });
      }
      if (account.models?.has(model) ?? true) return;
    }
    const servedAt = shares.servedAt(accountId, fault === 'unauthenticated' ? undefined : model);
    const isKey = kind === 'api-key';
    book.apply(accountId, { kind: 'failure', model, failure, startedAt, servedAt, isKey });
  }

  #noneLeft(selection: Selection): LeaseResult {
    const { index, now, request } = selection;
    const { onlyAccount } = request;
    if (onlyAccount !== undefined) return this.#onlyLeft(selection, onlyAccount);
    const verdicts: Verdict[] = Array.from(index.unusable.values(), (group) => group.eligibility);
    const waits: number[] = this.#refusedCandidates(selection).map(({ waitMs }) => waitMs);
    const end = index.soonestEnd();
    if (end !== undefined) waits.push(end - now);
    let soonestMs = soonestOf(waits);
    let overloaded = 0;
    for (const [{ size }, waitMs] of selection.overloaded()) {
      overloaded += size;
      soonestMs = Math.min(soonestMs ?? waitMs, waitMs);
      verdicts.push({ kind: 'overloaded', verdict: OVERLOADED, waitMs });
    }
    // Nothing was chosen, so an eligible account without an overload was tried before.
    if (index.eligibleCount > overloaded) verdicts.push(TRIED);
    return noAccountReason({ verdicts, soonestMs, selectionLog: selection.log(undefined) });
  }

  /** Why the one account asked for cannot serve it, whatever the others could do. */
  #onlyLeft(selection: Selection, label: string): LeaseResult {
    const { index, now } = selection;
    const asked = [...this.#options.labels.idsOf(label)].flatMap((id) => index.find(id, now) ?? []);
    const verdicts = asked.map((candidate) => selection.verdictOf(candidate));
    const waits = verdicts.flatMap((verdict) => {
      if (verdict.kind === 'overloaded') return verdict.waitMs;
      if (verdict.kind !== 'waiting' || verdict.isEndUnknown === true) return [];
      return verdict.until === undefined ? [] : verdict.until - now;
    });
    const selectionLog = selection.logEach(asked, undefined);
    return noAccountReason({ verdicts, soonestMs: soonestOf(waits), selectionLog });
  }
}

function triedFromOf({ eligibility }: Candidate): number {
  return (eligibility.kind === 'waiting' ? eligibility.triedFrom : undefined) ?? 0;
}

function soonestOf(waits: readonly number[]): number | undefined {
  return waits.length === 0 ? undefined : Math.max(1, Math.min(...waits));
}

function overloadOutcome(outcome: LeaseOutcome): OverloadOutcome {
  if (outcome.kind === 'success') return 'success';
  if (outcome.kind === 'neutral') return 'unknown';
  const isOverload = outcome.kind === 'failure' && outcome.failure.kind === 'overloaded';
  return isOverload ? 'overloaded' : 'answered';
}

/** The account was removed or disabled after it was chosen: another one serves. */
function withdrawn(): GatewayError {
  return gatewayError(
    'upstream-auth',
    told`The account was disabled while the request was running.`,
    { failure: { kind: 'credential-revoked' } },
  );
}

/** Another process drew what was left: another account serves, or none. */
function reservedElsewhere(): GatewayError {
  return gatewayError(
    'quota-exhausted',
    told`Other gateways have reserved the rest of the account's quota for calls under way.`,
    { failure: { kind: 'quota-exhausted' } },
  );
}

interface BoundAccount {
  readonly state: BoundAccountState;
  /** For `resting`: how long; undefined when this request tried the account before. */
  readonly waitMs?: number | undefined;
}

function lookAtBoundAccount(
  { binding, accountIds }: BoundSession,
  selection: Selection,
): BoundAccount {
  const { index, now } = selection;
  const candidate = index.find(accountIds[0] ?? binding.home, now);
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
      if (selection.request.exclude?.has(candidate.account.record.id)) return { state: 'resting' };
      return { state: 'resting', waitMs: Math.max(until - now, selection.overloadMs(candidate)) };
    }
    case 'eligible': {
      // One that would lose more of this request than another comes back when that is no longer so.
      if (!selection.isLeft(candidate) || !selection.losesLeast(candidate))
        return { state: 'resting' };
      const restMs = selection.overloadMs(candidate);
      return restMs > 0 ? { state: 'resting', waitMs: restMs } : { state: 'ready' };
    }
    default:
      return eligibility satisfies never;
  }
}
