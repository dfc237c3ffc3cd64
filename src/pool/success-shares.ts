// How the last attempts on each account ended: the success share that ranks it, and what people are shown of it.

import type { UpstreamFailure } from '../canonical/error.ts';

/** 0: at least 95 % of the attempts succeed, or nothing is known; 1: at least 50 %; 2: fewer. */
export type HealthBand = 0 | 1 | 2;

export interface AttemptEnd {
  readonly accountId: string;
  /** The account's own id of the model. */
  readonly model: string;
  readonly clientKeyId: string;
  readonly session?: string | undefined;
  /** Stands for what was asked: a request that fails again and again counts once. */
  readonly fingerprint?: string | undefined;
  /** Undefined for a success. */
  readonly failure: UpstreamFailure | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** How the last attempts on one account went, of all its models and clients. */
export interface AccountCondition {
  /** The last attempts that said something of the account, at most 20. */
  readonly attempts: number;
  readonly successes: number;
  /** Successes among them, 0 to 1; undefined while there was none. */
  readonly share: number | undefined;
  /** The lowest band of its models now. */
  readonly band: HealthBand;
  /** Milliseconds since the epoch; undefined when none was since the start. */
  readonly lastSuccessAt: number | undefined;
  readonly lastFailure: { readonly at: number; readonly failure: UpstreamFailure } | undefined;
}

const WINDOW_MS = 30_000;
const MIN_ATTEMPTS = 5;
const GOOD_SHARE = 0.95;
const FAIR_SHARE = 0.5;
/** Bounds the memory of a window; the newest count. */
const MAX_ENTRIES = 2_000;
/** Clients may name any model. */
const MAX_MODELS = 64;
const SHOWN_ATTEMPTS = 20;

/** Kept in memory alone: after a restart every account is as good as another. */
export class SuccessShares {
  readonly #accounts = new Map<string, AccountRecord>();
  /** The windows that rank their account lower, as they were last looked at. */
  readonly #lowered = new Set<ShareWindow>();

  note(end: AttemptEnd): void {
    const { accountId, model, failure, at } = end;
    const account = this.#accounts.get(accountId) ?? newAccount();
    this.#accounts.set(accountId, account);
    noteShown(account, failure, at);
    if (failure !== undefined && !countsAgainst(failure)) return;
    const window = account.windows.get(model) ?? this.#openWindow(account, end);
    window.add(end);
    if (!window.isFaultless || this.#lowered.size > 0) this.#look(window, at);
  }

  #openWindow({ windows }: AccountRecord, { accountId, model }: AttemptEnd): ShareWindow {
    const [oldest] = windows;
    if (oldest !== undefined && windows.size >= MAX_MODELS) {
      windows.delete(oldest[0]);
      this.#lowered.delete(oldest[1]);
    }
    const window = new ShareWindow(accountId);
    windows.set(model, window);
    return window;
  }

  /** Below all others until then, but never out of use: it asked to be left alone while it failed mostly. */
  rest(accountId: string, model: string, until: number): void {
    const window = this.#accounts.get(accountId)?.windows.get(model);
    if (window === undefined) return;
    window.restUntil = Math.max(window.restUntil, until);
    this.#lowered.add(window);
  }

  /** The success share of the last 30 s; undefined below five attempts. */
  shareOf(accountId: string, model: string, now: number): number | undefined {
    return this.#accounts.get(accountId)?.windows.get(model)?.share(now);
  }

  bandOf(accountId: string, model: string, now: number): HealthBand {
    const window = this.#lowered.size === 0 ? undefined : this.#windowOf(accountId, model);
    return window === undefined || !this.#lowered.has(window) ? 0 : this.#look(window, now);
  }

  /** At most so many accounts are not in the highest band of some model. */
  get loweredCount(): number {
    return this.#lowered.size;
  }

  /** The accounts some model of which was not in the highest band when it was last looked at. */
  *lowered(): Iterable<string> {
    for (const { accountId } of this.#lowered) yield accountId;
  }

  /** When the model was last answered well, in milliseconds since the epoch; any model when absent. */
  servedAt(accountId: string, model?: string): number | undefined {
    const account = this.#accounts.get(accountId);
    return model === undefined ? account?.lastSuccessAt : account?.windows.get(model)?.servedAt;
  }

  /** The model that was answered last but for this one. */
  servedModel(accountId: string, except: string): string | undefined {
    const windows = [...(this.#accounts.get(accountId)?.windows ?? [])];
    const served = windows.filter(([model, { servedAt }]) => model !== except && servedAt);
    return served.toSorted(([, a], [, b]) => (b.servedAt ?? 0) - (a.servedAt ?? 0))[0]?.[0];
  }

  conditionOf(accountId: string, now: number): AccountCondition {
    const account = this.#accounts.get(accountId) ?? newAccount();
    const { shown, lastSuccessAt, lastFailure, windows } = account;
    const successes = shown.filter((isSuccess) => isSuccess).length;
    const bands = Array.from(windows.values(), (window) => this.#look(window, now));
    return {
      attempts: shown.length,
      successes,
      share: shown.length === 0 ? undefined : successes / shown.length,
      band: bands.reduce<HealthBand>((worst, band) => (band > worst ? band : worst), 0),
      lastSuccessAt,
      lastFailure,
    };
  }

  /** Somebody wants the account judged anew. */
  forget(accountId: string): void {
    for (const window of this.#accounts.get(accountId)?.windows.values() ?? []) {
      this.#lowered.delete(window);
    }
    this.#accounts.delete(accountId);
  }

  #windowOf(accountId: string, model: string): ShareWindow | undefined {
    return this.#accounts.get(accountId)?.windows.get(model);
  }

  #look(window: ShareWindow, now: number): HealthBand {
    const band = window.band(now);
    if (band === 0) this.#lowered.delete(window);
    else this.#lowered.add(window);
    return band;
  }
}

interface AccountRecord {
  readonly windows: Map<string, ShareWindow>;
  /** Whether the last attempts succeeded, oldest first. */
  readonly shown: boolean[];
  lastSuccessAt: number | undefined;
  lastFailure: AccountCondition['lastFailure'];
}

function newAccount(): AccountRecord {
  return { windows: new Map(), shown: [], lastSuccessAt: undefined, lastFailure: undefined };
}

function noteShown(account: AccountRecord, failure: UpstreamFailure | undefined, at: number): void {
  // What one request made of a model says nothing of the account, and a limit is told as a cooldown.
  if (failure !== undefined && (isOfRequest(failure) || isLimit(failure))) return;
  account.shown.push(failure === undefined);
  if (account.shown.length > SHOWN_ATTEMPTS) account.shown.shift();
  if (failure === undefined) account.lastSuccessAt = at;
  else account.lastFailure = { at, failure };
}

function isLimit({ kind }: UpstreamFailure): boolean {
  return kind === 'rate-limited' || kind === 'quota-exhausted';
}

function isOfRequest({ kind, finishReason }: UpstreamFailure): boolean {
  switch (kind) {
    case 'unusable-answer':
      return finishReason !== undefined;
    case 'rejected':
    case 'bad-signature':
    case 'missing-signature':
    case 'model-not-found':
      return true;
    default:
      return false;
  }
}

/** True for failures that lower the share; limits and refusals have cooldowns of their own. */
function countsAgainst(failure: UpstreamFailure): boolean {
  switch (failure.kind) {
    case 'path':
    case 'connection-lost':
    case 'overloaded':
    case 'credential-unavailable':
    case 'unauthenticated':
      return true;
    case 'unusable-answer':
      return !isOfRequest(failure);
    default:
      return false;
  }
}

interface Entry {
  readonly at: number;
  readonly client: string;
  readonly session: string;
  readonly fingerprint: string | undefined;
  readonly isSuccess: boolean;
  /** True once a later one of the same request counts in its place. */
  isGone: boolean;
}

/** The attempts of the last 30 s on one model of an account. */
class ShareWindow {
  readonly accountId: string;
  restUntil = 0;
  servedAt: number | undefined;
  #entries: Entry[] = [];
  #first = 0;
  /** Those that count. While there are none every share is 1, and nothing is summed up. */
  #failures = 0;
  #count = 0;
  readonly #byClient = new MeanShare();
  readonly #bySession = new MeanShare();

  constructor(accountId: string) {
    this.accountId = accountId;
  }

  get isFaultless(): boolean {
    return this.#failures === 0;
  }

  add({ clientKeyId: client, session = '', fingerprint, failure, at }: AttemptEnd): void {
    const isSuccess = failure === undefined;
    const entry = { at, client, session, fingerprint, isSuccess, isGone: false };
    if (isSuccess) this.servedAt = at;
    if (!isSuccess || this.#failures > 0) this.#addBesideFailures(entry);
    else this.#entries.push(entry);
    if (this.#entries.length - this.#first > MAX_ENTRIES) this.#dropFirst();
  }

  /** The mean over the client keys, or over the sessions where there is one key. */
  share(now: number): number | undefined {
    this.#prune(now);
    const count = this.#failures === 0 ? this.#entries.length - this.#first : this.#count;
    if (count < MIN_ATTEMPTS) return undefined;
    if (this.#failures === 0) return 1;
    return this.#byClient.size === 1 ? this.#bySession.mean : this.#byClient.mean;
  }

  band(now: number): HealthBand {
    if (this.restUntil > now) return 2;
    const share = this.share(now) ?? 1;
    if (share >= GOOD_SHARE) return 0;
    return share >= FAIR_SHARE ? 1 : 2;
  }

  #addBesideFailures(entry: Entry): void {
    this.#prune(entry.at);
    this.#entries.push(entry);
    const wasFaultless = this.#failures === 0;
    if (!entry.isSuccess) this.#failures += 1;
    if (this.#failures === 0) return;
    // Nothing was summed up before the first of them.
    for (const one of wasFaultless ? this.#entries.slice(this.#first) : [entry])
      this.#weigh(one, 1);
    if (!entry.isSuccess) this.#removeSame(entry);
  }

  #prune(now: number): void {
    // A clock that was set back makes entries of the future: they end as well.
    for (;;) {
      const entry = this.#entries[this.#first];
      if (entry === undefined || (entry.at > now - WINDOW_MS && entry.at <= now)) return;
      this.#dropFirst();
    }
  }

  #dropFirst(): void {
    const entry = this.#entries[this.#first];
    this.#first += 1;
    if (entry !== undefined && !entry.isGone && this.#failures > 0) this.#take(entry);
    if (this.#first < 64 || this.#first * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }

  /** An earlier failure of the same request counts no more. */
  #removeSame(newest: Entry): void {
    const { client, fingerprint } = newest;
    if (fingerprint === undefined) return;
    for (let at = this.#first; at < this.#entries.length; at += 1) {
      const entry = this.#entries[at];
      if (entry === undefined || entry === newest || entry.isGone || entry.isSuccess) continue;
      if (entry.client !== client || entry.fingerprint !== fingerprint) continue;
      entry.isGone = true;
      this.#take(entry);
    }
  }

  /** What was summed up of it; with the last failure the sums are over. */
  #take(entry: Entry): void {
    if (!entry.isSuccess) this.#failures -= 1;
    if (this.#failures > 0) {
      this.#weigh(entry, -1);
      return;
    }
    this.#count = 0;
    this.#byClient.clear();
    this.#bySession.clear();
  }

  #weigh({ client, session, isSuccess }: Entry, by: 1 | -1): void {
    this.#count += by;
    this.#byClient.weigh(client, isSuccess, by);
    this.#bySession.weigh(session, isSuccess, by);
  }
}

interface Tally {
  successes: number;
  total: number;
}

/** The mean of the shares of several groups, kept current without looking at all of them. */
class MeanShare {
  readonly #groups = new Map<string, Tally>();
  #sum = 0;

  get size(): number {
    return this.#groups.size;
  }

  get mean(): number {
    return this.#sum / this.#groups.size;
  }

  clear(): void {
    this.#groups.clear();
    this.#sum = 0;
  }

  weigh(name: string, isSuccess: boolean, by: 1 | -1): void {
    const tally = this.#groups.get(name) ?? { successes: 0, total: 0 };
    if (tally.total > 0) this.#sum -= tally.successes / tally.total;
    tally.total += by;
    if (isSuccess) tally.successes += by;
    if (tally.total > 0) {
      this.#sum += tally.successes / tally.total;
      this.#groups.set(name, tally);
    } else this.#groups.delete(name);
    // What rounding left over must not add up for ever.
    if (this.#groups.size === 0) this.#sum = 0;
  }
}
