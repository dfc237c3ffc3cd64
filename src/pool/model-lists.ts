// The model lists of the accounts: read once before they are needed, then again in the background.

import type { Account } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import type { TokenSource } from '../accounts/token-source.ts';
import { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import type { Upstream } from '../upstreams/upstream.ts';

export interface ModelListsOptions {
  readonly book: Pick<AccountBook, 'list' | 'find' | 'setModels' | 'apply' | 'subscribe'>;
  readonly upstreams: { get(id: string): Pick<Upstream, 'listModels'> | undefined };
  readonly tokens: TokenSource;
  readonly clock: Clock;
  /** Told of lists that could not be read. */
  readonly onFailure: (label: string, error: unknown, accountId: string) => void;
}

export interface ModelLists {
  /**
   * A promise while some list was never asked for; it does not wait long for a slow one. Undefined
   * when all are known well enough. Never rejects.
   */
  ensure(): Promise<void> | undefined;
  close(): void;
}

const LIFETIME_MS = 300_000;
const READ_LIMIT_MS = 5000;
/** One new account that is slow to answer is not to hold up the requests to all others. */
const LATER_LIMIT_MS = 1000;
const MOST_AT_ONCE = 16;

export function createModelLists(options: ModelListsOptions): ModelLists {
  return new Lists(options);
}

interface FirstReads {
  readonly promise: Promise<void>;
  end(): void;
}

class Lists implements ModelLists {
  readonly #options: ModelListsOptions;
  readonly #closing = new AbortController();
  /** When each account's list was last asked for. */
  readonly #askedAt = new Map<string, number>();
  /** Accounts whose list is read for the first time. */
  readonly #unasked = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #unsubscribe: () => void;
  #running = 0;
  #firstReads: FirstReads | undefined;
  #hasRead = false;
  /** Nothing is stale before then, so that a request need not look at every account. */
  #freshUntil = Number.NEGATIVE_INFINITY;

  constructor(options: ModelListsOptions) {
    this.#options = options;
    this.#unsubscribe = options.book.subscribe(({ kind, account }) => {
      const { id } = account.record;
      if (kind === 'removed') this.#forget(id);
      else if (kind === 'added' || kind === 'health') this.#readNew(account);
    });
  }

  ensure(): Promise<void> | undefined {
    const now = this.#options.clock.now();
    if (now >= this.#freshUntil) this.#addStale(now);
    if (this.#unasked.size === 0) return undefined;
    this.#firstReads ??= this.#startFirstReads();
    return this.#firstReads.promise;
  }

  close(): void {
    this.#unsubscribe();
    this.#closing.abort(new Error('The gateway is closing.'));
    this.#waiting.clear();
    this.#firstReads?.end();
  }

  #forget(id: string): void {
    this.#askedAt.delete(id);
    this.#waiting.delete(id);
    this.#asked(id);
  }

  /** Added, or enabled before its list was ever read. Nothing is read before the first request. */
  #readNew(account: Account): void {
    const { id } = account.record;
    if (this.#freshUntil < 0 || this.#askedAt.has(id) || !isReadable(account)) return;
    this.#add(id);
  }

  #addStale(now: number): void {
    let oldest = now;
    for (const account of this.#options.book.list()) {
      if (!isReadable(account)) continue;
      const askedAt = this.#askedAt.get(account.record.id) ?? Number.NEGATIVE_INFINITY;
      if (askedAt <= now - LIFETIME_MS) this.#add(account.record.id);
      else oldest = Math.min(oldest, askedAt);
    }
    this.#freshUntil = oldest + LIFETIME_MS;
  }

  #add(id: string): void {
    if (!this.#askedAt.has(id)) this.#unasked.add(id);
    this.#waiting.add(id);
    this.#startReads();
  }

  #startReads(): void {
    for (const id of this.#waiting) {
      if (this.#running >= MOST_AT_ONCE) return;
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
    const { book, upstreams, tokens, clock, onFailure } = this.#options;
    const account = book.find(id);
    if (account === undefined || !isReadable(account)) return;
    this.#askedAt.set(id, clock.now());
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(READ_LIMIT_MS)]);
    try {
      const upstream = upstreams.get(account.record.upstreamId);
      if (upstream === undefined) return;
      const access = await tokens.accessFor(account, { refresh: false, signal });
      const models = await upstream.listModels(access, signal);
      // A list without any model says nothing: some upstreams answer it so, and serve all the same.
      const list = new Map(models.map((model) => [model.id, model]));
      book.setModels(id, list.size === 0 ? undefined : list);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#noteRevocation(id, error);
      onFailure(account.record.label, error, id);
    }
  }

  #noteRevocation(id: string, error: unknown): void {
    const failure = error instanceof GatewayError ? error.failure : undefined;
    if (failure?.kind !== 'credential-revoked') return;
    this.#options.book.apply(id, { kind: 'failure', model: '', failure });
  }

  #asked(id: string): void {
    this.#unasked.delete(id);
    if (this.#unasked.size === 0) this.#firstReads?.end();
  }

  #startFirstReads(): FirstReads {
    const { promise, resolve } = Promise.withResolvers<void>();
    const limitMs = this.#hasRead ? LATER_LIMIT_MS : READ_LIMIT_MS;
    const end = (): void => {
      this.#hasRead = true;
      this.#unasked.clear();
      this.#firstReads = undefined;
      timer.cancel();
      resolve();
    };
    const timer = this.#options.clock.startTimer(limitMs, end);
    return { promise, end };
  }
}

/** A disabled account is not called, not even for its list. */
function isReadable({ health }: Account): boolean {
  return health.status.kind !== 'disabled';
}
