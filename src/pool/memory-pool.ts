// The account pool held in memory: seeded once, healthy again after a restart.

import type { UpstreamFailure } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { checkEligibility } from './eligibility.ts';
import { nextHealth } from './health.ts';
import { createModelLists } from './model-lists.ts';
import { type Finding, noneLeft } from './none-left.ts';
import { createOverloads, type Overloads } from './overload.ts';
import type { Considered, Lease, LeaseOutcome, LeaseRequest, LeaseResult, Pool } from './pool.ts';
import { type AccountSeed, PooledAccount } from './pooled-account.ts';
import { chooseAccount } from './selection/choose.ts';
import { createSessionBindings, type SessionBindings } from './session-bindings.ts';

export interface MemoryPoolOptions {
  readonly accounts: readonly AccountSeed[];
  readonly clock: Clock;
  readonly random: () => number;
  /** Told of model lists that could not be read. */
  readonly onModelListFailure: (label: string, error: unknown) => void;
}

export function createMemoryPool(options: MemoryPoolOptions): Pool {
  const { clock, random } = options;
  const accounts = options.accounts.map((seed) => new PooledAccount(seed));
  const lists = createModelLists({ accounts, clock, onFailure: options.onModelListFailure });
  const overloads = createOverloads();
  const bindings = createSessionBindings({ clock });
  return {
    lease: (request) => lease(request, { accounts, overloads, bindings, clock, random }),
    accounts: () => accounts.map((account) => account.view()),
    describe(model) {
      for (const account of accounts) {
        const id = account.modelIdFor(model);
        const listed = id === undefined ? undefined : account.models?.get(id);
        if (listed !== undefined) return listed;
      }
      return undefined;
    },
    offered: () => lists.offered(),
    ensureModels: () => lists.ensure(),
    async close() {
      lists.close();
    },
  };
}

interface PoolState {
  readonly accounts: readonly PooledAccount[];
  readonly overloads: Overloads;
  readonly bindings: SessionBindings;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Checked {
  readonly account: PooledAccount;
  readonly modelId: string | undefined;
  readonly eligibility: Finding;
}

function lease(request: LeaseRequest, state: PoolState): LeaseResult {
  if (state.accounts.length === 0) return { kind: 'none', reason: 'no-accounts', considered: [] };
  const checked = state.accounts.map((account) => check(account, { request, state }));
  const eligible = checked.filter(({ eligibility }) => eligibility.kind === 'eligible');
  const chosen = chooseAccount(
    eligible.map(({ account }) => account.candidate()),
    { request, boundAccountId: boundAccount(request, state), random: state.random },
  );
  const winner = eligible.find(({ account }) => account.seed.id === chosen?.accountId);
  const considered = checked.map((one) => verdictOf(one, winner));
  if (winner?.modelId === undefined)
    return noneLeft(
      checked.map(({ eligibility }) => eligibility),
      considered,
    );
  bindSession(request, { state, winner, checked });
  return {
    kind: 'lease',
    lease: openLease({
      request,
      state,
      considered,
      account: winner.account,
      modelId: winner.modelId,
    }),
  };
}

function check(
  account: PooledAccount,
  { request, state }: { readonly request: LeaseRequest; readonly state: PoolState },
): Checked {
  const modelId = account.modelIdFor(request.model);
  const now = state.clock.now();
  const overloadMs =
    modelId === undefined ? 0 : state.overloads.remainingMs(account.seed.upstream.id, modelId, now);
  const eligibility = checkEligibility({ health: account.health, modelId, overloadMs, now });
  const isTried = eligibility.kind === 'eligible' && request.exclude.has(account.seed.id);
  if (isTried)
    return { account, modelId, eligibility: { kind: 'tried', verdict: 'already tried' } };
  return { account, modelId, eligibility };
}

function boundAccount(request: LeaseRequest, { bindings }: PoolState): string | undefined {
  if (request.session === undefined) return undefined;
  return bindings.find(request.clientKeyId, request.session);
}

function verdictOf(one: Checked, winner: Checked | undefined): Considered {
  const accountId = one.account.seed.id;
  if (one === winner) return { accountId, verdict: 'chosen' };
  const { eligibility } = one;
  const verdict = eligibility.kind === 'eligible' ? 'another was preferred' : eligibility.verdict;
  return { accountId, verdict };
}

/** A short cooldown is escaped softly (the binding stays); a dead or new account is bound anew. */
function bindSession(
  request: LeaseRequest,
  { state, winner, checked }: { state: PoolState; winner: Checked; checked: readonly Checked[] },
): void {
  if (request.session === undefined) return;
  const bound = boundAccount(request, state);
  const holder = checked.find(({ account }) => account.seed.id === bound);
  const kind = holder?.eligibility.kind;
  const accountId =
    bound !== undefined && (kind === 'waiting' || kind === 'tried')
      ? bound
      : winner.account.seed.id;
  state.bindings.bind(request.clientKeyId, request.session, accountId);
}

interface OpenLease {
  readonly request: LeaseRequest;
  readonly state: PoolState;
  readonly considered: readonly Considered[];
  readonly account: PooledAccount;
  readonly modelId: string;
}

function openLease({ request, state, considered, account, modelId }: OpenLease): Lease {
  account.inFlight += 1;
  account.lastUsedAt = state.clock.now();
  let isOpen = true;
  const wanted = request.preferredAccount?.toLowerCase();
  return {
    account: account.view(),
    upstream: account.seed.upstream,
    modelId,
    listedModel: account.models?.get(modelId),
    considered,
    preferenceFollowed: wanted === undefined || account.seed.label.toLowerCase() === wanted,
    canRefresh: false,
    access: () => Promise.resolve(account.seed.access),
    release(outcome) {
      if (!isOpen) return;
      isOpen = false;
      account.inFlight -= 1;
      settle(account, { outcome, modelId, state });
    },
  };
}

function settle(
  account: PooledAccount,
  { outcome, modelId, state }: { outcome: LeaseOutcome; modelId: string; state: PoolState },
): void {
  const upstreamId = account.seed.upstream.id;
  const moment = { now: state.clock.now(), jitter: state.random() };
  if (outcome.kind === 'success') {
    account.health = nextHealth(account.health, { kind: 'success', model: modelId }, moment);
    state.overloads.clear(upstreamId, modelId);
  }
  if (outcome.kind !== 'failure') return;
  const { failure } = outcome;
  noteOverload(failure, { upstreamId, modelId, state });
  account.health = nextHealth(account.health, { kind: 'failure', model: modelId, failure }, moment);
}

function noteOverload(
  failure: UpstreamFailure,
  { upstreamId, modelId, state }: { upstreamId: string; modelId: string; state: PoolState },
): void {
  if (failure.kind !== 'overloaded') return;
  const { retryAfterMs } = failure;
  state.overloads.add(upstreamId, modelId, { now: state.clock.now(), retryAfterMs });
}
