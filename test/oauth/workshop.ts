// Everything a sign-in test needs: a clock, a store, a book, a provider, and a log that is kept.

import { inspect } from 'node:util';
import type { Account, Credential } from '../../src/accounts/account.ts';
import { type AccountBook, createAccountBook } from '../../src/accounts/account-book.ts';
import type { AccountStore } from '../../src/accounts/account-store.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { LeaseStore } from '../../src/cluster/leases.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import { createTokenSource, type OAuthTokenSource } from '../../src/oauth/account-tokens.ts';
import { createSignIns, type PendingSignIn, type SignIns } from '../../src/oauth/sign-ins.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import {
  createFakeIdentityProvider,
  type FakeIdentityProvider,
  type FakeProviderOptions,
} from '../support/fake-identity-provider.ts';
import { createMemoryAccountStore } from '../support/memory-account-store.ts';
import { openSealedValues } from '../support/sealed-values.ts';

export interface Workshop {
  readonly clock: FakeClock;
  readonly provider: FakeIdentityProvider;
  readonly store: AccountStore;
  readonly book: AccountBook;
  readonly tokens: OAuthTokenSource;
  readonly signIns: SignIns;
  /** Moves time on once all that can settle has; a call takes more turns than the clock waits for. */
  pass(byMs: number): Promise<void>;
  /** All that was logged, as text. */
  logged(): string;
  add(label: string, credential: Credential): Promise<Account>;
  /**
   * As a restart does, or another replica: nothing but the store is kept.
   * @param own stores of its own on the same data, and how far its clock is ahead
   */
  restart(
    own?: Pick<WorkshopOptions, 'store' | 'leases'> & { aheadMs?: number },
  ): Promise<Workshop>;
}

export type WorkshopOptions = Omit<FakeProviderOptions, 'now'> & {
  readonly store?: AccountStore;
  readonly startAt?: number;
  /** Where each workshop is a replica of its own. */
  readonly leases?: LeaseStore | undefined;
  readonly cluster?: Pick<Cluster, 'values'> | undefined;
};

export const UPSTREAM = 'models';
export const NEVER = new AbortController().signal;

export async function openWorkshop(options: WorkshopOptions = {}): Promise<Workshop> {
  const clock = createFakeClock(options.startAt);
  const provider = createFakeIdentityProvider({ ...options, now: () => clock.now() });
  const { store = createMemoryAccountStore(), leases } = options;
  const { cluster = createMemoryCluster({ replica: 'alone', clock, onFault }) } = options;
  return openOn({ clock, provider, store, leases, cluster });
}

type Base = Pick<Workshop, 'clock' | 'provider' | 'store'> &
  Pick<WorkshopOptions, 'leases'> & { readonly cluster: Pick<Cluster, 'values'> };

let replicas = 0;

async function openOn(base: Base): Promise<Workshop> {
  const { clock, provider, store, leases, cluster } = base;
  replicas += 1;
  const turns = leases && { leases, holder: `replica ${replicas}` };
  const lines: string[] = [];
  const note = (fields: object, message: string): void => {
    lines.push(`${message} ${inspect(fields, { depth: 9 })}`);
  };
  const log = { info: note, warn: note, error: note };
  const random = (): number => 0.5;
  let serial = 0;
  const createId = (prefix: string): string => {
    serial += 1;
    return `${prefix}${clock.now()}-${serial}`;
  };
  const book = createAccountBook({
    store,
    stored: await store.list(),
    seeds: [],
    clock,
    random,
    createId,
    log,
  });
  const oauth = { get: (id: string) => (id === UPSTREAM ? provider.settings : undefined) };
  const { fetch } = provider;
  const tokens = createTokenSource({ book, oauth, clock, random, fetch, log, turns });
  const signIns = createSignIns({
    book,
    oauth,
    clock,
    fetch,
    log,
    pending: openSealedValues<PendingSignIn>({ values: cluster.values, clock }),
    onCredentialReplaced: (id) => tokens.forget(id),
  });
  return {
    ...base,
    book,
    tokens,
    signIns,
    async pass(byMs) {
      await new Promise(setImmediate);
      await clock.advance(byMs);
      await new Promise(setImmediate);
    },
    logged: () => lines.join('\n'),
    add: (label, credential) => book.add({ upstreamId: UPSTREAM, label, credential }),
    restart: ({ aheadMs = 0, ...own } = {}) =>
      openOn({ ...base, ...own, clock: { ...clock, now: () => clock.now() + aheadMs } }),
  };
}

function onFault(error: unknown): never {
  throw error;
}
