// What the admin API needs of the rest of the gateway.

import type { AccessControl } from '../access/access.ts';
import type { BudgetState, levelOf } from '../access/budgets.ts';
import type { Account, TokenSource } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import type { AccountTrials } from '../accounts/health.ts';
import type { ListedModel } from '../canonical/model.ts';
import type { LiveConfig } from '../config/live.ts';
import type { Dispatcher, ProviderRule } from '../dispatch/dispatcher.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Sentence } from '../lib/localized-message.ts';
import type { WarnLog } from '../lib/log.ts';
import type { LogFiles } from '../monitor/log-files.ts';
import type { Monitor } from '../monitor/monitor.ts';
import type { RequestFigures } from '../monitor/request-store.ts';
import type { AccountTransfer } from '../oauth/imports.ts';
import type { Revoker } from '../oauth/revoker.ts';
import type { SignIns } from '../oauth/sign-ins.ts';
import type { Pool } from '../pool/create-pool.ts';
import type { Billing } from '../pricing/charges.ts';
import type { OwnPrices, Price } from '../pricing/prices.ts';
import type { Protocols } from '../protocols/index.ts';
import type { IsProtected } from '../quota/protection.ts';
import type { QuotaRefresher } from '../quota/refresher.ts';
import type { Router } from '../routing/router.ts';

export interface AdminOptions {
  readonly version: string;
  readonly clock: Clock;
  /** Keys the hashes that revisions of config sections are; the same on all replicas. */
  readonly revisionKey: string;
  readonly book: AccountBook;
  readonly upstreams: UpstreamDirectory;
  readonly tokens: TokenSource;
  readonly pool: Pick<
    Pool,
    'overloads' | 'lastUsedAt' | 'conditionOf' | 'nameOf' | 'unservedModels'
  > & {
    readonly sessions: Pick<Pool['sessions'], 'sessions' | 'bound' | 'forget' | 'forgetAll'>;
  };
  readonly trials: Pick<AccountTrials, 'note' | 'last' | 'forget'>;
  readonly quota: Pick<QuotaRefresher, 'refreshNow'>;
  readonly isProtected: IsProtected;
  readonly prices: {
    own(): OwnPrices;
    find(upstreamId: string, modelId: string): Price | undefined;
  };
  /** How an account is paid where it does not say. */
  readonly usualBilling: (record: Account['record']) => Billing;
  /** The key of model requests and the password of the console, in force now: neither is a key of an upstream. */
  readonly ownKeys: () => readonly (string | undefined)[];
  readonly signIns: SignIns;
  /** How sign-ins go, for whichever process is asked. */
  readonly signInProgress: {
    put(state: string, progress: SignInProgress, lifetimeMs: number): Promise<void>;
    get(state: string): Promise<SignInProgress | undefined>;
    /** Forgets it. */
    take(state: string): Promise<SignInProgress | undefined>;
  };
  /** Where this gateway takes the browser back: `http://127.0.0.1:<port>/oauth/callback`. */
  readonly callbackUrl: () => string;
  readonly transfer: AccountTransfer;
  readonly revoker: Revoker;
  /** Its updates seal and hash what must not be written in plain. */
  readonly config: Pick<LiveConfig, 'raw' | 'reload' | 'preview'> & {
    update(patch: JsonObject): Promise<unknown>;
  };
  /** What flags and the environment say; no secrets. */
  readonly origins: Pick<LiveConfig, 'overrides' | 'variables'>;
  /** Who is let in; the one of the server. */
  readonly access: AccessControl;
  readonly router: Pick<Router, 'explain' | 'explainTarget' | 'meant'>;
  /** The external provider as the settings are now. */
  readonly provider: () => ProviderRule;
  readonly models: { list(): Promise<readonly ListedModel[]> };
  readonly protocols: Pick<Protocols, 'byName'>;
  readonly dispatcher: Pick<Dispatcher, 'explain'>;
  readonly log: WarnLog;
}

export type SignInProgress =
  | { readonly kind: 'pending'; readonly expiresAt: number }
  | { readonly kind: 'done'; readonly accountId: string }
  | { readonly kind: 'failed'; readonly message: Sentence };

export interface AccountFacts
  extends Pick<
    AdminOptions,
    'book' | 'clock' | 'isProtected' | 'pool' | 'trials' | 'usualBilling'
  > {
  readonly upstreams: { get(id: string): unknown };
}

export interface UpstreamDirectory {
  /** In the order of the settings. */
  list(): readonly UpstreamChoice[];
  get(id: string): ModelLister | undefined;
  /** The proxy of the gateway on the way there, without its credential. */
  proxyOf(id: string): { readonly address: string; readonly source: string } | undefined;
}

interface UpstreamChoice {
  readonly id: string;
  readonly profile: string;
  /** Signing in needs a client id. */
  readonly oauth:
    | { readonly clientId: string; readonly redirectUrl?: string | undefined }
    | undefined;
}

export interface ModelLister {
  listModels(access: Access, signal: AbortSignal): Promise<readonly ListedByAccount[]>;
  /** Asks a model for a one-token answer, at its cost; undefined when none answers. @throws GatewayError */
  answerOnce(
    access: Access,
    asked: { readonly models: readonly ListedByAccount[]; readonly signal: AbortSignal },
  ): Promise<string | undefined>;
}

export type Access = Awaited<ReturnType<TokenSource['accessFor']>>;
export type ListedByAccount =
  NonNullable<Account['models']> extends ReadonlyMap<string, infer Model> ? Model : never;

export interface MonitorRouteOptions
  extends Pick<
    AdminOptions,
    'book' | 'clock' | 'isProtected' | 'pool' | 'protocols' | 'trials' | 'usualBilling' | 'version'
  > {
  readonly upstreams: AccountFacts['upstreams'];
  readonly monitor: Monitor;
  readonly requestFigures: RequestFigures;
  /** Until when bodies are kept besides, at all processes. */
  readonly bodyRecording: {
    /** Milliseconds since the epoch; 0 for never. */
    until(): number;
    setUntil(at: number): Promise<unknown>;
  };
  readonly metrics: () => Promise<string>;
  readonly dispatcher: Pick<Dispatcher, 'generate'>;
  readonly createId: (prefix: string) => string;
  /** Undefined where no log is kept in files. */
  readonly logFiles: Pick<LogFiles, 'read'> | undefined;
  readonly keyName: (keyId: string) => string | undefined;
  readonly facts: () => GatewayFacts;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

interface BudgetFact {
  readonly state: BudgetState;
  readonly subjectName: string;
  readonly level: ReturnType<typeof levelOf>;
}

export interface GatewayFacts {
  readonly isSandbox: boolean;
  /** Where it listens, such as `http://127.0.0.1:8045`. */
  readonly address: string;
  readonly authMode: 'off' | 'auto' | 'strict';
  readonly isLoopback: boolean;
  /** What opens the console: a password of its own, the gateway key for want of one, or nothing is asked. */
  readonly consolePassword: 'own' | 'gateway-key' | 'none';
  /** Of HTTPS; undefined where the gateway listens in plain HTTP. */
  readonly certificate?:
    | { readonly expiresAt: number; readonly problem: Sentence | undefined }
    | undefined;
  /** Of upstreams that speak HTTPS, as they were last looked at. */
  readonly upstreamCertificates?:
    | readonly { readonly upstream: string; readonly expiresAt: number }[]
    | undefined;
  /** Of the disk of the data folder; absent where it cannot be told. */
  readonly disk?: { readonly freeBytes: number } | undefined;
  /** Why the log cannot be written to its files, such as `ENOSPC`; absent while it can. */
  readonly logFault?: string | undefined;
  /** What is wrong with the config file while older settings stay in force; no secrets. */
  readonly configProblems: readonly Sentence[];
  /** What was set but does nothing, a sentence each; no secrets. */
  readonly warnings: readonly Sentence[];
  /** False while everything is in memory, because the disk had no room at the start. */
  readonly isLasting: boolean;
  /** Whether PostgreSQL answers, and since when in milliseconds since the epoch; absent where there is none. */
  readonly database?: { readonly isReachable: boolean; readonly since: number } | undefined;
  /** Those there are, each with what its key or team is called; absent where there are none. */
  readonly budgets?: readonly BudgetFact[] | undefined;
  /** The names of all gateways and workers that serve together, as far as is known; absent where this is alone. */
  readonly replicas?: readonly string[] | undefined;
  /** A version that is published and newer than this one; absent where the registry is not asked. */
  readonly newerVersion?: string | undefined;
  /** Whether this process reaches the others, and why not where that is said. */
  readonly cluster?:
    | { readonly isConnected: boolean; readonly refusal?: string | undefined }
    | undefined;
}
