// The accounts of this process: stored ones with those of the environment and the sandbox, always current.

import { clientError, type GatewayError } from '../canonical/error.ts';
import type { UpstreamModel } from '../canonical/model.ts';
import type { Cluster, Topic } from '../cluster/cluster.ts';
import type { createHearing } from '../cluster/hearing.ts';
import { StoredCopy } from '../cluster/stored-copy.ts';
import type { Clock } from '../lib/clock.ts';
import { createListeners, type Listeners } from '../lib/listeners.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import {
  type Account,
  type AccountOrigin,
  type AccountRecord,
  type Credential,
  isSameLabel,
  type QuotaReading,
  type VersionedCredential,
} from './account.ts';
import {
  type AccountRecordChange,
  type AccountStore,
  type StoredAccount,
  StoreError,
} from './account-store.ts';
import {
  type AccountStatus,
  HEALTHY,
  type HealthEvent,
  isUneventful,
  nextHealth,
} from './health.ts';
import {
  type AccountLog,
  createStateSaver,
  type SavedPart,
  type StateSaver,
} from './state-saver.ts';

/** Reads are synchronous. Changes are durable once they resolve; health and quotas soon after. */
export type AccountBook = Pick<Book, keyof Book>;

type AccountPlan = Partial<Pick<AccountRecord, 'projectId' | 'tier'>>;

export interface NewAccount {
  readonly upstreamId: string;
  readonly label: string;
  readonly projectId?: string | undefined;
  readonly tier?: AccountRecord['tier'];
  readonly billing?: AccountRecord['billing'];
  readonly priority?: number | undefined;
  readonly notes?: string | undefined;
  readonly proxyUrl?: string | undefined;
  readonly credential: Credential;
}

/** Accounts that come with the process: they are kept in memory only. */
export interface SeedAccount extends NewAccount {
  readonly id: string;
  readonly origin: Exclude<AccountOrigin, 'stored'>;
}

export type BookChange =
  | { readonly kind: 'added' | 'removed'; readonly account: Account }
  | { readonly kind: 'record' | 'health' | 'models' | 'quotas'; readonly account: Account }
  /** It has a new credential from a person, or another service: what was known of it says nothing of it. */
  | { readonly kind: 'reauthenticated'; readonly account: Account };

interface BookOptions {
  /** Undefined when accounts are not kept: then there are the seeds alone, and none can be added. */
  readonly store: AccountStore | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly createId: (prefix: string) => string;
  /** A model's name as it may be kept; as it is where this is absent. */
  readonly cleanModel?: ((model: string) => string) | undefined;
  /** To the other processes with the same accounts; without it there are none. */
  readonly notices?: Cluster['notices'] | undefined;
  /** Of those who take the notices. */
  readonly hearing?: Pick<ReturnType<typeof createHearing>, 'heard' | 'close'> | undefined;
  readonly log: AccountLog;
}

/** What one process tells the others of an account. Times in it are of its own clock. */
type AccountNotice =
  /** Added, changed or removed: the store says how. */
  | { readonly kind: 'stored' }
  | {
      readonly kind: 'health';
      readonly id: string;
      readonly event: HealthEvent;
      readonly jitter: number;
    }
  | {
      readonly kind: 'quotas';
      readonly id: string;
      readonly readings: readonly (readonly [string, QuotaReading | undefined])[];
    };

const TOPIC: Topic<AccountNotice> = { name: 'accounts 1' };

/** What a person decided of an account that comes with the process: nothing stored says it. The latest counts. */
type DecisionNotice =
  /** By who begins, or may have missed some. */
  | { readonly kind: 'asked' }
  | {
      readonly kind: 'decided';
      readonly id: string;
      readonly event: Decision;
      readonly agoMs: number;
    };

type Decision = Extract<HealthEvent, { readonly kind: 'disable' | 'enable' }>;

const DECISIONS: Topic<DecisionNotice> = { name: 'account decisions 1' };
/** What a process told of a status it has stored by then. */
const SAVED_BY_NOW_MS = 3000;

interface LoadedAccount {
  readonly account: Account;
  readonly proxyUrl: string | undefined;
  /** Of accounts that come with the process; the others' stay in storage. */
  readonly credential: Credential | undefined;
}

class Book {
  readonly #options: BookOptions;
  #accounts = new Map<string, Account>();
  readonly #proxyUrls = new Map<string, string>();
  readonly #seedCredentials = new Map<string, VersionedCredential>();
  readonly #listeners: Listeners<BookChange>;
  readonly #saver: StateSaver | undefined;
  readonly #copy: StoredCopy<readonly StoredAccount[]> | undefined;
  readonly #endings: readonly (() => void)[];
  /** Id of an account that comes with the process → what a person decided last, and when. */
  readonly #decisions = new Map<string, { readonly event: Decision; readonly at: number }>();
  #list: readonly Account[] | undefined;
  readonly #leaving = new Set<string>();
  /** Others may have changed the status of accounts without this process hearing of it. */
  #missedStatuses = false;
  #isUnheard = false;
  #hearing: Promise<unknown> | undefined;

  constructor(accounts: readonly LoadedAccount[], options: BookOptions) {
    this.#options = options;
    this.#listeners = createListeners((error) =>
      options.log.error({ error }, 'A listener of the account book failed.'),
    );
    const { store } = options;
    const find = (id: string) => this.#accounts.get(id);
    this.#saver = store && createStateSaver({ ...options, store, find });
    this.#copy =
      store &&
      new StoredCopy({
        ...{ what: 'Accounts', log: options.log, clock: options.clock },
        read: () => store.list(),
        take: (stored) => this.#takeStored(stored),
      });
    this.#endings = [
      options.notices?.listen(TOPIC, {
        take: (notice) => this.#takeNotice(notice),
        catchUp: () => {
          this.#missedStatuses = true;
          void this.#copy?.reread();
        },
      }),
      options.notices?.listen(DECISIONS, {
        take: (notice) => this.#takeDecision(notice),
        catchUp: () => this.#askForDecisions(),
      }),
    ].filter((end) => end !== undefined);
    for (const { account, proxyUrl, credential } of accounts) {
      const { id } = account.record;
      if (this.#accounts.has(id)) throw new Error(`Two accounts have the id ${id}.`);
      this.#accounts.set(id, account);
      this.#setProxyUrl(id, proxyUrl);
      if (credential !== undefined) this.#seedCredentials.set(id, { credential, version: 1 });
    }
    this.#askForDecisions();
  }

  /** In the order of their creation. The array is replaced, never changed. */
  list(): readonly Account[] {
    this.#list ??= [...this.#accounts.values()];
    return this.#list;
  }

  find(id: string): Account | undefined {
    return this.#accounts.get(id);
  }

  /** As `find`, also where another process stored it a moment ago. */
  async lookUp(id: string): Promise<Account | undefined> {
    const find = (): Account | undefined => this.find(id);
    return this.#copy === undefined ? find() : this.#copy.find(find);
  }

  /** @throws StoreError `conflict` when the label is taken in its upstream, `unavailable` without storage */
  async add(account: NewAccount): Promise<Account> {
    const store = this.#requireStore();
    const { credential, proxyUrl, upstreamId, projectId, tier, billing, notes } = account;
    const label = account.label.trim();
    refuseSeedLabel(this.list(), { upstreamId, label });
    const { record } = await store.insert({
      record: {
        id: this.#options.createId('acc_'),
        upstreamId,
        kind: credential.kind,
        label,
        projectId,
        tier,
        billing,
        priority: account.priority ?? 0,
        notes,
        createdAt: this.#options.clock.now(),
      },
      proxyUrl,
      credential,
    });
    this.#setProxyUrl(record.id, proxyUrl);
    const added = newAccount(record, 'stored');
    this.#put(added, 'added');
    this.#shareStored();
    return added;
  }

  /** @throws StoreError; `read-only` accounts (environment, sandbox) are a GatewayError for the caller */
  async change(
    id: string,
    change: AccountRecordChange,
    expectedRevision?: number,
  ): Promise<Account> {
    const { record } = this.#requireStored(id);
    const label = change.label?.trim();
    refuseSeedLabel(this.list(), { upstreamId: record.upstreamId, label: label ?? record.label });
    const stored = await this.#requireStore().update(id, { ...change, label }, expectedRevision);
    const current = this.#requireStored(id);
    // Of two changes under way together, the later one may come back first.
    if (stored.record.revision <= current.record.revision) return current;
    this.#setProxyUrl(id, stored.proxyUrl);
    const changed = { ...current, record: stored.record };
    this.#put(changed, 'record');
    this.#shareStored();
    return changed;
  }

  /** Prefers the first of these most, and none that is not among them. @throws StoreError */
  async order(ids: readonly string[]): Promise<void> {
    await this.#requireStore().order(ids);
    this.#shareStored();
    await this.#copy?.reread();
  }

  /** Resolves when the account is gone from storage; it is out of `list` before. */
  async remove(id: string): Promise<void> {
    const account = this.#requireStored(id);
    const store = this.#requireStore();
    const proxyUrl = this.#proxyUrls.get(id);
    const before = this.list();
    this.#leaving.add(id);
    this.#accounts.delete(id);
    this.#proxyUrls.delete(id);
    this.#tell({ kind: 'removed', account });
    try {
      await store.remove(id);
      this.#shareStored();
    } catch (error) {
      this.#setProxyUrl(id, proxyUrl);
      // In its old place, before what was added meanwhile.
      const all = new Map(this.#accounts).set(id, account);
      const ids = new Set([...before.map(({ record }) => record.id), ...all.keys()]);
      this.#accounts = new Map(
        [...ids].flatMap((one) => {
          const current = all.get(one);
          return current === undefined ? [] : [[one, current]];
        }),
      );
      this.#tell({ kind: 'added', account });
      throw error;
    } finally {
      this.#leaving.delete(id);
    }
  }

  /** Puts an account of the settings in the place of one with its id, which begins anew. */
  putSeed(seed: SeedAccount): void {
    const [loaded] = loadSeeds([seed], this.#options.clock);
    if (loaded === undefined) return;
    this.removeSeed(seed.id);
    this.#setProxyUrl(seed.id, loaded.proxyUrl);
    this.#seedCredentials.set(seed.id, { credential: seed.credential, version: 1 });
    this.#put(loaded.account, 'added');
  }

  /** Unknown ids are ignored. */
  removeSeed(id: string): void {
    const account = this.#accounts.get(id);
    if (account === undefined || account.origin === 'stored') return;
    this.#accounts.delete(id);
    this.#proxyUrls.delete(id);
    this.#seedCredentials.delete(id);
    this.#decisions.delete(id);
    this.#tell({ kind: 'removed', account });
  }

  /** Puts an event through the account's state machine; unknown ids are ignored. */
  apply(id: string, event: HealthEvent): void {
    const account = this.#accounts.get(id);
    const { clock, random, cleanModel } = this.#options;
    if (account === undefined || isUneventful(account.health, event, clock.now())) return;
    // What a client named as its model may be a secret, and is kept with the account.
    const named = 'model' in event ? event.model : undefined;
    const model = named === undefined ? undefined : (cleanModel?.(named) ?? named);
    const cleaned = model === named || model === undefined ? event : { ...event, model };
    const jitter = random();
    const changed = this.#applyEvent(account, cleaned, { jitter });
    if (changed !== undefined) this.#saveHealth(changed, account);
    if (changed !== undefined || event.kind === 'reauthenticated') {
      this.#share({ kind: 'health', id, event: cleaned, jitter });
      this.#isUnheard ||= event.kind === 'failure';
    }
  }

  /** Resolves when all others know of the failures of accounts, or had the time to learn of them. */
  async heard(): Promise<void> {
    if (this.#isUnheard) this.#hearing = this.#options.hearing?.heard();
    this.#isUnheard = false;
    await this.#hearing;
  }

  /** The account as it is now; undefined when the event changes nothing. */
  #applyEvent(
    account: Account,
    event: HealthEvent,
    { now = this.#options.clock.now(), jitter = 0 },
  ): Account | undefined {
    const { id } = account.record;
    const health = nextHealth(account.health, event, { now, jitter });
    this.#noteDecision(account, event, now);
    const changed = health === account.health ? undefined : { ...account, health };
    if (changed !== undefined) {
      if (account.health.status.kind !== health.status.kind) this.#logStatus(changed);
      this.#put(changed, 'health');
    }
    if (event.kind === 'reauthenticated') {
      this.#tell({ kind: 'reauthenticated', account: this.#accounts.get(id) ?? account });
    }
    return changed;
  }

  /** The plan as the upstream tells it, kept for stored accounts only. @throws StoreError */
  async learnPlan(id: string, plan: AccountPlan): Promise<void> {
    const account = this.#accounts.get(id);
    if (account === undefined) return;
    if (account.origin === 'stored') await this.change(id, plan);
    else this.#put({ ...account, record: { ...account.record, ...plan } }, 'record');
  }

  setModels(id: string, models: ReadonlyMap<string, UpstreamModel> | undefined): void {
    const account = this.#accounts.get(id);
    if (account === undefined || isSameList(account.models, models)) return;
    this.#put({ ...account, models }, 'models');
  }

  /** Replaces these readings; undefined removes one. Figures of the upstream itself end stale cooldowns. */
  setQuotas(id: string, readings: ReadonlyMap<string, QuotaReading | undefined>): void {
    const account = this.#accounts.get(id);
    if (account === undefined || readings.size === 0) return;
    const changed = this.#takeReadings(account, readings);
    // Rates are over sooner than a start takes, and every process reads those of its own answers.
    if ([...readings.values()].every((reading) => reading?.source === 'rate')) return;
    this.#save(changed, 'quotas');
    if (changed.health !== account.health) this.#saveHealth(changed, account);
    this.#share({ kind: 'quotas', id, readings: [...readings] });
  }

  #takeReadings(
    account: Account,
    readings: ReadonlyMap<string, QuotaReading | undefined>,
  ): Account {
    const { id } = account.record;
    const quotas = new Map(account.quotas);
    let { health } = account;
    const { clock, random } = this.#options;
    for (const [model, reading] of readings) {
      if (reading === undefined) quotas.delete(model);
      else quotas.set(model, reading);
      if (reading?.source !== 'upstream') continue;
      const { remainingFraction, resetsAt, fetchedAt: readAt } = reading;
      const event = { kind: 'quota-read', model, remainingFraction, resetsAt, readAt } as const;
      health = nextHealth(health, event, { now: clock.now(), jitter: random() });
    }
    const changed = { ...account, quotas, health };
    this.#put(changed, 'quotas');
    if (health !== account.health) {
      this.#tell({ kind: 'health', account: this.#accounts.get(id) ?? changed });
    }
    return changed;
  }

  async readCredential(id: string): Promise<VersionedCredential | undefined> {
    const account = this.#accounts.get(id);
    if (account === undefined) return undefined;
    if (account.origin !== 'stored') return this.#seedCredentials.get(id);
    return this.#requireStore().readCredential(id);
  }

  /** Replaces the expected version, or any. It counts as renewed. @throws GatewayError `invalid-request` */
  async replaceCredential(
    id: string,
    credential: Credential,
    expectedVersion: number | undefined,
  ): Promise<VersionedCredential | 'stale' | 'missing'> {
    const account = this.#accounts.get(id);
    if (account === undefined) return 'missing';
    if (account.record.kind !== credential.kind) throw otherKind(account, credential);
    let replaced: VersionedCredential | 'stale' | 'missing';
    if (account.origin === 'stored') {
      replaced = await this.#requireStore().replaceCredential(id, credential, expectedVersion);
    } else {
      const version = this.#seedCredentials.get(id)?.version ?? 0;
      if (expectedVersion !== undefined && version !== expectedVersion) return 'stale';
      replaced = { credential, version: version + 1 };
      this.#seedCredentials.set(id, replaced);
    }
    if (typeof replaced === 'object') this.apply(id, { kind: 'refreshed' });
    return replaced;
  }

  /** May hold a user and a password. */
  proxyUrl(id: string): string | undefined {
    return this.#proxyUrls.get(id);
  }

  /** Calls back after each change, at once and in order; the answer ends it. */
  subscribe(listener: (change: BookChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Resolves when every change so far is saved. @throws StoreError `unavailable` */
  async flush(): Promise<void> {
    await this.#saver?.flush();
  }

  /** Writes what is not saved yet. */
  async close(): Promise<void> {
    for (const end of this.#endings) end();
    this.#options.hearing?.close();
    this.#copy?.close();
    await this.#copy?.settled;
    await this.#saver?.close();
  }

  #share(notice: AccountNotice): void {
    this.#options.notices?.tell(TOPIC, notice);
  }

  #shareStored(): void {
    this.#copy?.noteChange();
    this.#share({ kind: 'stored' });
  }

  /** The process that made the change saves it. */
  #takeNotice(told: AccountNotice): void {
    if (told.kind === 'stored') {
      void this.#copy?.reread();
      return;
    }
    const account = this.#accounts.get(told.id);
    if (account === undefined) return;
    if (told.kind === 'health') this.#applyEvent(account, told.event, { jitter: told.jitter });
    else
      this.#takeReadings(
        account,
        new Map(told.readings.map(([model, one]) => [model, one ?? undefined])),
      );
  }

  #askForDecisions(): void {
    this.#options.notices?.tell(DECISIONS, { kind: 'asked' });
  }

  /** What enables those that stand by is no person. */
  #noteDecision({ record, origin, health }: Account, event: HealthEvent, at: number): void {
    const { status } = health;
    const isEnabled =
      event.kind === 'enable' && status.kind === 'disabled' && status.reason === 'manual';
    if (origin === 'stored' || !(event.kind === 'disable' || isEnabled)) return;
    this.#decisions.set(record.id, { event, at });
  }

  #takeDecision(told: DecisionNotice): void {
    const { clock, notices } = this.#options;
    const now = clock.now();
    if (told.kind === 'asked') {
      for (const [id, { event, at }] of this.#decisions)
        notices?.tell(DECISIONS, { kind: 'decided', id, event, agoMs: now - at });
      return;
    }
    const { id, event, agoMs } = told;
    const account = this.#accounts.get(id);
    const known = this.#decisions.get(id);
    const at = now - agoMs;
    if (account === undefined || (known !== undefined && known.at >= at)) return;
    this.#decisions.set(id, { event, at });
    if (known?.event.kind !== event.kind) this.#applyEvent(account, event, { now: at });
  }

  #takeStored(stored: readonly StoredAccount[]): void {
    const ids = new Set(stored.map(({ record }) => record.id));
    for (const account of this.list()) {
      const { id } = account.record;
      if (account.origin !== 'stored' || ids.has(id)) continue;
      this.#accounts.delete(id);
      this.#proxyUrls.delete(id);
      this.#tell({ kind: 'removed', account });
    }
    for (const one of stored) {
      const { record, proxyUrl } = one;
      if (this.#leaving.has(record.id)) continue;
      const known = this.#accounts.get(record.id);
      if (known !== undefined && known.record.revision >= record.revision) continue;
      this.#setProxyUrl(record.id, proxyUrl);
      if (known === undefined) this.#put(loadStored(one).account, 'added');
      else this.#put({ ...known, record }, 'record');
    }
    if (this.#missedStatuses) this.#takeStatuses(stored);
    this.#missedStatuses = false;
  }

  /** What an operator decided about an account holds everywhere, however it was learned. */
  #takeStatuses(stored: readonly StoredAccount[]): void {
    const unsaved = this.#saver?.unsavedStatuses();
    for (const { record, health } of stored) {
      const known = this.#accounts.get(record.id);
      if (known === undefined || unsaved?.has(record.id)) continue;
      const { status } = health;
      const { status: own } = known.health;
      if (isSameStatus(own, status)) continue;
      // Told a moment ago, and not saved yet by who told it.
      if (own.kind !== 'active' && this.#options.clock.now() - own.since < SAVED_BY_NOW_MS)
        continue;
      const changed = { ...known, health: { ...known.health, status } };
      this.#logStatus(changed);
      this.#put(changed, 'health');
    }
  }

  #logStatus({ record, health: { status } }: Account): void {
    const fields = { account: record.label, upstream: record.upstreamId, status };
    if (status.kind === 'active') this.#options.log.info(fields, 'An account may be used again.');
    else if (status.kind === 'disabled' && status.reason === 'standing-by') {
      this.#options.log.info(fields, 'An account is cooling down while others serve.');
    } else this.#options.log.warn(fields, `An account is ${status.kind}.`);
  }

  #saveHealth(changed: Account, { health }: Account): void {
    this.#save(changed, changed.health.status === health.status ? 'health' : 'status');
  }

  #save({ record, origin }: Account, part: SavedPart): void {
    if (origin === 'stored') this.#saver?.mark(record.id, part);
  }

  #put(account: Account, kind: Exclude<BookChange['kind'], 'removed'>): void {
    this.#accounts.set(account.record.id, account);
    this.#tell({ kind, account });
  }

  #tell(change: BookChange): void {
    this.#list = undefined;
    this.#listeners.tell(change);
  }

  #setProxyUrl(id: string, proxyUrl: string | undefined): void {
    if (proxyUrl === undefined) this.#proxyUrls.delete(id);
    else this.#proxyUrls.set(id, proxyUrl);
  }

  #requireStore(): AccountStore {
    const { store } = this.#options;
    if (store === undefined) {
      throw new StoreError('unavailable', told`Accounts are not stored in this process.`);
    }
    return store;
  }

  #requireStored(id: string): Account {
    const account = this.#accounts.get(id);
    if (account === undefined) throw new StoreError('missing', told`There is no account ${id}.`);
    if (account.origin !== 'stored') {
      throw clientError('invalid-request', READ_ONLY[account.origin]);
    }
    return account;
  }
}

interface AccountBookOptions extends BookOptions {
  readonly stored: readonly StoredAccount[];
  readonly seeds: readonly SeedAccount[];
}

export function createAccountBook(options: AccountBookOptions): AccountBook {
  const { stored, seeds, clock } = options;
  return new Book([...stored.map(loadStored), ...loadSeeds(seeds, clock)], options);
}

function newAccount(record: AccountRecord, origin: AccountOrigin): Account {
  return { record, origin, health: HEALTHY, models: undefined, quotas: new Map() };
}

function loadStored({ record, proxyUrl, health, quotas }: StoredAccount): LoadedAccount {
  const account = { ...newAccount(record, 'stored'), health, quotas };
  return { account, proxyUrl, credential: undefined };
}

function loadSeeds(
  seeds: readonly SeedAccount[],
  clock: Pick<Clock, 'now'>,
): readonly LoadedAccount[] {
  return seeds.map(({ id, origin, credential, proxyUrl, ...seed }) => {
    const { upstreamId, label, projectId, tier, billing, notes, priority = 0 } = seed;
    const facts = {
      id,
      upstreamId,
      kind: credential.kind,
      label,
      projectId,
      tier,
      billing,
      priority,
      notes,
    };
    const record = { ...facts, createdAt: clock.now(), revision: 1 };
    return { account: newAccount(record, origin), proxyUrl, credential };
  });
}

const READ_ONLY: Readonly<Record<Exclude<AccountOrigin, 'stored'>, Sentence>> = {
  environment: told`This account comes from the environment: change UPSTREAM_API_KEYS or GEMINI_API_KEY and start again, or disable it for this run.`,
  settings: told`This account is the external provider of the settings: change proxy.extprov, or disable it for this run.`,
  sandbox: told`This account belongs to the sandbox and cannot be changed; it can be disabled for this run.`,
};

function otherKind({ record }: Account, { kind }: Credential): GatewayError {
  return clientError(
    'invalid-request',
    told`${record.label} is an account of kind ${record.kind}: give it such a credential, or add a new account for the ${kind}.`,
    { field: 'credential.kind' },
  );
}

/** The store does not know the labels of accounts that come with the process. @throws StoreError `conflict` */
function refuseSeedLabel(
  accounts: readonly Account[],
  { upstreamId, label }: { readonly upstreamId: string; readonly label: string },
): void {
  const taken = accounts.some(
    ({ record, origin }) =>
      origin !== 'stored' && record.upstreamId === upstreamId && isSameLabel(record.label, label),
  );
  if (!taken) return;
  throw new StoreError(
    'conflict',
    told`The upstream ${upstreamId} has an account ${label} already.`,
  );
}

type ModelList = ReadonlyMap<string, UpstreamModel> | undefined;

/** Each process has its own time for what it was told of. */
function isSameStatus(one: AccountStatus, other: AccountStatus): boolean {
  const isDisabled = one.kind === 'disabled' && other.kind === 'disabled';
  return isDisabled ? one.reason === other.reason : one.kind === other.kind;
}

/** Compares model lists, so that reading the same list again is no change. */
function isSameList(one: ModelList, other: ModelList): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined || one.size !== other.size) return false;
  for (const [id, model] of one) {
    const twin = other.get(id);
    if (twin === undefined || JSON.stringify(twin) !== JSON.stringify(model)) return false;
  }
  return true;
}
