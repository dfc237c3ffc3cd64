// Keeps quota figures fresh: each account at its own phase of the interval, and at once after a change.

import { hash } from 'node:crypto';
import type { Account, QuotaReading, TokenSource } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { GatewayError } from '../canonical/error.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { UpstreamQuota } from '../canonical/quota.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { createRateGate, type RateGate } from '../lib/concurrency.ts';
import { asSentence, type Sentence, sentenceOf } from '../lib/localized-message.ts';
import type { WarnLog } from '../lib/log.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import type { QuotaSettings } from './protection.ts';

interface QuotaRefresherOptions {
  readonly book: AccountBook;
  readonly upstreams: { get(id: string): Pick<Upstream, 'readQuota' | 'modelIds'> | undefined };
  readonly tokens: TokenSource;
  readonly settings: () => QuotaSettings;
  /** One spelling for every way to write a model's name. */
  readonly normalizeName: (name: string) => string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: WarnLog;
  /** Of several processes with the same accounts one asks in turn; what it hears all know. */
  readonly isLeading?: (() => boolean) | undefined;
}

type RefreshOutcome =
  | { readonly kind: 'read'; readonly models: number }
  /** The upstream has no call for it: figures are estimated, if at all. */
  | { readonly kind: 'not-reported' }
  | { readonly kind: 'failed'; readonly message: Sentence }
  | { readonly kind: 'gone' };

const MAX_CONCURRENT = 5;
const SPACING_MS = 200;
const READ_LIMIT_MS = 10_000;

export class QuotaRefresher {
  readonly #options: QuotaRefresherOptions;
  readonly #queue: RateGate;
  readonly #turns = new Map<string, Timer>();
  readonly #underWay = new Map<string, Promise<RefreshOutcome>>();
  readonly #changedMeanwhile = new Set<string>();
  readonly #closing = new AbortController();
  #unsubscribe: (() => void) | undefined;

  constructor(options: QuotaRefresherOptions) {
    this.#options = options;
    this.#queue = createRateGate({
      clock: options.clock,
      maxConcurrent: MAX_CONCURRENT,
      spacingMs: SPACING_MS,
    });
  }

  /** Begins the turns; accounts without any figure are asked at once, one after the other. */
  start(): void {
    const { book } = this.#options;
    this.#unsubscribe ??= book.subscribe((change) => {
      const { record, quotas } = change.account;
      const { id } = record;
      if (change.kind === 'reauthenticated') {
        book.setQuotas(id, new Map([...quotas.keys()].map((model) => [model, undefined])));
        this.noteChanged(id);
      }
      if (change.kind === 'added') void this.refreshNow(id);
      if (change.kind === 'removed') this.#forget(id);
      if (change.kind === 'models') this.#respell(change.account);
    });
    for (const account of book.list()) {
      if (account.quotas.size === 0) void this.refreshNow(account.record.id);
      else this.#plan(account.record.id, 'first');
    }
  }

  /** Asks the upstream now; calls in the meantime share the answer. Never rejects. */
  refreshNow(accountId: string): Promise<RefreshOutcome> {
    const running = this.#underWay.get(accountId);
    if (running !== undefined) return running;
    return this.#enqueue(accountId, { isUrgent: true });
  }

  /** Asks the upstream soon, and again after a request under way, whose answer may be too old. */
  noteChanged(accountId: string): void {
    if (this.#closing.signal.aborted) return;
    if (this.#underWay.has(accountId)) this.#changedMeanwhile.add(accountId);
    else void this.refreshNow(accountId);
  }

  /** Plans all turns anew, after the interval was changed. */
  reschedule(): void {
    for (const { record } of this.#options.book.list()) this.#plan(record.id, 'first');
  }

  close(): void {
    this.#unsubscribe?.();
    this.#closing.abort(new Error('The gateway is closing.'));
    this.#queue.close();
    for (const timer of this.#turns.values()) timer.cancel();
    this.#turns.clear();
  }

  /** Figures that came before the account's list of models go by its ids from now on. */
  #respell(account: Account): void {
    const spellings = this.#spellingsOf(account);
    if (spellings === undefined) return;
    this.#options.book.setQuotas(account.record.id, respellReadings(spellings));
  }

  #spellingsOf(account: Account): ModelSpellings | undefined {
    const { upstreams, normalizeName } = this.#options;
    const upstream = upstreams.get(account.record.upstreamId);
    return upstream && { account, upstream, normalizeName };
  }

  #forget(accountId: string): void {
    this.#turns.get(accountId)?.cancel();
    this.#turns.delete(accountId);
  }

  #plan(accountId: string, turn: 'first' | 'next'): void {
    const { book, clock, random, settings } = this.#options;
    this.#forget(accountId);
    const account = book.find(accountId);
    if (account === undefined || this.#closing.signal.aborted) return;
    const now = clock.now();
    const { refreshIntervalMs: intervalMs } = settings();
    const turnMs =
      turn === 'first'
        ? untilFirstTurn(accountId, { now, intervalMs })
        : untilNextTurn(accountId, { now, intervalMs, jitter: random() });
    const resets = [...account.quotas.values()].flatMap(({ source, resetsAt }) =>
      source === 'rate' ? [] : (resetsAt ?? []),
    );
    const delayMs = untilReset(resets, { now, withinMs: turnMs }) ?? turnMs;
    const timer = clock.startTimer(delayMs, () => void this.#takeTurn(accountId));
    this.#turns.set(accountId, timer);
  }

  #takeTurn(accountId: string): void {
    if (this.#underWay.has(accountId)) return;
    const account = this.#options.book.find(accountId);
    if (account === undefined) return;
    const { isLeading = () => true } = this.#options;
    // A disabled account may not be called; its turns go on for when it is enabled again.
    if (account.health.status.kind === 'disabled' || !isLeading()) {
      this.#plan(accountId, 'next');
      return;
    }
    void this.#enqueue(accountId, { isUrgent: false });
  }

  #enqueue(accountId: string, options: { readonly isUrgent: boolean }): Promise<RefreshOutcome> {
    const result = new Promise<RefreshOutcome>((resolve) => {
      const job = async (): Promise<void> => {
        const outcome = await this.#read(accountId);
        this.#underWay.delete(accountId);
        if (outcome.kind !== 'gone') this.#plan(accountId, 'next');
        resolve(outcome);
        if (this.#changedMeanwhile.delete(accountId)) this.noteChanged(accountId);
      };
      this.#queue.add(job, options);
    });
    this.#underWay.set(accountId, result);
    return result;
  }

  async #read(accountId: string): Promise<RefreshOutcome> {
    const { book, tokens, upstreams, log } = this.#options;
    const account = book.find(accountId);
    const upstream = account && upstreams.get(account.record.upstreamId);
    if (account === undefined || upstream === undefined) return { kind: 'gone' };
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(READ_LIMIT_MS)]);
    const readAt = this.#options.clock.now();
    try {
      const access = await tokens.accessFor(account, { refresh: false, signal });
      const quota = await upstream.readQuota(access, signal);
      // What is there now was asked meanwhile, or is next.
      const isReplaced = upstreams.get(account.record.upstreamId) !== upstream;
      if (quota === undefined || isReplaced) return { kind: 'not-reported' };
      await this.#take(account, quota, readAt);
      return { kind: 'read', models: quota.models.length };
    } catch (error) {
      const message = error instanceof Error ? sentenceOf(error) : asSentence(String(error));
      const failure = error instanceof GatewayError ? error.failure : undefined;
      if (failure !== undefined && isOfAccount(failure)) {
        book.apply(accountId, { kind: 'failure', model: '', failure, startedAt: readAt });
      }
      if (!this.#closing.signal.aborted) {
        log.warn(
          { account: account.record.label, error: message.text },
          'Quota figures were not read.',
        );
      }
      return { kind: 'failed', message };
    }
  }

  /** Dated by when they were asked for: what happened since is newer than the figures. */
  async #take(account: Account, quota: UpstreamQuota, fetchedAt: number): Promise<void> {
    const { book } = this.#options;
    const { id: accountId } = account.record;
    const readings = new Map<string, QuotaReading | undefined>();
    for (const id of account.quotas.keys()) readings.set(id, undefined);
    const spellings = this.#spellingsOf(book.find(accountId) ?? account);
    const owned = quota.models.map((row) => ({
      ...row,
      own: spellings === undefined ? row.id : ownModelId(row.id, spellings),
    }));
    // Of two spellings of one model its own goes last and stays.
    for (const { id, own, ...figures } of owned.toSorted(byOwnLast)) {
      readings.set(own, { ...figures, source: 'upstream', fetchedAt });
    }
    book.setQuotas(accountId, readings);
    await this.#takeTierAndProject(account, quota);
  }

  /** The tier of the upstream wins over the one that was entered; a project that was entered stays. */
  async #takeTierAndProject({ record }: Account, quota: UpstreamQuota): Promise<void> {
    const tier = quota.tier !== undefined && quota.tier !== record.tier ? quota.tier : undefined;
    const projectId = record.projectId === undefined ? quota.projectId : undefined;
    if (tier === undefined && projectId === undefined) return;
    await this.#options.book.learnPlan(record.id, {
      ...(tier === undefined ? {} : { tier }),
      ...(projectId === undefined ? {} : { projectId }),
    });
  }
}

/** True for refusals that a request would meet as well: it is not to spend an attempt on finding out. */
function isOfAccount({ kind }: UpstreamFailure): boolean {
  return kind === 'credential-revoked' || kind === 'verification-required';
}

interface OwnedRow {
  readonly id: string;
  readonly own: string;
}

function byOwnLast(left: OwnedRow, right: OwnedRow): number {
  return Number(left.id === left.own) - Number(right.id === right.own);
}

interface ModelSpellings {
  readonly account: Account;
  readonly upstream: Pick<Upstream, 'modelIds'>;
  /** One spelling for every way to write a model's name. */
  readonly normalizeName: (name: string) => string;
}

/** The id itself when the account's list has it, or nothing in it is the same name. */
function ownModelId(reported: string, spellings: ModelSpellings): string {
  const { account, upstream, normalizeName } = spellings;
  const { models } = account;
  if (models?.has(reported) === true) return reported;
  const name = normalizeName(reported);
  for (const id of models?.keys() ?? upstream.modelIds(name)) {
    if (normalizeName(id) === name) return id;
  }
  return reported;
}

/** What changes when the figures the upstream reported go by the account's own ids. */
function respellReadings(spellings: ModelSpellings): ReadonlyMap<string, QuotaReading | undefined> {
  const { quotas } = spellings.account;
  const changes = new Map<string, QuotaReading | undefined>();
  for (const [id, reading] of quotas) {
    const own = reading.source === 'upstream' ? ownModelId(id, spellings) : id;
    if (own === id) continue;
    changes.set(id, undefined);
    if (quotas.get(own)?.source !== 'upstream') changes.set(own, reading);
  }
  return changes;
}

interface RefreshMoment {
  readonly now: number;
  readonly intervalMs: number;
  readonly jitter: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Behind a reset, so that the upstream's own clock is surely past it. */
const AFTER_RESET_MS = 2000;

/** Milliseconds until the account's first turn: its fixed phase of the interval. */
function untilFirstTurn(
  accountId: string,
  { now, intervalMs }: Omit<RefreshMoment, 'jitter'>,
): number {
  const interval = boundInterval(intervalMs);
  const phase = Math.floor(phaseOf(accountId) * interval);
  return (((phase - now) % interval) + interval) % interval;
}

/** Milliseconds from one turn to the next: back on the phase, give or take a tenth of the interval. */
function untilNextTurn(accountId: string, moment: RefreshMoment): number {
  const interval = boundInterval(moment.intervalMs);
  const untilPhase = untilFirstTurn(accountId, moment);
  // What is nearly now was just had, a little early or late.
  const turn = untilPhase < interval / 2 ? untilPhase + interval : untilPhase;
  return Math.round(turn + (moment.jitter - 0.5) * 0.2 * interval);
}

/** Milliseconds until the first of the windows is over; undefined when none ends before `withinMs`. */
function untilReset(
  resets: readonly number[],
  { now, withinMs }: { readonly now: number; readonly withinMs: number },
): number | undefined {
  const next = Math.min(...resets.filter((at) => at > now));
  const waitMs = next - now + AFTER_RESET_MS;
  return waitMs < withinMs ? waitMs : undefined;
}

/** Timers take no more than 24.8 days, and a pool must not be asked all the time. */
function boundInterval(intervalMs: number): number {
  return Math.min(Math.max(intervalMs, MINUTE_MS), DAY_MS);
}

/** 0 to 1, the same for an account in every run. */
function phaseOf(accountId: string): number {
  return Number.parseInt(hash('sha256', accountId, 'hex').slice(0, 8), 16) / 2 ** 32;
}
