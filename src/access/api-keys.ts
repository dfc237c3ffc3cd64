// API keys: created, changed, identified, and checked against their limits.

import { StoreError } from '../accounts/account-store.ts';
import { GatewayError, invalidRequest } from '../canonical/error.ts';
import type { CanWait, Cluster, Topic } from '../cluster/cluster.ts';
import type { Counters } from '../cluster/counters.ts';
import { StoredCopy } from '../cluster/stored-copy.ts';
import type { Clock } from '../lib/clock.ts';
import { createListeners, type Listeners } from '../lib/listeners.ts';
import { told } from '../lib/localized-message.ts';
import type { LineLog } from '../lib/log.ts';
import { createWildcard, foldCase } from '../lib/names.ts';
import { visitorOf } from '../lib/net.ts';
import { looksLikeKeySecret } from '../lib/redact.ts';
import { WriteBehind } from '../lib/write-behind.ts';
import { neutralModelName } from '../wire/vocabulary.ts';
import { WRITES } from './access-log.ts';
import {
  blockedHoursProblem,
  type ClientKey,
  type ClientKeyStore,
  createBlockedHoursCheck,
  createKeySecret,
  type DayUse,
  digestKeySecret,
  type KeyLimits,
  type KeyProgress,
  type PreviousSecret,
  type StoredKey,
} from './api-key.ts';
import {
  type BudgetSubject,
  type Budgets,
  type BudgetUnit,
  limitOf,
  nearestLimit,
} from './budgets.ts';
import { changeLatest } from './change-latest.ts';
import {
  type CallCost,
  type CallUse,
  type Grant,
  type LimitState,
  type NewUse,
  type Reservation,
  rejected,
  sayCount,
  takeAll,
  UsageMeter,
} from './usage-meter.ts';

/** Of a secret, which may be shown. */
const PREFIX_CHARACTERS = 9;
/** How far behind the time a replaced secret was last used may be. */
const PREVIOUS_USE_STEP_MS = 60_000;
/** So long after a look for an unknown secret there is no other. */
const LOOK_STEP_MS = 100;

export interface NewKey extends Partial<KeyLimits> {
  readonly name: string;
  readonly enabled?: boolean | undefined;
  readonly expiresAt?: number | undefined;
  readonly owner?: string | undefined;
  readonly team?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** Null takes a limit away; what is absent stays. */
type KeyChange = { readonly [Field in keyof NewKey]?: NewKey[Field] | null };

export interface ListedKey {
  readonly key: ClientKey;
  /** Secrets that were replaced and still work. */
  readonly previous: readonly PreviousSecret[];
  readonly usedToday: DayUse;
}

interface Kept {
  key: ClientKey;
  digest: string;
  previous: readonly PreviousSecret[];
  readonly meter: UsageMeter;
  checks: ReturnType<typeof createChecks>;
}

interface ApiKeysOptions {
  readonly store: ClientKeyStore;
  /** Keys the digests of the secrets; the same for the life of the store. */
  readonly digestKey: Buffer;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  readonly counters: Counters;
  readonly budgets: Budgets;
  /** The other processes with the same keys; without it there are none. */
  readonly cluster?: Pick<Cluster, 'notices' | 'replica' | 'state' | 'subscribe'> | undefined;
  readonly log?: LineLog | undefined;
}

/** What one process tells the others of keys: the store has what was changed, and who counted saves it. */
type KeyNotice =
  | { readonly kind: 'stored' }
  | { readonly kind: 'use'; readonly id: string; readonly use: NewUse }
  | {
      readonly kind: 'previous-used';
      readonly id: string;
      readonly prefix: string;
      readonly at: number;
    };

const TOPIC: Topic<KeyNotice> = { name: 'keys 1' };

/** How the ids of client keys begin. */
const CLIENT_KEY_PREFIX = 'key_';
const GONE_KEY = { recording: 'counts' } as const;
/** Of keys that are removed, for the records of what runs then. */
const MAX_GONE = 1000;

/** How long the secret before it keeps working where nobody says: a day. */
const DEFAULT_OVERLAP_MS = 86_400_000;

interface KeyRotation {
  readonly overlapMs?: number | undefined;
  readonly revision?: number | undefined;
}

export class ApiKeys {
  readonly #options: ApiKeysOptions;
  /** Ids of the keys whose use is to be saved. */
  readonly #used: WriteBehind<string>;
  readonly #byId = new Map<string, Kept>();
  /** As the latest that were removed stood, oldest first. */
  readonly #gone = new Map<string, ClientKey>();
  /** Asked with every request. */
  isEmpty = true;
  /** Of the secrets in use and of those before them. */
  readonly #byDigest = new Map<string, Kept>();
  readonly #listeners: Listeners<string>;
  readonly #copy: StoredCopy<readonly StoredKey[]>;
  readonly #unlisten: (() => void) | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(options: ApiKeysOptions, stored: readonly StoredKey[] = []) {
    const { store, clock, cluster, log } = options;
    this.#options = options;
    this.#copy = new StoredCopy({
      ...{ what: 'Keys', log, clock, cluster },
      read: () => store.list(),
      take: (keys) => this.#takeAll(keys),
    });
    this.#unlisten = cluster?.notices.listen(TOPIC, {
      take: (notice) => this.#takeNotice(notice),
      catchUp: () => void this.#copy.reread(),
    });
    this.#used = new WriteBehind<string>({
      clock,
      log,
      save: (ids) => store.saveProgress(ids.flatMap((id) => this.#progressOf(id))),
      keyOf: (id) => id,
      ...WRITES,
      failure: 'The use of keys cannot be saved; requests go on without it.',
    });
    this.#listeners = createListeners((error) => {
      log?.warn({ error }, 'A listener to changes of keys failed.');
    });
    for (const one of stored) this.#keep(one);
  }

  /** Oldest first. */
  list(): readonly ListedKey[] {
    return [...this.#byId.values()].map((kept) => this.#show(kept));
  }

  get(id: string): ListedKey | undefined {
    const kept = this.#byId.get(id);
    return kept === undefined ? undefined : this.#show(kept);
  }

  /** What records say of it. What one that is unknown allowed is unknown: only counts are recorded. */
  readonly forRecord = (id: string): ClientKey | typeof GONE_KEY | undefined => {
    const key = this.#byId.get(id)?.key ?? this.#gone.get(id);
    return key ?? (id.startsWith(CLIENT_KEY_PREFIX) ? GONE_KEY : undefined);
  };

  /** @throws StoreError `missing` */
  async find(id: string): Promise<ListedKey> {
    return this.#show(await this.#find(id));
  }

  /** @returns the secret, which is shown this once. @throws GatewayError for bad blocked hours, StoreError */
  async create(input: NewKey): Promise<{ listed: ListedKey; secret: string }> {
    const { clock, createId, digestKey, store } = this.#options;
    const secret = createKeySecret();
    const key: ClientKey = checkKey({
      ...withoutNulls(input),
      id: createId(CLIENT_KEY_PREFIX),
      name: input.name,
      prefix: prefixOf(secret),
      enabled: input.enabled ?? true,
      tags: input.tags ?? [],
      allowedModels: input.allowedModels ?? [],
      createdAt: clock.now(),
      revision: 1,
    });
    const digest = digestKeySecret(secret, digestKey);
    await store.insert(key, digest);
    const kept = this.#keep({ key, digest, previous: [], use: undefined, addresses: new Map() });
    await this.#changed(key.id);
    return { listed: this.#show(kept), secret };
  }

  /** @throws GatewayError, StoreError `missing` or `stale` */
  change(id: string, change: KeyChange, revision: number | undefined): Promise<ListedKey> {
    return changeLatest(this.#copy, revision, () => this.#change(id, change, revision));
  }

  async #change(id: string, change: KeyChange, revision: number | undefined): Promise<ListedKey> {
    const kept = await this.#find(id, revision);
    const known = kept.key;
    const merged = { ...known, ...change, revision: known.revision + 1 };
    const key = checkKey({
      ...withoutNulls(merged),
      id,
      name: change.name ?? known.name,
      prefix: known.prefix,
      enabled: change.enabled ?? known.enabled,
      tags: change.tags === null ? [] : (merged.tags ?? []),
      allowedModels: change.allowedModels === null ? [] : (merged.allowedModels ?? []),
      createdAt: known.createdAt,
      revision: merged.revision,
    });
    await this.#options.store.update(key);
    kept.key = { ...key, lastUsedAt: kept.key.lastUsedAt };
    kept.checks = createChecks(key);
    await this.#changed(id);
    return this.#show(kept);
  }

  /** Gives a key another secret. With an overlap of 0 no earlier one works. @returns the secret. @throws StoreError */
  rotate(id: string, rotation: KeyRotation): Promise<{ listed: ListedKey; secret: string }> {
    return changeLatest(this.#copy, rotation.revision, () => this.#rotate(id, rotation));
  }

  async #rotate(id: string, { overlapMs = DEFAULT_OVERLAP_MS, revision }: KeyRotation) {
    const { clock, digestKey } = this.#options;
    const kept = await this.#find(id, revision);
    const { key, digest: digestBefore } = kept;
    const secret = createKeySecret();
    const digest = digestKeySecret(secret, digestKey);
    const endsAt = clock.now() + overlapMs;
    const before = { digest: digestBefore, prefix: key.prefix, endsAt, lastUsedAt: undefined };
    const previous = overlapMs > 0 ? [...this.#previousOf(kept), before] : [];
    await this.#replaceSecret(kept, { prefix: prefixOf(secret), digest, previous });
    return { listed: this.#show(kept), secret };
  }

  /** Ends the overlap: secrets before the one in use are refused from now on. @throws StoreError `missing` */
  endPrevious(id: string): Promise<ListedKey> {
    return changeLatest(this.#copy, undefined, async () => {
      const kept = await this.#find(id);
      const { digest, key } = kept;
      await this.#replaceSecret(kept, { prefix: key.prefix, digest, previous: [] });
      return this.#show(kept);
    });
  }

  /** @throws StoreError `missing` */
  async remove(id: string): Promise<void> {
    const kept = await this.#find(id);
    await this.#options.store.remove(id);
    await this.#options.budgets.removeOf(id);
    this.#drop(kept);
    this.isEmpty = this.#byId.size === 0;
    await this.#changed(id);
  }

  /** Calls back with the id of each key that is made, changed or removed; the answer ends it. */
  subscribe(listener: (id: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  identify(credentials: readonly string[]): string | undefined {
    let found: string | undefined;
    for (const secret of credentials) {
      if (!looksLikeKeySecret(secret)) continue;
      const digest = digestKeySecret(secret, this.#options.digestKey);
      const kept = this.#byDigest.get(digest);
      if (kept === undefined || !this.#isTaken(kept, digest)) continue;
      found ??= kept.key.id;
    }
    return found;
  }

  /** Reads anew what other processes stored, for an unknown secret; undefined where that was done lately. */
  lookAgain(credentials: readonly string[]): Promise<void> | undefined {
    const { clock, cluster, digestKey } = this.#options;
    const secret = credentials.find(looksLikeKeySecret);
    if (cluster === undefined || secret === undefined) return undefined;
    if (this.#looking !== undefined) return this.#looking;
    const now = clock.monotonic();
    if (now - this.#lookedAt < LOOK_STEP_MS) return undefined;
    this.#lookedAt = now;
    this.#looking = this.#look(digestKeySecret(secret, digestKey)).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** All keys are read anew: one alone might have been removed since. A store that fails knows nothing. */
  async #look(digest: string): Promise<void> {
    const isStored = await this.#options.store.has(digest).catch(() => false);
    if (isStored) await this.#copy.reread();
  }

  /** @throws GatewayError forbidden naming the rule: disabled, expired, blocked hours or too many addresses */
  enter(keyId: string, address: string): void {
    const kept = this.#byId.get(keyId);
    if (kept !== undefined) checkEntry(kept, address, this.#options.clock.now());
  }

  /** True for ids that are no person's key: those have no limits. */
  allows(keyId: string, model: string): boolean {
    return this.#byId.get(keyId)?.checks.allows(model) ?? true;
  }

  /** What budgets count of the calls of this key. */
  unitsFor(keyId: string): ReadonlySet<BudgetUnit> {
    return this.#options.budgets.unitsFor(this.#subjectOf(keyId));
  }

  /** Counts a call before it runs. @throws GatewayError, by a promise where other processes are asked */
  admit(
    keyId: string,
    { model, ...cost }: CallCost & { readonly model: string },
  ): Reservation | Promise<Reservation> {
    const kept = this.#byId.get(keyId);
    if (kept?.checks.allows(model) === false) {
      const message = told`This key may not use the model ${JSON.stringify(model.slice(0, MAX_SHOWN))}. The model list shows those it may.`;
      throw rejected(message);
    }
    const { budgets } = this.#options;
    const call = budgets.open(this.#subjectOf(keyId), cost);
    // It may be changed while other processes are asked.
    const key = kept?.key;
    const rated = key === undefined ? [] : (kept?.meter.wants(key) ?? []);
    const longest = cost.most?.answerTokens ?? 0;
    const passed = (outcome: Grant | GatewayError): Reservation => {
      if (outcome instanceof GatewayError) throw outcome;
      const settleKey = key === undefined ? undefined : kept?.meter.begin(cost, key);
      const settleBudgets = call.begin(outcome);
      let isOpen = true;
      return {
        answerTokens: outcome.answerTokens < longest ? outcome.answerTokens : undefined,
        settle(used) {
          if (!isOpen) return;
          isOpen = false;
          const { tokens = cost.tokens, images = cost.images } = used;
          settleKey?.({ tokens, images });
          settleBudgets(used);
        },
      };
    };
    const outcome = takeAll([...call.wants, ...rated], longest);
    return outcome instanceof Promise ? outcome.then(passed) : passed(outcome);
  }

  /** Of a call that nothing counted when it began. */
  countLate(keyId: string, used: Partial<CallUse>): void {
    this.#options.budgets.countLate(this.#subjectOf(keyId), used);
  }

  /** How near a key is to the nearest of its limits and of the budgets that count its calls. */
  limitStates(keyId: string): Readonly<Record<'requests' | 'tokens', LimitState | undefined>> {
    const { budgets, clock } = this.#options;
    const kept = this.#byId.get(keyId);
    const rates = kept?.meter.rateStates(kept.key);
    const hard = budgets.listFor(this.#subjectOf(keyId)).filter(({ budget }) => budget.isHard);
    const nearest = (unit: 'requests' | 'tokens') =>
      nearestLimit([
        rates?.[unit],
        ...hard
          .filter(({ budget }) => budget.unit === unit)
          .map((state) => limitOf(state, clock.now())),
      ]);
    return { requests: nearest('requests'), tokens: nearest('tokens') };
  }

  #subjectOf(keyId: string): BudgetSubject {
    return { keyId, team: this.#byId.get(keyId)?.key.team };
  }

  async close(): Promise<void> {
    this.#unlisten?.();
    this.#copy.close();
    await this.#used.close();
  }

  /** @throws StoreError `missing`, or `stale` when the revision is another */
  async #find(id: string, revision?: number): Promise<Kept> {
    const kept = await this.#copy.find(
      () => this.#byId.get(id),
      ({ key }) => key.revision < (revision ?? 0),
    );
    if (kept === undefined) {
      throw new StoreError('missing', told`There is no key of this id. List them to see all.`);
    }
    if (revision === undefined || revision === kept.key.revision) return kept;
    const message = told`The key was changed meanwhile: it is at revision ${kept.key.revision}, not ${revision}.`;
    throw new StoreError('stale', message);
  }

  #show(kept: Kept): ListedKey {
    const { key, meter } = kept;
    return { key, previous: this.#previousOf(kept), usedToday: meter.dayUse() };
  }

  #previousOf({ previous }: Kept): readonly PreviousSecret[] {
    const now = this.#options.clock.now();
    return previous.filter(({ endsAt }) => now < endsAt);
  }

  async #replaceSecret(
    kept: Kept,
    { prefix, ...secrets }: Pick<Kept, 'digest' | 'previous'> & { readonly prefix: string },
  ): Promise<void> {
    const key = { ...kept.key, prefix, revision: kept.key.revision + 1 };
    await this.#options.store.replaceSecret(key, secrets.digest, secrets.previous);
    kept.key = { ...key, lastUsedAt: kept.key.lastUsedAt };
    this.#setSecrets(kept, secrets);
    await this.#changed(key.id);
  }

  #setSecrets(kept: Kept, { digest, previous }: Pick<Kept, 'digest' | 'previous'>): void {
    this.#forgetDigests(kept);
    kept.digest = digest;
    kept.previous = previous;
    for (const one of digestsOf(kept)) this.#byDigest.set(one, kept);
  }

  #drop(kept: Kept): void {
    this.#byId.delete(kept.key.id);
    this.#forgetDigests(kept);
    this.#gone.set(kept.key.id, kept.key);
    const [oldest] = this.#gone.keys();
    if (this.#gone.size > MAX_GONE && oldest !== undefined) this.#gone.delete(oldest);
  }

  #forgetDigests(kept: Kept): void {
    for (const one of digestsOf(kept)) this.#byDigest.delete(one);
  }

  /** Whether a secret still works; that an earlier one is still used is recorded. */
  #isTaken(kept: Kept, digest: string): boolean {
    if (kept.digest === digest) return true;
    const now = this.#options.clock.now();
    const found = kept.previous.find((one) => one.digest === digest);
    if (found === undefined || now >= found.endsAt) return false;
    const { prefix, lastUsedAt = Number.NEGATIVE_INFINITY } = found;
    if (now - lastUsedAt < PREVIOUS_USE_STEP_MS) return true;
    this.#notePreviousUse(kept, prefix, now);
    this.#used.add(kept.key.id);
    const used = { kind: 'previous-used', id: kept.key.id, prefix, at: now } as const;
    this.#tell(used, { about: `${used.id} before ${prefix}` });
    return true;
  }

  #notePreviousUse(kept: Kept, prefix: string, lastUsedAt: number): void {
    kept.previous = kept.previous.map((one) =>
      one.prefix === prefix ? { ...one, lastUsedAt } : one,
    );
  }

  #keep(stored: StoredKey): Kept {
    const { key, digest, previous } = stored;
    const { clock } = this.#options;
    const onUse = (use: NewUse): void => {
      kept.key = { ...kept.key, lastUsedAt: clock.now() };
      this.#used.add(key.id);
      // Limits are counted elsewhere: it is to be shown.
      if (Object.keys(use).length === 0) return;
      const about = use.address === undefined ? key.id : `${key.id} ${use.address}`;
      this.#tell({ kind: 'use', id: key.id, use }, { about, join: joinUses });
    };
    const kept: Kept = {
      key,
      digest,
      previous,
      meter: new UsageMeter(stored, { id: key.id, counters: this.#options.counters, clock, onUse }),
      checks: createChecks(key),
    };
    this.#byId.set(key.id, kept);
    this.isEmpty = false;
    this.#setSecrets(kept, { digest, previous });
    return kept;
  }

  /** Resolves when it holds in every process. */
  #changed(id: string): Promise<void> {
    this.#copy.noteChange();
    this.#listeners.tell(id);
    this.#tell({ kind: 'stored' });
    return this.#copy.taken();
  }

  #tell(notice: KeyNotice, canWait?: CanWait<KeyNotice>): void {
    this.#options.cluster?.notices.tell(TOPIC, notice, canWait);
  }

  #takeNotice(notice: KeyNotice): void {
    if (notice.kind === 'stored') return void this.#copy.reread();
    const kept = this.#byId.get(notice.id);
    if (notice.kind === 'use') kept?.meter.addUse(notice.use);
    else if (kept !== undefined) this.#notePreviousUse(kept, notice.prefix, notice.at);
  }

  #takeAll(stored: readonly StoredKey[]): void {
    const ids = new Set(stored.map(({ key }) => key.id));
    for (const [id, kept] of this.#byId) {
      if (ids.has(id)) continue;
      this.#drop(kept);
      this.#listeners.tell(id);
    }
    this.isEmpty = this.#byId.size === 0;
    for (const one of stored) this.#takeStored(one);
  }

  #takeStored(one: StoredKey): void {
    const known = this.#byId.get(one.key.id);
    if (known !== undefined && known.key.revision >= one.key.revision) return;
    if (known === undefined) this.#keep(one);
    else {
      const uses = new Map(known.previous.map(({ digest, lastUsedAt }) => [digest, lastUsedAt]));
      const previous = one.previous.map((before) => ({
        ...before,
        // As of the key, which is saved later.
        lastUsedAt: uses.get(before.digest) ?? before.lastUsedAt,
      }));
      known.key = { ...one.key, lastUsedAt: known.key.lastUsedAt };
      known.checks = createChecks(one.key);
      this.#setSecrets(known, { ...one, previous });
    }
    this.#listeners.tell(one.key.id);
  }

  #progressOf(id: string): readonly KeyProgress[] {
    const kept = this.#byId.get(id);
    if (kept === undefined) return [];
    const { key, meter } = kept;
    const addresses = new Map(meter.addresses);
    const previous = kept.previous.filter(({ lastUsedAt }) => lastUsedAt !== undefined);
    return [{ id, lastUsedAt: key.lastUsedAt, use: meter.dayUse(), addresses, previous }];
  }
}

/** Of one address, or of none. */
function joinUses(before: KeyNotice, after: KeyNotice): KeyNotice {
  if (before.kind !== 'use' || after.kind !== 'use') return after;
  const { requests = 0, tokens = 0, images = 0 } = before.use;
  const use = {
    ...after.use,
    requests: requests + (after.use.requests ?? 0),
    tokens: tokens + (after.use.tokens ?? 0),
    images: images + (after.use.images ?? 0),
  };
  return { ...after, use };
}

function prefixOf(secret: string): string {
  return secret.slice(0, PREFIX_CHARACTERS);
}

function digestsOf({ digest, previous }: Kept): readonly string[] {
  return [digest, ...previous.map((one) => one.digest)];
}

function createChecks(key: ClientKey) {
  const isBlocked = key.curfew && createBlockedHoursCheck(key.curfew);
  return { isBlocked, allows: createModelCheck(key) };
}

/** As `custom_mapping`: names without regard to case, `*` for any run of characters; in either vocabulary. */
function createModelCheck({ allowedModels }: KeyLimits): (model: string) => boolean {
  const spellings = (name: string) => [foldCase(name), neutralModelName(foldCase(name))];
  const patterns = allowedModels.flatMap(spellings).map(createWildcard);
  if (patterns.length === 0) return () => true;
  return (model) => {
    const names = spellings(model);
    return patterns.some((pattern) => names.some((name) => pattern.matches(name)));
  };
}

/** Of a key that is made now or later. @throws GatewayError for bad blocked hours */
export function checkKey<Key extends Pick<KeyLimits, 'curfew'>>(key: Key): Key {
  const problem = key.curfew && blockedHoursProblem(key.curfew);
  if (problem !== undefined) throw invalidRequest('curfew', told`${problem}.`);
  return key;
}

type WithoutNulls<Fields> = { [Field in keyof Fields]: Exclude<Fields[Field], null> };

function withoutNulls<Fields extends object>(fields: Fields): Partial<WithoutNulls<Fields>> {
  const kept = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  // The one narrowing of this file: nulls have just left.
  return Object.fromEntries(kept) as Partial<WithoutNulls<Fields>>;
}

/** Characters of a model name that an error repeats. */
const MAX_SHOWN = 100;

function checkEntry({ key, checks, meter }: Kept, address: string, now: number): void {
  if (!key.enabled) throw rejected(told`This key is disabled.`);
  if (key.expiresAt !== undefined && now >= key.expiresAt) {
    throw rejected(told`This key expired at ${new Date(key.expiresAt).toISOString()}.`);
  }
  if (key.curfew !== undefined && checks.isBlocked?.(now)) {
    const { from, to, timeZone } = key.curfew;
    throw rejected(told`This key is blocked from ${from} to ${to} (${timeZone}).`);
  }
  if (!meter.takeAddress(visitorOf(address), key.maxAddresses)) {
    const message = told`This key was already used from ${sayCount(key.maxAddresses ?? 0, 'address')}, its limit for one day.`;
    throw rejected(message);
  }
}
