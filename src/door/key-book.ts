// The keys of persons: made, changed, recognised, and held to their limits.

import { StoreError } from '../accounts/account-store.ts';
import { invalidRequest } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { looksLikeKeySecret } from '../lib/key-shape.ts';
import { createListeners, type Listeners } from '../lib/listeners.ts';
import { told } from '../lib/told.ts';
import { createWildcard, foldCase } from '../lib/wildcard.ts';
import { neutralModelName } from '../wire/vocabulary.ts';
import { type Batch, createBatch, type DoorLog } from './batch.ts';
import type {
  ClientKey,
  ClientKeyStore,
  DayUse,
  KeyLimits,
  KeyProgress,
  StoredKey,
} from './client-key.ts';
import { type CurfewCheck, createCurfewCheck, curfewProblem } from './curfew.ts';
import { KeyMeter } from './key-meter.ts';
import { createKeySecret, digestKeySecret, prefixOf } from './key-secret.ts';

export interface KeyInput extends Partial<KeyLimits> {
  readonly name: string;
  readonly enabled?: boolean | undefined;
  readonly expiresAt?: number | undefined;
}

/** Null takes a limit away; what is absent stays. */
type KeyChange = { readonly [Field in keyof KeyInput]?: KeyInput[Field] | null };

export interface KeyBook {
  /** Oldest first. */
  list(): readonly ListedKey[];
  get(id: string): ListedKey | undefined;
  /** @returns the secret, which nobody can see again. @throws GatewayError for a bad curfew, StoreError */
  create(input: KeyInput): Promise<{ readonly listed: ListedKey; readonly secret: string }>;
  /** @throws GatewayError, StoreError `missing` or `stale` */
  change(id: string, change: KeyChange, revision: number | undefined): Promise<ListedKey>;
  /** @throws StoreError `missing` */
  remove(id: string): Promise<void>;
  /** The key of a secret. */
  identify(secret: string): KeyEntry | undefined;
  find(id: string): KeyEntry | undefined;
  readonly isEmpty: boolean;
  /** Calls back with the id of each key that is made, changed or removed; the answer ends it. */
  subscribe(listener: (id: string) => void): () => void;
  close(): Promise<void>;
}

export interface ListedKey {
  readonly key: ClientKey;
  readonly usedToday: DayUse;
}

/** A key in use. */
export interface KeyEntry {
  key: ClientKey;
  readonly meter: KeyMeter;
  curfew: CurfewCheck | undefined;
  allows(model: string): boolean;
}

export interface KeyBookOptions {
  /** Undefined keeps the keys in memory. */
  readonly store: ClientKeyStore | undefined;
  /** Keys the digests of the secrets; the same for the life of the store. */
  readonly digestKey: Buffer;
  readonly clock: Clock;
  readonly createId: (prefix: string) => string;
  readonly log?: DoorLog | undefined;
}

/** `stored` are the keys of the store. */
export function createKeyBook(options: KeyBookOptions, stored: readonly StoredKey[] = []): KeyBook {
  return new Book(options, stored);
}

interface Kept extends KeyEntry {
  readonly digest: string;
}

class Book implements KeyBook {
  readonly #options: KeyBookOptions;
  readonly #batch: Batch;
  readonly #byId = new Map<string, Kept>();
  readonly #byDigest = new Map<string, Kept>();
  readonly #used = new Set<string>();
  readonly #listeners: Listeners<string>;

  constructor(options: KeyBookOptions, stored: readonly StoredKey[]) {
    const { clock, log } = options;
    this.#options = options;
    const save = () => this.#saveProgress();
    this.#batch = createBatch({ clock, title: 'The use of keys', save, log });
    this.#listeners = createListeners((error) => {
      log?.warn({ error }, 'A listener to changes of keys failed.');
    });
    for (const one of stored) this.#keep(one);
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  list(): readonly ListedKey[] {
    return [...this.#byId.values()].map(writeListed);
  }

  get(id: string): ListedKey | undefined {
    const kept = this.#byId.get(id);
    return kept === undefined ? undefined : writeListed(kept);
  }

  async create(input: KeyInput): Promise<{ listed: ListedKey; secret: string }> {
    const { clock, createId, digestKey, store } = this.#options;
    const secret = createKeySecret();
    const key: ClientKey = checkKey({
      ...withoutNulls(input),
      id: createId('key_'),
      name: input.name,
      prefix: prefixOf(secret),
      enabled: input.enabled ?? true,
      allowedModels: input.allowedModels ?? [],
      createdAt: clock.now(),
      revision: 1,
    });
    const digest = digestKeySecret(secret, digestKey);
    await store?.insert(key, digest);
    const kept = this.#keep({ key, digest, use: undefined, addresses: new Map() });
    this.#listeners.tell(key.id);
    return { listed: writeListed(kept), secret };
  }

  async change(id: string, change: KeyChange, revision: number | undefined): Promise<ListedKey> {
    const kept = this.#find(id);
    const known = kept.key;
    if (revision !== undefined && revision !== known.revision) {
      throw new StoreError(
        'stale',
        told`The key was changed meanwhile: it is at revision ${known.revision}, not ${revision}.`,
      );
    }
    const merged = { ...known, ...change, revision: known.revision + 1 };
    const key = checkKey({
      ...withoutNulls(merged),
      id,
      name: change.name ?? known.name,
      prefix: known.prefix,
      enabled: change.enabled ?? known.enabled,
      allowedModels: change.allowedModels === null ? [] : (merged.allowedModels ?? []),
      createdAt: known.createdAt,
      revision: merged.revision,
    });
    await this.#options.store?.update(key);
    kept.key = { ...key, lastUsedAt: kept.key.lastUsedAt };
    kept.curfew = key.curfew && createCurfewCheck(key.curfew);
    kept.allows = createModelCheck(key);
    this.#listeners.tell(id);
    return writeListed(kept);
  }

  async remove(id: string): Promise<void> {
    const { digest } = this.#find(id);
    await this.#options.store?.remove(id);
    this.#byId.delete(id);
    this.#byDigest.delete(digest);
    this.#used.delete(id);
    this.#listeners.tell(id);
  }

  subscribe(listener: (id: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  identify(secret: string): KeyEntry | undefined {
    if (!looksLikeKeySecret(secret)) return undefined;
    return this.#byDigest.get(digestKeySecret(secret, this.#options.digestKey));
  }

  find(id: string): KeyEntry | undefined {
    return this.#byId.get(id);
  }

  close(): Promise<void> {
    return this.#batch.close();
  }

  #find(id: string): Kept {
    const kept = this.#byId.get(id);
    if (kept !== undefined) return kept;
    throw new StoreError('missing', told`There is no key of this id. List them to see all.`);
  }

  #keep(stored: StoredKey): Kept {
    const { key, digest } = stored;
    const { clock } = this.#options;
    const onUse = (): void => {
      kept.key = { ...kept.key, lastUsedAt: clock.now() };
      this.#used.add(key.id);
      if (this.#options.store !== undefined) this.#batch.touch();
    };
    const kept: Kept = {
      key,
      digest,
      meter: new KeyMeter(stored, { clock, onUse }),
      curfew: key.curfew && createCurfewCheck(key.curfew),
      allows: createModelCheck(key),
    };
    this.#byId.set(key.id, kept);
    this.#byDigest.set(digest, kept);
    return kept;
  }

  async #saveProgress(): Promise<void> {
    const ids = [...this.#used];
    const progress = ids.flatMap((id): KeyProgress[] => {
      const kept = this.#byId.get(id);
      if (kept === undefined) return [];
      const { key, meter } = kept;
      const addresses = new Map(meter.addresses);
      return [{ id, lastUsedAt: key.lastUsedAt, use: meter.dayUse(), addresses }];
    });
    this.#used.clear();
    try {
      await this.#options.store?.saveProgress(progress);
    } catch (error) {
      for (const id of ids) this.#used.add(id);
      throw error;
    }
  }
}

function writeListed({ key, meter }: KeyEntry): ListedKey {
  return { key, usedToday: meter.dayUse() };
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

/** @throws GatewayError invalid-request */
function checkKey(key: ClientKey): ClientKey {
  const problem = key.curfew && curfewProblem(key.curfew);
  if (problem !== undefined) throw invalidRequest('curfew', `${problem}.`);
  return key;
}

type WithoutNulls<Fields> = { [Field in keyof Fields]: Exclude<Fields[Field], null> };

function withoutNulls<Fields extends object>(fields: Fields): Partial<WithoutNulls<Fields>> {
  const kept = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  // The one narrowing of this file: nulls have just left.
  return Object.fromEntries(kept) as Partial<WithoutNulls<Fields>>;
}
