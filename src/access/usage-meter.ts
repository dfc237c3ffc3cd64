// The usage of one API key: its rates, what it runs at once, its day and its addresses; and what a call takes of limits.

import { clientError, type GatewayError } from '../canonical/error.ts';
import type { Counter, Counters, Taken } from '../cluster/counters.ts';
import type { Clock } from '../lib/clock.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import type { DayUse, KeyLimits, StoredKey } from './api-key.ts';

interface MeterOptions {
  /** Of the key: its counters have the same names in every process. */
  readonly id: string;
  readonly counters: Counters;
  readonly clock: Pick<Clock, 'now'>;
  /** Called when there is something to save; what is new in it is for the other processes. */
  onUse(use: NewUse): void;
}

/** What one process adds to the use of a key. */
export interface NewUse {
  readonly requests?: number;
  readonly tokens?: number;
  readonly images?: number;
  /** That came for the first time within a day. */
  readonly address?: string;
}

export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  /** Until all of it is there again. */
  readonly resetMs: number;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export class UsageMeter {
  /** Address → when it came last, the latest last. */
  readonly addresses: Map<string, number>;
  readonly #options: MeterOptions;
  readonly #requests: Counter;
  readonly #tokens: Counter;
  readonly #running: Counter;
  #use: DayUse;

  constructor(stored: Pick<StoredKey, 'use' | 'addresses'>, options: MeterOptions) {
    const { id, counters } = options;
    this.#options = options;
    this.#requests = counters.open(`key ${id} requests`, 'minute');
    // One is taken for a whole call: stock would let calls pass when all is used.
    this.#tokens = counters.open(`key ${id} tokens`, 'minute', { hasStock: false });
    // What one process held in stock another would have to refuse.
    const held = { hasStock: false, isHeld: true };
    this.#running = counters.open(`key ${id} running`, 'long', held);
    this.#use = stored.use ?? emptyDay(0);
    this.addresses = new Map([...stored.addresses].sort(([, left], [, right]) => left - right));
  }

  dayUse(now = this.#options.clock.now()): DayUse {
    const day = dayOf(now);
    if (this.#use.day !== day) this.#use = emptyDay(now);
    return this.#use;
  }

  /** What another process counted; it saves that itself. */
  addUse({ requests = 0, tokens = 0, images = 0, address }: NewUse): void {
    const now = this.#options.clock.now();
    const use = this.dayUse(now);
    this.#use = {
      ...use,
      requests: use.requests + requests,
      tokens: use.tokens + tokens,
      images: use.images + images,
    };
    if (address === undefined) return;
    this.addresses.delete(address);
    this.addresses.set(address, now);
  }

  /** False for one address too many in a day. Without a limit none are kept: there might be very many. */
  takeAddress(visitor: string, most: number | undefined): boolean {
    const { clock, onUse } = this.#options;
    if (most === undefined) {
      this.addresses.clear();
      onUse({});
      return true;
    }
    const now = clock.now();
    for (const [known, seenAt] of this.addresses) {
      // What a clock that was ahead wrote down must not count until that time comes.
      if (Math.abs(now - seenAt) < DAY_MS) break;
      this.addresses.delete(known);
    }
    const isKnown = this.addresses.delete(visitor);
    if (!isKnown && this.addresses.size >= most) return false;
    this.addresses.set(visitor, now);
    if (!isKnown) onUse({ address: visitor });
    return true;
  }

  /** The rates are exact of requests; tokens pass while any are left. */
  wants({ requestsPerMinute, tokensPerMinute, maxConcurrency }: KeyLimits): readonly Want[] {
    const wants: Want[] = [];
    if (maxConcurrency !== undefined) wants.push(runningWant(this.#running, maxConcurrency));
    if (requestsPerMinute !== undefined) {
      const what = told`${sayCount(requestsPerMinute, 'request')} a minute`;
      wants.push(rateWant(this.#requests, requestsPerMinute, { what, leastWaitMs: 0 }));
    }
    if (tokensPerMinute !== undefined) {
      const what = told`${sayCount(tokensPerMinute, 'token')} a minute`;
      wants.push(rateWant(this.#tokens, tokensPerMinute, { what, leastWaitMs: 1000 }));
    }
    return wants;
  }

  /** Counts a call that was let through. @returns what takes its real use, once it has ended */
  begin(
    cost: CallCost,
    { tokensPerMinute, maxConcurrency }: KeyLimits,
  ): (used: Pick<CallUse, 'tokens' | 'images'>) => void {
    const { clock } = this.#options;
    const startedAt = clock.now();
    this.#count({ requests: 1 });
    const isRated = tokensPerMinute !== undefined;
    const reserved = Math.max(1, cost.tokens);
    // One was taken, the others count too but refused nothing.
    if (isRated) this.#tokens.giveBack(1 - reserved);
    return ({ tokens, images }) => {
      if (maxConcurrency !== undefined) this.#running.giveBack(1);
      if (isRated) {
        // What was reserved longer ago counts no more.
        const isOver = clock.now() - startedAt >= MINUTE_MS;
        this.#tokens.giveBack(isOver ? -tokens : reserved - tokens);
      }
      this.#count({ tokens, images });
    };
  }

  rateStates({ requestsPerMinute, tokensPerMinute }: KeyLimits) {
    return {
      requests: stateOf(this.#requests, requestsPerMinute),
      tokens: stateOf(this.#tokens, tokensPerMinute),
    };
  }

  #count(use: NewUse): void {
    this.addUse(use);
    this.#options.onUse(use);
  }
}

interface RateWords {
  readonly what: Sentence;
  readonly leastWaitMs: number;
}

function rateWant(counter: Counter, limit: number, { what, leastWaitMs }: RateWords): Want {
  return {
    counter,
    limit,
    amount: () => 1,
    refuse(refused) {
      const retryAfterMs = Math.max(leastWaitMs, refused.retryAfterMs);
      const message = told`This key has used its ${what}. It can go on in ${sayWait(retryAfterMs)}.`;
      return clientError('rate-limited', message, { retryAfterMs });
    },
  };
}

/** When one of those ends nobody knows; SDKs ask again after as long as they are told. */
const RUNNING_WAIT_MS = 1000;

function runningWant(counter: Counter, limit: number): Want {
  return {
    counter,
    limit,
    amount: () => 1,
    refuse() {
      const message = told`This key may run ${sayCount(limit, 'request')} at the same time. Wait until one has ended.`;
      return clientError('rate-limited', message, { retryAfterMs: RUNNING_WAIT_MS });
    },
  };
}

function stateOf(counter: Counter, limit: number | undefined): LimitState | undefined {
  if (limit === undefined) return undefined;
  const { used } = counter;
  return {
    limit,
    remaining: Math.max(0, limit - Math.max(0, used)),
    resetMs: used > 0 ? MINUTE_MS : 0,
  };
}

let lastDay = { number: 0, name: '1970-01-01' };

/** Each request asks, and most for the same one. */
function dayOf(now: number): string {
  const number = Math.floor(now / DAY_MS);
  if (lastDay.number !== number) {
    lastDay = { number, name: new Date(now).toISOString().slice(0, 10) };
  }
  return lastDay.name;
}

function emptyDay(now: number): DayUse {
  return { day: dayOf(now), requests: 0, tokens: 0, images: 0 };
}

// What is taken of limits and budgets for a call before it runs: all of it, or nothing, which is told in words.

/** What a call will use as far as is known before it runs. */
export interface CallCost {
  /** What it will probably use: estimated input, and what it may answer. */
  readonly tokens: number;
  /** Exact. */
  readonly images: number;
  /** The most it may use, for budgets; absent where it asks no model anything. */
  readonly most?: MostUse | undefined;
}

export interface MostUse {
  readonly inputTokens: number;
  /** How many answers it asks for. */
  readonly answers: number;
  /** The most that each of them may have. */
  readonly answerTokens: number;
  /** In billionths of a US dollar: of the prompt and the pictures, and of each token of an answer. */
  readonly baseNanos: number;
  readonly tokenNanos: number;
}

export interface CallUse {
  readonly tokens: number;
  readonly images: number;
  readonly nanos: number;
}

export interface Reservation {
  /** Where less than asked for was left of a budget: the most tokens that each answer may have. */
  readonly answerTokens?: number | undefined;
  /** What it really used; what is absent counts as reserved. Counts once. */
  settle(used: Partial<CallUse>): void;
}

type Refused = Extract<Taken, { isTaken: false }>;

/** One thing that is taken for a call. */
export interface Want {
  readonly counter: Counter;
  readonly limit: number;
  /** Taken, or the call is refused; rises with the length of answers where that counts. */
  amount(answerTokens: number): number;
  /** What of the limit calls that ended have left, where shorter answers may fit into less than was asked for. */
  readonly room?: (() => number) | undefined;
  /** @param isHeld true where calls that run hold what is left */
  refuse(refused: Refused & { readonly isHeld: boolean }): GatewayError;
}

export interface Grant {
  readonly answerTokens: number;
  /** Of each want what it holds now. */
  readonly held: readonly number[];
}

/** A shorter answer is no help to anybody while a moment later a longer one fits. */
const SHORT_ANSWER = 1024;

/** Takes all wants or nothing. A budget that is nearly used may cut how long the answer gets. */
export function takeAll(wants: readonly Want[], answerTokens: number): Answer {
  return takeNext({ wants, held: [], answerTokens, tries: 0 });
}

type Answer = Grant | GatewayError | Promise<Grant | GatewayError>;

interface Taking {
  readonly wants: readonly Want[];
  readonly held: readonly number[];
  readonly answerTokens: number;
  /** Of the want that is taken now. */
  readonly tries: number;
}

/** Others may take what is left between two tries. */
const MAX_TRIES = 4;

function takeNext(taking: Taking): Answer {
  const { wants, held, answerTokens } = taking;
  const want = wants[held.length];
  if (want === undefined) return giveBackSurplus(taking);
  const amount = want.amount(answerTokens);
  const settle = (taken: Taken): Answer => {
    if (taken.isTaken) return takeNext({ ...taking, held: [...held, amount], tries: 0 });
    const fitting = fit(want, taking, taken.left);
    if (fitting.answerTokens !== undefined && taking.tries < MAX_TRIES) {
      const { answerTokens: shorter } = fitting;
      return takeNext({ ...taking, answerTokens: shorter, tries: taking.tries + 1 });
    }
    for (const [index, one] of held.entries()) wants[index]?.counter.giveBack(one);
    return want.refuse({ ...taken, isHeld: fitting.isHeld });
  };
  const taken = want.counter.take(amount, want.limit);
  return taken instanceof Promise ? taken.then(settle) : settle(taken);
}

interface Fitting {
  /** Undefined where no answer fits that is worth it. */
  readonly answerTokens?: number;
  readonly isHeld: boolean;
}

function fit(want: Want, { answerTokens }: Taking, left: number): Fitting {
  const base = want.amount(0);
  const perToken = want.amount(1) - base;
  const room = want.room?.();
  if (room === undefined) return { isHeld: false };
  const fitting = (amount: number): number =>
    perToken <= 0
      ? amount >= base
        ? answerTokens
        : 0
      : Math.min(answerTokens, Math.floor((amount - base) / perToken));
  // What is asked for without an answer, as vectors are, fits or does not.
  const least = answerTokens === 0 ? 0 : 1;
  const atBest = fitting(room);
  const now = fitting(left);
  const isHeld = room >= base && atBest >= least;
  if (perToken <= 0 || now < Math.max(least, Math.min(atBest, SHORT_ANSWER))) return { isHeld };
  return now < answerTokens ? { answerTokens: now, isHeld } : { isHeld };
}

/** What the first wants took for an answer that a later one made shorter. */
function giveBackSurplus({ wants, held, answerTokens }: Taking): Grant {
  const needed = wants.map((want, index) => {
    const amount = want.amount(answerTokens);
    want.counter.giveBack((held[index] ?? 0) - amount);
    return amount;
  });
  return { answerTokens, held: needed };
}

/** What waiting does not help. */
export function rejected(message: Sentence): GatewayError {
  const wayOut = told`Ask whoever gave you the key.`;
  return clientError('forbidden', told`${message} ${wayOut}`, { reason: 'key-rejected' });
}

/** What a person waits a day for is no matter of seconds. */
export function sayWait(ms: number): Sentence {
  const seconds = Math.ceil(ms / 1000);
  if (seconds <= 120) return told`${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return told`${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 72) return told`${hours} h ${minutes % 60} min`;
  return told`${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const COUNTED = {
  address: (count: number) =>
    count === 1 ? told`1 other address` : told`${count} other addresses`,
  image: (count: number) => (count === 1 ? told`1 image` : told`${count} images`),
  request: (count: number) => (count === 1 ? told`1 request` : told`${count} requests`),
  token: (count: number) => (count === 1 ? told`1 token` : told`${count} tokens`),
};

export function sayCount(count: number, noun: keyof typeof COUNTED): Sentence {
  return COUNTED[noun](count);
}
