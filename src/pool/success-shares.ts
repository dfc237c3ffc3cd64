// How the last attempts on each account ended: the success share that ranks it, and what people are shown of it.

import {
  ACCOUNT_FAILURES,
  type UpstreamFailure,
  type UpstreamFailureKind,
} from '../canonical/failure.ts';

/** 0: at least 95 % of the attempts succeed, or nothing is known; 1: at least 50 %; 2: fewer. */
export type HealthBand = 0 | 1 | 2;

interface AttemptEnd {
  readonly accountId: string;
  readonly model: string;
  readonly clientKeyId: string;
  readonly session?: string | undefined;
  /** Stands for what was asked: a request that fails again and again counts once. */
  readonly fingerprint?: string | undefined;
  readonly failure: UpstreamFailure | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface AccountCondition {
  /** The last attempts that said something of the account, at most 20. */
  readonly attempts: number;
  /** Successes among them, 0 to 1; undefined while there was none. */
  readonly share: number | undefined;
  /** Milliseconds since the epoch; undefined when none was since the start. */
  readonly lastSuccessAt: number | undefined;
  readonly lastFailure: { readonly at: number; readonly failure: UpstreamFailure } | undefined;
}

const WINDOW_MS = 30_000;
const MIN_ATTEMPTS = 5;
/** Bounds the memory of a window; the newest count. */
const MAX_ENTRIES = 2_000;
/** Clients may name any model. */
const MAX_MODELS = 64;
const SHOWN_ATTEMPTS = 20;
/** With so many below others none is put there for a time alone: each choice of an account looks through them. */
const MAX_RESTING = 1_000;

/** Failures that lower the share; limits and refusals have cooldowns of their own. */
const COUNTED: ReadonlySet<UpstreamFailureKind> = new Set<UpstreamFailureKind>([
  ...(['path', 'connection-lost', 'overloaded', 'unusable-answer'] as const),
  ...(['credential-unavailable', 'unauthenticated'] as const),
]);

/** Healthy, degraded or failing, by the share of successes. */
export function bandOfShare(share: number): HealthBand {
  if (share >= 0.95) return 0;
  return share >= 0.5 ? 1 : 2;
}

/** Kept in memory alone: after a restart every account is as good as another, whatever people are shown of it. */
export class SuccessShares {
  readonly #accounts = new Map<string, AccountRecord>();
  /** The windows that rank their account lower, as they were last looked at. */
  readonly lowered = new Set<ShareWindow>();

  note(end: AttemptEnd): void {
    const { accountId, failure, at } = end;
    const account = this.#accounts.get(accountId) ?? this.#open(accountId);
    const { shown } = account;
    // An answer of no use that says why it ended is of its request.
    const isUseless = failure?.kind === 'unusable-answer' && failure.finishReason !== undefined;
    if (failure === undefined || (!isUseless && ACCOUNT_FAILURES.has(failure.kind))) {
      shown.push(failure === undefined);
      if (shown.length > SHOWN_ATTEMPTS) shown.shift();
      if (failure === undefined) account.lastSuccessAt = at;
      else account.lastFailure = { at, failure };
    }
    if (failure !== undefined && (isUseless || !COUNTED.has(failure.kind))) return;
    const window = this.#windowOf(account, end);
    window.add(end);
    if (window.failures > 0 || this.lowered.size > 0) this.#look(window, at);
  }

  /** For people alone, and for an account that is not known yet: no request is led by what was before the start. */
  recall(accountId: string, { good, failed }: { readonly good: number; readonly failed: number }) {
    if (this.#accounts.has(accountId) || good + failed === 0) return;
    const shown = Math.min(SHOWN_ATTEMPTS, good + failed);
    const successes = Math.round((shown * good) / (good + failed));
    const attempts = Array.from({ length: shown }, (_, nth) => nth >= shown - successes);
    this.#open(accountId).shown.push(...attempts);
  }

  #open(accountId: string): AccountRecord {
    const windows = new Map<string, ShareWindow>();
    const account = { windows, shown: [], lastSuccessAt: undefined, lastFailure: undefined };
    this.#accounts.set(accountId, account);
    return account;
  }

  #windowOf(
    { windows }: AccountRecord,
    { accountId, model }: Pick<AttemptEnd, 'accountId' | 'model'>,
  ): ShareWindow {
    const known = windows.get(model);
    if (known !== undefined) return known;
    const [oldest] = windows;
    if (oldest !== undefined && windows.size >= MAX_MODELS) {
      windows.delete(oldest[0]);
      this.lowered.delete(oldest[1]);
    }
    const window = new ShareWindow(accountId);
    windows.set(model, window);
    return window;
  }

  /** Below all others until then or its next success, and not tried before them, but never out of use. */
  rest(accountId: string, model: string, { until, now }: { until: number; now: number }): void {
    if (this.lowered.size >= MAX_RESTING) for (const one of this.lowered) this.#look(one, now);
    if (this.lowered.size >= MAX_RESTING) return;
    const account = this.#accounts.get(accountId) ?? this.#open(accountId);
    const window = this.#windowOf(account, { accountId, model });
    window.restUntil = Math.max(window.restUntil, until);
    this.lowered.add(window);
  }

  /** The success share of the last 30 s; undefined below five attempts. */
  shareOf(accountId: string, model: string, now: number): number | undefined {
    return this.#accounts.get(accountId)?.windows.get(model)?.share(now);
  }

  bandOf(accountId: string, model: string, now: number): HealthBand {
    if (this.lowered.size === 0) return 0;
    const window = this.#accounts.get(accountId)?.windows.get(model);
    return window === undefined || !this.lowered.has(window) ? 0 : this.#look(window, now);
  }

  isResting(accountId: string, model: string, now: number): boolean {
    return (this.#accounts.get(accountId)?.windows.get(model)?.restUntil ?? now) > now;
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

  conditionOf(accountId: string): AccountCondition {
    const account = this.#accounts.get(accountId);
    const shown = account?.shown ?? [];
    const successes = shown.filter((isSuccess) => isSuccess).length;
    return {
      attempts: shown.length,
      share: shown.length === 0 ? undefined : successes / shown.length,
      lastSuccessAt: account?.lastSuccessAt,
      lastFailure: account?.lastFailure,
    };
  }

  /** Somebody wants the account judged anew. */
  forget(accountId: string): void {
    for (const window of this.#accounts.get(accountId)?.windows.values() ?? []) {
      this.lowered.delete(window);
    }
    this.#accounts.delete(accountId);
  }

  #look(window: ShareWindow, now: number): HealthBand {
    const band = window.band(now);
    if (band === 0) this.lowered.delete(window);
    else this.lowered.add(window);
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
  /** Those that count. While there are none every share is 1, and nothing is summed up. */
  failures = 0;
  #entries: Entry[] = [];
  #first = 0;
  readonly #byClient = new MeanShare();
  readonly #bySession = new MeanShare();

  constructor(accountId: string) {
    this.accountId = accountId;
  }

  add({ clientKeyId: client, session = '', fingerprint, failure, at }: AttemptEnd): void {
    const isSuccess = failure === undefined;
    const entry = { at, client, session, fingerprint, isSuccess, isGone: false };
    if (isSuccess) [this.servedAt, this.restUntil] = [at, 0];
    const isFaultless = this.failures === 0;
    if (!isSuccess || !isFaultless) this.#prune(at);
    this.#entries.push(entry);
    if (!isSuccess) {
      this.failures += 1;
      // Nothing was summed up before the first of them.
      const unsummed = this.failures === 1 ? this.#entries.slice(this.#first) : [entry];
      for (const one of unsummed) this.#weigh(one, 1);
      this.#removeSame(entry);
    } else if (this.failures > 0) this.#weigh(entry, 1);
    if (this.#entries.length - this.#first > MAX_ENTRIES) this.#dropFirst();
  }

  /** The mean over the client keys, or over the sessions where there is one key. */
  share(now: number): number | undefined {
    this.#prune(now);
    const isFaultless = this.failures === 0;
    const count = isFaultless ? this.#entries.length - this.#first : this.#byClient.total;
    if (count < MIN_ATTEMPTS) return undefined;
    if (isFaultless) return 1;
    return this.#byClient.size === 1 ? this.#bySession.mean : this.#byClient.mean;
  }

  band(now: number): HealthBand {
    if (this.restUntil > now) return 2;
    return bandOfShare(this.share(now) ?? 1);
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
    if (entry !== undefined && !entry.isGone && this.failures > 0) this.#take(entry);
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
    if (!entry.isSuccess) this.failures -= 1;
    if (this.failures > 0) this.#weigh(entry, -1);
    else {
      this.#byClient.clear();
      this.#bySession.clear();
    }
  }

  #weigh({ client, session, isSuccess }: Entry, by: 1 | -1): void {
    this.#byClient.weigh(client, isSuccess, by);
    this.#bySession.weigh(session, isSuccess, by);
  }
}

/** The mean of the shares of several groups, kept current without looking at all of them. */
class MeanShare {
  readonly #groups = new Map<string, { readonly successes: number; readonly total: number }>();
  #sum = 0;
  /** Of all groups. */
  total = 0;

  get size(): number {
    return this.#groups.size;
  }

  get mean(): number {
    return this.#sum / this.#groups.size;
  }

  clear(): void {
    this.#groups.clear();
    this.#sum = 0;
    this.total = 0;
  }

  weigh(name: string, isSuccess: boolean, by: 1 | -1): void {
    const before = this.#groups.get(name) ?? { successes: 0, total: 0 };
    const total = before.total + by;
    const successes = before.successes + (isSuccess ? by : 0);
    this.total += by;
    if (before.total > 0) this.#sum -= before.successes / before.total;
    if (total > 0) {
      this.#sum += successes / total;
      this.#groups.set(name, { successes, total });
    } else this.#groups.delete(name);
    // What rounding left over must not add up for ever.
    if (this.#groups.size === 0) this.#sum = 0;
  }
}
