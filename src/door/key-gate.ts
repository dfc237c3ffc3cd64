// Holds the requests of a key to its limits: who comes, from where, for which model, how much.

import { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { type Sentence, told } from '../lib/told.ts';
import { visitorOf } from './ip-address.ts';
import type { KeyBook, KeyEntry } from './key-book.ts';
import type { CallCost, MeterRefusal, Reservation } from './key-meter.ts';

export interface KeyGate {
  readonly isEmpty: boolean;
  /** The id of the key that one of the credentials is. */
  identify(credentials: readonly string[]): string | undefined;
  /** @throws GatewayError forbidden naming the rule: disabled, expired, curfew or too many addresses */
  enter(keyId: string, address: string): void;
  /** True for ids that are no person's key: those have no limits. */
  allows(keyId: string, model: string): boolean;
  /** Whether images of this key are counted against a budget. */
  countsImages(keyId: string): boolean;
  /**
   * Counts a call before it runs.
   * @throws GatewayError forbidden for a model that is not allowed; rate-limited or quota-exhausted,
   * with the wait, when a limit is reached
   */
  admit(keyId: string, call: CallCost & { readonly model: string }): Reservation | undefined;
}

/** Of a name that a client wrote, in what it is told. */
const MOST_SHOWN = 100;

export function createKeyGate(book: KeyBook, clock: Pick<Clock, 'now'>): KeyGate {
  return {
    get isEmpty() {
      return book.isEmpty;
    },
    identify(credentials) {
      let found: string | undefined;
      for (const credential of credentials) found ??= book.identify(credential)?.key.id;
      return found;
    },
    enter(keyId, address) {
      const entry = book.find(keyId);
      if (entry !== undefined) checkEntry(entry, address, clock.now());
    },
    allows: (keyId, model) => book.find(keyId)?.allows(model) ?? true,
    countsImages: (keyId) => book.find(keyId)?.key.dailyImages !== undefined,
    admit(keyId, { model, ...cost }) {
      const entry = book.find(keyId);
      if (entry === undefined) return undefined;
      if (!entry.allows(model)) {
        throw rejected(
          told`This key may not use the model ${JSON.stringify(model.slice(0, MOST_SHOWN))}. The model list shows those it may.`,
        );
      }
      checkSize(entry, cost);
      const outcome = entry.meter.reserve(cost, entry.key);
      if ('kind' in outcome) throw limitReached(entry, outcome, cost);
      return outcome;
    },
  };
}

function checkEntry({ key, curfew, meter }: KeyEntry, address: string, now: number): void {
  if (!key.enabled) throw rejected(told`This key is disabled.`);
  if (key.expiresAt !== undefined && now >= key.expiresAt) {
    throw rejected(told`This key expired at ${new Date(key.expiresAt).toISOString()}.`);
  }
  if (key.curfew !== undefined && curfew?.isOn(now)) {
    const { from, to, timeZone } = key.curfew;
    throw rejected(told`This key is not let in from ${from} to ${to} (${timeZone}).`);
  }
  if (!meter.takeAddress(visitorOf(address), key.maxAddresses)) {
    throw rejected(
      told`This key is in use from ${sayCount(key.maxAddresses, 'address')} already, the most it may within a day.`,
    );
  }
}

/** What no day has room for is not to be tried again tomorrow. @throws GatewayError forbidden */
function checkSize({ key }: KeyEntry, { images }: CallCost): void {
  if (key.dailyTokens === 0) throw rejected(told`This key may use no tokens.`);
  const { dailyImages } = key;
  if (dailyImages === undefined || images <= dailyImages) return;
  throw rejected(
    dailyImages === 0
      ? told`This key may draw no images.`
      : told`This key may draw ${sayCount(dailyImages, 'image')} a day, and this request asks for ${images}.`,
  );
}

function rejected(message: string): GatewayError {
  const wayOut = told`Ask whoever gave you the key.`;
  return new GatewayError({
    kind: 'forbidden',
    source: 'client',
    reason: 'key-rejected',
    message: `${message} ${wayOut}`,
  });
}

function limitReached(
  { key }: KeyEntry,
  refusal: MeterRefusal,
  { images }: CallCost,
): GatewayError {
  const { retryAfterMs, kind } = refusal;
  const { what, isBudget } = describeLimit(key, kind);
  const left = kind === 'daily-images' ? refusal.left : 0;
  const state =
    left === 0
      ? told`This key has used its ${what}.`
      : told`This key has ${left} of its ${what} left, and this request asks for ${images}.`;
  return new GatewayError({
    kind: isBudget ? 'quota-exhausted' : 'rate-limited',
    source: 'client',
    retryAfterMs,
    message: told`${state} It can go on in ${sayWait(retryAfterMs)}.`,
  });
}

/** What a person waits a day for is no matter of seconds. */
function sayWait(ms: number): Sentence {
  const seconds = Math.ceil(ms / 1000);
  if (seconds <= 120) return told`${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return told`${minutes} min`;
  return told`${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function sayCount(count = 0, noun: 'address' | 'image' | 'request' | 'token'): Sentence {
  switch (noun) {
    case 'address':
      return count === 1 ? told`1 other address` : told`${count} other addresses`;
    case 'image':
      return count === 1 ? told`1 image` : told`${count} images`;
    case 'request':
      return count === 1 ? told`1 request` : told`${count} requests`;
    case 'token':
      return count === 1 ? told`1 token` : told`${count} tokens`;
    default:
      return noun satisfies never;
  }
}

function describeLimit(
  key: KeyEntry['key'],
  kind: MeterRefusal['kind'],
): { readonly what: Sentence; readonly isBudget: boolean } {
  switch (kind) {
    case 'requests-per-minute':
      return {
        what: told`${sayCount(key.requestsPerMinute, 'request')} a minute`,
        isBudget: false,
      };
    case 'tokens-per-minute':
      return { what: told`${sayCount(key.tokensPerMinute, 'token')} a minute`, isBudget: false };
    case 'daily-tokens':
      return { what: told`${sayCount(key.dailyTokens, 'token')} a day (UTC)`, isBudget: true };
    case 'daily-images':
      return { what: told`${sayCount(key.dailyImages, 'image')} a day (UTC)`, isBudget: true };
    default:
      kind satisfies never;
      return { what: told`limit`, isBudget: true };
  }
}
