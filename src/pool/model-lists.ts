// The model lists of the accounts: read once before they are needed, then again in the background.

import type { Account } from '../accounts/account.ts';
import { isStandingBy } from '../accounts/health.ts';
import { GatewayError, upstreamError } from '../canonical/error.ts';
import type { UpstreamModel } from '../canonical/model.ts';
import { tally } from '../lib/collections.ts';
import { told } from '../lib/localized-message.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { nearest, type OwnId } from './eligibility.ts';
import { type LeaseRequest, type PoolOptions, placeOf } from './pool.ts';

const LIFETIME_MS = 300_000;
/** A local server may just not be started yet. */
const RETRY_MS = 30_000;
const READ_LIMIT_MS = 5000;
/** One account that is slow to answer is not to hold up the requests to all others. */
const LATER_LIMIT_MS = 1000;
const MAX_CONCURRENT = 16;
/** Many times what any service offers; every one of them is a name that requests are routed by. */
const MAX_MODELS = 10_000;

interface FirstReads {
  readonly promise: Promise<void>;
  /** As long as a request waits whose model is in a list that was read. */
  readonly soon: Promise<void>;
  end(): void;
}

export class ModelLists {
  readonly #options: PoolOptions;
  readonly #isOffered: (model: string) => boolean;
  readonly #closing = new AbortController();
  readonly #askedAt = new Map<string, number>();
  /** Accounts whose list could not be read when it was last asked for. */
  readonly #failed = new Set<string>();
  /** Of these, where nobody answered. */
  readonly #unreached = new Set<string>();
  /** Accounts whose list is read for the first time. */
  readonly #unasked = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #unsubscribe: () => void;
  #running = 0;
  #firstReads: FirstReads | undefined;
  #hasRead = false;
  /** Nothing is stale before then, so that a request need not look at every account. */
  #freshUntil = Number.NEGATIVE_INFINITY;

  constructor(options: PoolOptions, isOffered: (model: string) => boolean) {
    this.#options = options;
    this.#isOffered = isOffered;
    this.#unsubscribe = options.book.subscribe(({ kind, account }) => {
      const { id } = account.record;
      if (kind === 'removed' || kind === 'reauthenticated') this.#forget(id);
      // Another plan, or another service, has other models.
      if (kind === 'reauthenticated') options.book.setModels(id, undefined);
      if (kind === 'added' || kind === 'health' || kind === 'reauthenticated') {
        // Enabled before its list was ever read. Nothing is read before the first request.
        const isNew = this.#freshUntil >= 0 && !this.#askedAt.has(id);
        if (isNew && isReadable(account)) this.#add(id);
      }
    });
  }

  /** A promise while a list is unknown, which waits for slow ones a moment only. Never rejects. */
  readonly ensure = (model?: string): Promise<void> | undefined => {
    const now = this.#options.clock.now();
    if (now >= this.#freshUntil) this.#addStale(now);
    if (this.#unasked.size === 0) return undefined;
    this.#firstReads ??= this.#startFirstReads();
    const { promise, soon } = this.#firstReads;
    return soon.then(() => (model !== undefined && this.#isOffered(model) ? undefined : promise));
  };

  close(): void {
    this.#unsubscribe();
    this.#closing.abort(new Error('The gateway is closing.'));
    this.#waiting.clear();
    this.#firstReads?.end();
  }

  #forget(id: string): void {
    this.#askedAt.delete(id);
    this.#failed.delete(id);
    this.#unreached.delete(id);
    this.#waiting.delete(id);
    this.#asked(id);
  }

  #addStale(now: number): void {
    this.#freshUntil = now + LIFETIME_MS;
    const retried = new Set<string>();
    for (const account of this.#options.book.list()) {
      if (!isReadable(account)) continue;
      const { id, upstreamId } = account.record;
      const askedAt = this.#askedAt.get(id) ?? Number.NEGATIVE_INFINITY;
      // One of an upstream's accounts finds out whether somebody answers there again.
      const isRetry = this.#unreached.has(id) && !retried.has(upstreamId);
      if (isRetry) retried.add(upstreamId);
      const staleAt = askedAt + (isRetry ? RETRY_MS : LIFETIME_MS);
      if (staleAt <= now) this.#add(id);
      else this.#freshUntil = Math.min(this.#freshUntil, staleAt);
    }
    // Those that were added may have to be asked again as soon.
    if (retried.size > 0) this.#freshUntil = Math.min(this.#freshUntil, now + RETRY_MS);
  }

  #add(id: string): void {
    if (!this.#askedAt.has(id)) this.#unasked.add(id);
    this.#waiting.add(id);
    this.#startReads();
  }

  #startReads(): void {
    for (const id of this.#waiting) {
      if (this.#running >= MAX_CONCURRENT) return;
      this.#waiting.delete(id);
      this.#running += 1;
      void this.#read(id).finally(() => {
        this.#running -= 1;
        this.#asked(id);
        this.#startReads();
      });
    }
  }

  async #read(id: string): Promise<void> {
    const { book, upstreams, tokens, clock, onModelListFailure } = this.#options;
    const account = book.find(id);
    if (account === undefined || !isReadable(account)) return;
    this.#askedAt.set(id, clock.now());
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(READ_LIMIT_MS)]);
    try {
      const upstream = upstreams.get(account.record.upstreamId);
      if (upstream === undefined) return;
      const access = await tokens.accessFor(account, { refresh: false, signal });
      const models = await upstream.listModels(access, signal);
      // What is there now was asked meanwhile.
      if (upstreams.get(upstream.id) !== upstream) return;
      // A list without any model says nothing: some upstreams answer it so, and serve all the same.
      const list = new Map(models.slice(0, MAX_MODELS).map((model) => [model.id, model]));
      book.setModels(id, list.size === 0 ? undefined : list);
      this.#failed.delete(id);
      this.#unreached.delete(id);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      const failure = error instanceof GatewayError ? error.failure : undefined;
      if (failure?.kind === 'credential-revoked') {
        book.apply(id, { kind: 'failure', model: '', failure });
      }
      const isRepeated = this.#failed.has(id);
      this.#failed.add(id);
      if (failure === undefined || failure.kind === 'path') {
        this.#unreached.add(id);
        this.#freshUntil = Math.min(this.#freshUntil, clock.now() + RETRY_MS);
      } else this.#unreached.delete(id);
      const cause = isTimeout(error) ? tooSlow(error) : error;
      onModelListFailure({ label: account.record.label, id, error: cause, isRepeated });
    }
  }

  #asked(id: string): void {
    this.#unasked.delete(id);
    if (this.#unasked.size === 0) this.#firstReads?.end();
  }

  #startFirstReads(): FirstReads {
    const { startTimer } = this.#options.clock;
    const { promise, resolve } = Promise.withResolvers<void>();
    const soon = Promise.withResolvers<void>();
    const limitMs = this.#hasRead ? LATER_LIMIT_MS : READ_LIMIT_MS;
    const end = (): void => {
      this.#hasRead = true;
      this.#unasked.clear();
      this.#firstReads = undefined;
      for (const timer of timers) timer.cancel();
      soon.resolve();
      resolve();
    };
    const timers = [startTimer(LATER_LIMIT_MS, soon.resolve), startTimer(limitMs, end)];
    return { promise, soon: soon.promise, end };
  }
}

/** What `AbortSignal.timeout` ends a call with. */
const isTimeout = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'TimeoutError';

function tooSlow(cause: unknown): GatewayError {
  const message = told`The upstream did not answer in time.`;
  return upstreamError('timeout', message, { cause, failure: { kind: 'path' } });
}

/** A disabled account is not called, not even for its list. */
const isReadable = ({ health }: Account): boolean => health.status.kind !== 'disabled';

type ModelList = ReadonlyMap<string, UpstreamModel> | undefined;

/** Clients name models, so what is remembered of their names is bounded. */
const MAX_REMEMBERED = 1000;

/** The names the accounts' model lists hold, counted as the lists come and go, and what is served of them. */
export class OfferedNames {
  readonly #options: PoolOptions;
  readonly #ownIdOf: OwnId;
  readonly #accounts = new Map<string, Account>();
  /** Accounts by their upstream. */
  readonly #upstreams = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  /** What complete lists serve, by the name asked for. */
  readonly #served = new Map<string, string | undefined>();
  /** Accounts whose lists are not counted, as their upstreams served by name alone: those may be gone when they leave. */
  readonly #named = new Set<string>();
  /** Accounts without a list, by their upstream. */
  readonly #unlisted = new Map<string, number>();
  #revision = 0;
  #rules: unknown;

  constructor(options: PoolOptions, ownIdOf: OwnId) {
    this.#options = options;
    this.#ownIdOf = ownIdOf;
    this.#rules = options.rulesVersion();
    for (const account of options.book.list()) this.put(account);
  }

  put(account: Account): void {
    const { id } = account.record;
    const before = this.#accounts.get(id);
    this.#accounts.set(id, account);
    if (before !== undefined && isSame(before, account)) return;
    if (before !== undefined) this.#count(before, -1);
    this.#count(account, 1);
    this.#change();
  }

  remove(accountId: string): void {
    const account = this.#accounts.get(accountId);
    if (account === undefined) return;
    this.#count(account, -1);
    this.#accounts.delete(accountId);
    this.#change();
  }

  has(name: string): boolean {
    return this.#counts.has(name);
  }

  /** True for a model in some list, as clients name it: alone, or behind its upstream. */
  holds(name: string): boolean {
    if (this.has(name)) return true;
    const slash = name.indexOf('/');
    const id = name.slice(slash + 1);
    return slash > 0 && this.listedBy(name.slice(0, slash)).some((one) => one === id);
  }

  /** The id by which a model is known where least of its name is lost, to the first such account. Unknown lists may offer anything. */
  servedAs(model: string, upstreamId?: string): string | undefined {
    const request = { model, upstreamId };
    if (this.revision === undefined) return this.#findServed(request);
    const place = placeOf(request);
    if (this.#served.size >= MAX_REMEMBERED) this.#served.clear();
    if (!this.#served.has(place)) this.#served.set(place, this.#findServed(request));
    return this.#served.get(place);
  }

  /** False where only accounts without a list could serve it, and nothing suggests that they do. */
  knows(model: string, upstreamId?: string): boolean {
    const isNamed = this.#options.families?.().unlisted(model) !== undefined;
    for (const account of this.#accounts.values()) {
      const upstream = this.#askedFor(account, upstreamId);
      if (upstream === undefined) continue;
      const isGuess = account.models === undefined && upstream.hasOwnNames === true && !isNamed;
      if (!isGuess && this.#ownIdOf(account, model) !== undefined) return true;
    }
    return false;
  }

  /** True while an account could take bodies of the wire: of that upstream, or of any that serves without being named. */
  speaks(wire: string | undefined, upstreamId: string | undefined): boolean {
    const { upstreams } = this.#options;
    const ids = upstreamId === undefined ? this.#upstreams.keys() : [upstreamId];
    for (const id of ids) {
      const upstream = upstreams.get(id);
      const isAsked = upstreamId !== undefined || upstream?.servesByNameOnly !== true;
      if (isAsked && upstream?.wire === wire) return true;
    }
    return false;
  }

  /** True while an upstream of that id has an account. */
  hasUpstream(id: string): boolean {
    return this.#upstreams.has(id);
  }

  /** What the lists of that upstream's enabled accounts hold, which may serve by its name alone. */
  *listedBy(upstreamId: string): Generator<string> {
    for (const account of this.#accounts.values()) {
      const isOfIt = account.record.upstreamId === upstreamId && isReadable(account);
      if (isOfIt) yield* account.models?.keys() ?? [];
    }
  }

  /** False while the list of some account that has its upstream is unknown: a name that is not here may still be offered. */
  get isComplete(): boolean {
    return this.revision !== undefined;
  }

  /** Changes whenever another answer may differ from before; undefined while some list is unknown. */
  get revision(): number | undefined {
    const latest = this.#options.rulesVersion();
    if (latest !== this.#rules) this.#change();
    this.#rules = latest;
    for (const id of this.#unlisted.keys()) {
      if (this.#options.upstreams.get(id) !== undefined) return undefined;
    }
    return this.#revision;
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#counts.keys();
  }

  #change(): void {
    this.#revision += 1;
    this.#served.clear();
  }

  #count(account: Account, step: 1 | -1): void {
    const { id, upstreamId } = account.record;
    tally(this.#upstreams, upstreamId, step);
    const isNamed = this.#options.upstreams.get(upstreamId)?.servesByNameOnly === true;
    if (step === 1 && isNamed) this.#named.add(id);
    else if (!this.#named.delete(id)) this.#countList(account, step);
  }

  #countList(account: Account, step: 1 | -1): void {
    const { upstreamId } = account.record;
    const list = listOf(account);
    if (list === undefined) tally(this.#unlisted, upstreamId, step);
    for (const name of list?.keys() ?? []) tally(this.#counts, name, step);
  }

  #findServed({ model, upstreamId }: Pick<LeaseRequest, 'model' | 'upstreamId'>) {
    const families = this.#options.families?.();
    return nearest(this.#idsOf(model, upstreamId), (id) => families?.lossOf(model, id));
  }

  *#idsOf(model: string, upstreamId: string | undefined): Iterable<string> {
    const now = this.#options.clock.now();
    for (const account of this.#accounts.values()) {
      if (!isReadable(account) || this.#askedFor(account, upstreamId) === undefined) continue;
      const id = this.#ownIdOf(account, model);
      if (id !== undefined && !isMissing(account, id, now)) yield id;
    }
  }

  /** The upstream of an account that serves what is routed to that upstream, or to any; else undefined. */
  #askedFor({ record }: Account, upstreamId: string | undefined): Upstream | undefined {
    const upstream = this.#options.upstreams.get(record.upstreamId);
    const isAsked =
      upstreamId === undefined
        ? upstream?.servesByNameOnly !== true
        : upstreamId === record.upstreamId;
    return isAsked ? upstream : undefined;
  }
}

/** Of an account without a list only its refusal says that it lacks a model. */
function isMissing({ models, health }: Account, id: string, now: number): boolean {
  if (models !== undefined) return false;
  const state = health.models.get(id);
  return state?.cause === 'missing' && state.coolUntil > now;
}

function isSame(before: Account, after: Account): boolean {
  return listOf(before) === listOf(after) && isReadable(before) === isReadable(after);
}

const NOTHING: ModelList = new Map();

/** Made-up accounts that stand by are not asked for their lists: what they do not say means nothing. */
function listOf(account: Account): ModelList {
  return account.models ?? (isStandingBy(account) ? NOTHING : undefined);
}
