// Access control: IP rules, API keys, console sign-in and the access log.

import type { Cluster } from '../cluster/cluster.ts';
import { Counters, LocalBank } from '../cluster/counters.ts';
import type { Clock } from '../lib/clock.ts';
import type { LineLog } from '../lib/log.ts';
import { type AccessLogStore, createAccessLog, type RedactorFor } from './access-log.ts';
import type { ClientKeyStore, StoredKey } from './api-key.ts';
import { ApiKeys } from './api-keys.ts';
import { type AuditStore, createAuditLog } from './audit-log.ts';
import {
  type BudgetStore,
  Budgets,
  MAX_PERIOD_MS,
  type NewBudget,
  type PeriodSpan,
  type StoredBudgets,
} from './budgets.ts';
import {
  type ConsoleSession,
  type ConsoleSessionStore,
  ConsoleSessions,
  createConsoleLogin,
} from './console-sign-in.ts';
import { AddressFilter, type AddressFilterSettings, type AddressRuleStore } from './ip-rules.ts';
import { createGuessLimit } from './key-guess-limit.ts';
import { createMachineToken, createPasswordHasher } from './password-hash.ts';
import {
  createInvitations,
  type InvitationStore,
  People,
  type PeopleStore,
  type Person,
} from './people.ts';
import { createProviderSignIn, type ProviderSignInParts } from './provider-sign-in.ts';

export type AccessControl = Awaited<ReturnType<typeof loadAccessControl>>;

interface AccessStores {
  readonly clientKeys: ClientKeyStore;
  readonly budgets: BudgetStore;
  readonly addressRules: AddressRuleStore;
  readonly accessLog: AccessLogStore;
  readonly audit: AuditStore;
  readonly consoleSessions: ConsoleSessionStore;
  readonly people: PeopleStore;
  readonly invitations: InvitationStore;
}

export interface AccessSettings {
  readonly addressFilter: AddressFilterSettings;
  /** In plain or as a hash; undefined while nothing is configured, then only local requests pass. */
  readonly consolePassword: string | undefined;
  readonly sessionIdleMs: number;
}

export interface AccessControlOptions {
  readonly stores: AccessStores;
  readonly settings: () => AccessSettings;
  /** Waits while the console password is being hashed where it is kept. */
  readonly passwordSettled: () => Promise<void>;
  /** Bytes for one purpose, the same for the life of the stores. */
  readonly derive: (purpose: string) => Buffer;
  /** What the digests of client keys are made with; derived when absent. */
  readonly digestKey?: Buffer | undefined;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  readonly cluster?: Cluster | undefined;
  readonly provider: ProviderSignInParts;
  /** What records say was used in a period of what a budget counts. */
  readonly usedIn?: ((budget: NewBudget, period: PeriodSpan) => Promise<number>) | undefined;
  /** Keeps credentials out of the access log. */
  readonly redactorFor: RedactorFor;
  readonly log: LineLog;
}

/** @throws StoreError */
export async function loadAccessControl(options: AccessControlOptions) {
  const { stores, settings, derive, clock, createId, redactorFor, log } = options;
  const { cluster } = options;
  const notices = cluster?.notices;
  const [rules, storedKeys, storedBudgets, storedSessions, storedPeople] = await Promise.all([
    stores.addressRules.list(),
    stores.clientKeys.list(),
    stores.budgets.list(clock.now() - MAX_PERIOD_MS),
    stores.consoleSessions.list(),
    stores.people.list(),
  ]);
  const filterSettings = () => settings().addressFilter;
  const addresses = new AddressFilter(
    { store: stores.addressRules, settings: filterSettings, clock, createId, notices, log },
    rules,
  );
  const limits = openLimits(options, storedBudgets, storedKeys);
  const { keys, budgets } = limits;
  const { sessions, ...entry } = openConsole(options, storedSessions, storedPeople);
  const accessLog = createAccessLog({ store: stores.accessLog, clock, redactorFor, log });
  return {
    addresses,
    keys,
    budgets,
    guesses: createGuessLimit({
      clock,
      shared: notices && { notices, digestKey: derive('wrong client keys v1') },
    }),
    ...entry,
    accessLog,
    audit: createAuditLog({ store: stores.audit, clock, redactorFor, log }),
    clock,
    /** Saves what has gathered; the stores can be closed then. */
    async close(): Promise<void> {
      entry.people.close();
      await Promise.all([sessions.close(), addresses.close(), limits.close(), accessLog.close()]);
    },
  };
}

/** Who signs in to the console, and how. */
function openConsole(
  options: AccessControlOptions,
  storedSessions: readonly ConsoleSession[],
  storedPeople: readonly Person[],
) {
  const { stores, settings, passwordSettled, derive, clock, createId, cluster, log } = options;
  const notices = cluster?.notices;
  const hasher = createPasswordHasher();
  const idleMs = () => settings().sessionIdleMs;
  const sessions = new ConsoleSessions(
    { store: stores.consoleSessions, clock, idleMs, notices, log },
    storedSessions,
  );
  const people = new People(
    {
      ...{ store: stores.people, clock, createId, notices, log },
      hasPassword: () => settings().consolePassword !== undefined,
    },
    storedPeople,
  );
  const invitations = createInvitations({ store: stores.invitations, clock, createId });
  const login = createConsoleLogin({
    ...{ passwordSettled, hasher, sessions, people, clock, cluster },
    password: () => settings().consolePassword,
    machineToken: createMachineToken(derive),
    tagKey: derive('console sessions v1'),
  });
  const provider = createProviderSignIn({ ...options.provider, people, invitations, log });
  return { hasher, sessions, people, invitations, login, provider };
}

/** The keys and the budgets, which count by the same counters. */
function openLimits(
  options: AccessControlOptions,
  storedBudgets: StoredBudgets,
  storedKeys: readonly StoredKey[],
) {
  const { stores, derive, clock, createId, cluster, usedIn, log } = options;
  const { digestKey = derive(CLIENT_KEYS) } = options;
  const counters = new Counters({ bank: cluster?.bank ?? new LocalBank(clock), clock });
  const shared = { clock, createId, cluster, log, counters };
  const budgets = new Budgets({ store: stores.budgets, usedIn, ...shared }, storedBudgets);
  const keys = new ApiKeys({ store: stores.clientKeys, digestKey, budgets, ...shared }, storedKeys);
  return {
    budgets,
    keys,
    async close(): Promise<void> {
      counters.close();
      await Promise.all([keys.close(), budgets.close()]);
    },
  };
}

/** What the digests of client keys are derived for, until the secret key is changed. */
export const CLIENT_KEYS = 'client keys v1';
