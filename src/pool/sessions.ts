// Where a session's requests go: its home account, and detours for models its home cannot serve.

import { createHash } from 'node:crypto';
import type { Cluster, Topic } from '../cluster/cluster.ts';
import type { Clock } from '../lib/clock.ts';
import type { ExpiringStore, StoredText } from '../lib/expiring-store.ts';
import { isJsonObject, type JsonValue, parseJson } from '../lib/json.ts';
import type { WarnLog } from '../lib/log.ts';
import { WriteBehind } from '../lib/write-behind.ts';

export interface SessionBinding {
  readonly home: string;
  /** The models the session has asked for. */
  readonly models: readonly string[];
  readonly detours: ReadonlyMap<string, Detour>;
}

interface Detour {
  readonly accountId: string;
  /** True while the home account is only cooling down: the session returns to it. */
  readonly returns: boolean;
}

/** `resting` for a moment, `unfit` for this model only, `gone` for all. */
export type BoundAccountState = 'ready' | 'resting' | 'unfit' | 'gone';

/** A client has few models; a session that names many is not followed into all of them. */
const MAX_MODELS = 8;

export function boundAccounts({ home, detours }: SessionBinding, model: string): readonly string[] {
  const detour = detours.get(model);
  if (detour === undefined) return [home];
  return detour.returns ? [home, detour.accountId] : [detour.accountId, home];
}

interface Move {
  readonly model: string;
  readonly chosen: string;
  /** Of the first of `boundAccounts`. */
  readonly state: BoundAccountState;
}

export function nextBinding(binding: SessionBinding | undefined, move: Move): SessionBinding {
  const { model, chosen, state: fate } = move;
  if (binding === undefined) return boundTo(chosen, model);
  const [bound] = boundAccounts(binding, model);
  const isHome = bound === binding.home;
  if (chosen === bound) return isHome ? withoutDetour(binding, model) : binding;
  switch (fate) {
    case 'ready':
      return boundTo(chosen, model);
    case 'resting':
      return isHome ? withDetour(binding, model, { accountId: chosen, returns: true }) : binding;
    case 'gone':
      return isHome ? boundTo(chosen, model) : withLastingDetour(binding, move);
    case 'unfit':
      return isHome && binding.models.every((known) => known === model)
        ? boundTo(chosen, model)
        : withLastingDetour(binding, move);
    default:
      return fate satisfies never;
  }
}

function boundTo(home: string, model: string): SessionBinding {
  return { home, models: [model], detours: new Map() };
}

function withLastingDetour(binding: SessionBinding, { model, chosen }: Move): SessionBinding {
  if (chosen === binding.home) return withoutDetour(binding, model);
  return withDetour(binding, model, { accountId: chosen, returns: false });
}

function withDetour(binding: SessionBinding, model: string, detour: Detour): SessionBinding {
  const noted = noteModel(binding, model);
  if (!noted.models.includes(model)) return noted;
  return { ...noted, detours: new Map(noted.detours).set(model, detour) };
}

function withoutDetour(binding: SessionBinding, model: string): SessionBinding {
  const noted = noteModel(binding, model);
  if (!noted.detours.has(model)) return noted;
  const detours = new Map(noted.detours);
  detours.delete(model);
  return { ...noted, detours };
}

function noteModel(binding: SessionBinding, model: string): SessionBinding {
  const { models } = binding;
  if (models.includes(model) || models.length >= MAX_MODELS) return binding;
  return { ...binding, models: [...models, model] };
}

/** A session is the client's word; it means nothing outside its client key. */
export interface SessionName {
  readonly clientKeyId: string;
  readonly session: string;
}

interface BoundSession {
  /** Stands for the client key and the session; gives neither away. */
  readonly id: string;
  readonly clientKeyHash: string;
  /** The beginning of the client's own name for it. */
  readonly label: string;
  readonly accountId: string;
  /** Models that go elsewhere, because the account is cooling down or cannot serve them. */
  readonly detours: readonly {
    readonly model: string;
    readonly accountId: string;
    readonly returns: boolean;
  }[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface SessionTableOptions {
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly idleMs: () => number;
  readonly maxEntries?: number;
  /** A binding that is lost costs its session one cold prompt cache. */
  readonly store?: ExpiringStore | undefined;
  /** To the other processes that serve the same sessions. */
  readonly notices?: Cluster['notices'] | undefined;
  readonly log?: WarnLog | undefined;
}

const TOPIC: Topic<SessionNotice> = { name: 'sessions 1' };

interface Entry {
  readonly clientKeyId: string;
  readonly label: string;
  readonly binding: SessionBinding;
  /** Counts how often it was bound anew: of two that processes know the higher one holds. */
  readonly version: number;
  readonly expiresAt: number;
  /** What the store knows; undefined before it is told. */
  readonly savedUntil: number | undefined;
}

const MAX_SESSIONS = 10_000;
const LABEL_LENGTH = 12;
/** Longer names are kept as their hash: a client decides how long they are. */
const MAX_NAME_LENGTH = 128;
/** Of all that is stored, in UTF-16 units. */
const MAX_STORED_LENGTH = 16 * 1024 * 1024;
/** Longer idle times are told to the store only by and by: a busy session is not written with each request. */
const SAVED_LATE = 1 / 12;

/** Sessions and their accounts, apart for each key; idle ones end, and a store keeps them over a restart. */
export class SessionTable {
  readonly #options: SessionTableOptions;
  readonly #maxEntries: number;
  /** In the order of last use, as `keep` moves an entry to the end. */
  readonly #entries = new Map<string, Entry>();
  readonly #writes: WriteBehind<StoredText> | undefined;
  readonly #unlisten: (() => void) | undefined;
  #newest: string | undefined;
  #hasAccount: (accountId: string) => boolean = () => true;

  constructor(options: SessionTableOptions) {
    const { store, clock, log, notices, maxEntries = MAX_SESSIONS } = options;
    this.#unlisten = notices?.listen(TOPIC, {
      take: (notice) => this.#takeNotice(notice),
      catchUp: () => void this.load(this.#hasAccount),
    });
    this.#options = options;
    this.#maxEntries = maxEntries;
    this.#writes =
      store &&
      new WriteBehind<StoredText>({
        save: (sessions) => store.save(sessions, this.#bounds()),
        keyOf: ({ key }) => key,
        sizeOf: ({ json }) => json.length,
        clock,
        log,
        failure: 'Session bindings are not saved; a restart may move sessions to other accounts.',
      });
  }

  find(session: SessionName): SessionBinding | undefined {
    const entry = this.#entries.get(keyOf(session));
    const isKnown = entry !== undefined && entry.expiresAt > this.#options.clock.now();
    return isKnown ? entry.binding : undefined;
  }

  /** Keeps the binding and starts its idle time anew. */
  keep(session: SessionName, binding: SessionBinding): void {
    const { clock, idleMs } = this.#options;
    const key = keyOf(session);
    const known = this.#entries.get(key);
    // The newest is at the end already; moving it there again makes the map be rebuilt every few requests.
    if (key !== this.#newest) this.#entries.delete(key);
    this.#newest = key;
    const idle = idleMs();
    const expiresAt = clock.now() + idle;
    const isSame = known?.binding === binding;
    const savedUntil = isSame ? known.savedUntil : undefined;
    const isSaved =
      savedUntil !== undefined && Math.abs(expiresAt - savedUntil) < idle * SAVED_LATE;
    const entry: Entry = {
      clientKeyId: session.clientKeyId,
      label: known?.label ?? labelOf(session.session),
      binding,
      version: (known?.version ?? 0) + (isSame ? 0 : 1),
      expiresAt,
      savedUntil: isSaved ? savedUntil : expiresAt,
    };
    this.#entries.set(key, entry);
    if (!isSaved) this.#save(key, entry);
    this.#dropSurplus();
  }

  forgetAccount(accountId: string): void {
    for (const [key, { binding }] of this.#entries) if (binding.home === accountId) this.#end(key);
  }

  /** The longest unused first. */
  sessions(): readonly BoundSession[] {
    this.#dropExpired();
    return [...this.#entries].map(([key, entry]) => describe(key, entry));
  }

  /** As `sessions` shows it; undefined where it is bound to no account. */
  bound(session: SessionName): BoundSession | undefined {
    const key = keyOf(session);
    const entry = this.#entries.get(key);
    const isKnown = entry !== undefined && entry.expiresAt > this.#options.clock.now();
    return isKnown ? describe(key, entry) : undefined;
  }

  /** True when there was such a session; its next request is placed anew. */
  forget(id: string): boolean {
    for (const key of this.#entries.keys()) {
      if (hash(key) !== id) continue;
      this.#end(key);
      return true;
    }
    return false;
  }

  /** How many there were. */
  forgetAll(): number {
    this.#dropExpired();
    const { size } = this.#entries;
    for (const key of this.#entries.keys()) this.#end(key);
    return size;
  }

  /** Takes up what the store holds of accounts that are there. Never rejects: a store that fails is logged and left out. */
  async load(hasAccount: (accountId: string) => boolean): Promise<void> {
    const { store, log } = this.#options;
    this.#hasAccount = hasAccount;
    try {
      for (const { json, expiresAt } of (await store?.load(this.#bounds())) ?? []) {
        const read = readStored(json);
        if (read === undefined || !hasAccount(read.entry.binding.home)) continue;
        this.#take(read.key, { ...read.entry, expiresAt, savedUntil: expiresAt });
      }
    } catch (error) {
      log?.warn({ error }, 'Saved session bindings cannot be read; sessions are placed anew.');
    }
  }

  /** Saves what is not saved yet, as far as the store takes it. */
  async close(): Promise<void> {
    this.#unlisten?.();
    await this.#writes?.close();
  }

  /** Whoever tells it saves it. */
  #takeNotice(notice: SessionNotice): void {
    if ('ended' in notice) {
      this.#entries.delete(notice.ended);
      return;
    }
    const read = readStored(notice.json);
    if (read === undefined) return;
    const idleMs = this.#options.idleMs();
    // By this clock: the other's may be another.
    const expiresAt = this.#options.clock.now() + idleMs;
    this.#take(read.key, { ...read.entry, expiresAt, savedUntil: expiresAt });
  }

  /** Where two processes bound a session without knowing of each other, the same binding holds at both in the end. */
  #take(key: string, theirs: Entry): void {
    const known = this.#entries.get(key);
    const isKnown = known !== undefined && known.expiresAt > this.#options.clock.now();
    const order = isKnown ? compareBindings(key, known, theirs) : -1;
    if (isKnown && order > 0) {
      this.#save(key, known);
      return;
    }
    const expiresAt = Math.max(theirs.expiresAt, order === 0 ? (known?.expiresAt ?? 0) : 0);
    this.#entries.delete(key);
    this.#entries.set(key, { ...theirs, expiresAt });
    // This process may save its own behind theirs.
    if (order < 0 && known?.version === theirs.version) this.#write(key, theirs);
    this.#dropSurplus();
  }

  #bounds() {
    return {
      now: this.#options.clock.now(),
      maxEntries: this.#maxEntries,
      maxSize: MAX_STORED_LENGTH,
    };
  }

  #save(key: string, entry: Entry): void {
    this.#options.notices?.tell(TOPIC, { json: writeStored(key, entry) });
    this.#write(key, entry);
  }

  #write(key: string, entry: Entry): void {
    const { expiresAt } = entry;
    this.#writes?.add({ key: hash(key), json: writeStored(key, entry), expiresAt });
  }

  /** In the store as well, where a row that has expired stands for none. */
  #end(key: string): void {
    this.#entries.delete(key);
    this.#options.notices?.tell(TOPIC, { ended: key });
    this.#writes?.add({ key: hash(key), json: '', expiresAt: 0 });
  }

  #dropExpired(): void {
    const now = this.#options.clock.now();
    for (const [key, entry] of this.#entries) if (entry.expiresAt <= now) this.#entries.delete(key);
  }

  #dropSurplus(): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) return;
      this.#entries.delete(key);
    }
  }
}

/** A session that was bound or moved, as it is stored; or one that ended. */
type SessionNotice = { readonly json: string } | { readonly ended: string };

/** Positive where the first holds. */
function compareBindings(key: string, first: Entry, second: Entry): number {
  if (first.version !== second.version) return first.version - second.version;
  const [one, other] = [writeStored(key, first), writeStored(key, second)];
  return one === other ? 0 : one > other ? 1 : -1;
}

function writeStored(key: string, { clientKeyId, label, binding, version }: Entry): string {
  const { home, models } = binding;
  const detours = [...binding.detours].map(([model, { accountId, returns }]) => ({
    ...{ model, accountId, returns },
  }));
  return JSON.stringify({ key, clientKeyId, label, home, models, detours, version });
}

/** Undefined for what another version of the program wrote in another form. */
function readStored(
  json: string,
): { readonly key: string; readonly entry: Omit<Entry, 'expiresAt' | 'savedUntil'> } | undefined {
  const value = parseJson(json);
  if (!isJsonObject(value)) return undefined;
  const { key, clientKeyId, label, home, models, detours, version } = value;
  if (typeof key !== 'string' || typeof clientKeyId !== 'string') return undefined;
  if (typeof label !== 'string' || typeof home !== 'string') return undefined;
  if (!Array.isArray(models) || !Array.isArray(detours)) return undefined;
  const binding: SessionBinding = {
    home,
    models: models.filter((model) => typeof model === 'string'),
    detours: new Map(detours.flatMap(readDetour)),
  };
  // Earlier versions of the program wrote none.
  const known = typeof version === 'number' ? version : 0;
  return { key, entry: { clientKeyId, label, binding, version: known } };
}

function readDetour(value: JsonValue): readonly (readonly [string, Detour])[] {
  if (!isJsonObject(value)) return [];
  const { model, accountId, returns } = value;
  if (typeof model !== 'string' || typeof accountId !== 'string') return [];
  return [[model, { accountId, returns: returns === true }]];
}

/** The length in front keeps one key's sessions from looking like another's. */
function keyOf({ clientKeyId, session }: SessionName): string {
  const name = session.length > MAX_NAME_LENGTH ? `#${hash(session)}` : `=${session}`;
  return `${clientKeyId.length}:${clientKeyId}${name}`;
}

function labelOf(session: string): string {
  const short = session.length > LABEL_LENGTH ? `${session.slice(0, LABEL_LENGTH)}…` : session;
  return short.toWellFormed();
}

function describe(key: string, { clientKeyId, label, binding, expiresAt }: Entry): BoundSession {
  return {
    id: hash(key),
    clientKeyHash: hash(clientKeyId),
    label,
    accountId: binding.home,
    detours: [...binding.detours].map(([model, detour]) => ({ model, ...detour })),
    expiresAt,
  };
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
