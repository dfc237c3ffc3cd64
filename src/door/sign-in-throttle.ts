// Slows down whoever guesses passwords: by address, with growing waits, and all of them together.

import { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { setLast } from '../lib/set-last.ts';
import { told } from '../lib/told.ts';
import { visitorOf } from './ip-address.ts';

export interface SignInThrottle {
  /**
   * Counts a try before it is looked at, so that many at once are counted too.
   * @throws GatewayError rate-limited with the wait
   */
  begin(address: string): void;
  /** The try was right: the address is trusted for a day and its tries are forgotten. */
  succeed(address: string): void;
}

/** Tries that an address has within one minute before it has to wait. */
const FREE_TRIES = 5;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LONGEST_WAIT_MS = 15 * MINUTE_MS;
/** Tries of all unknown addresses together; NIST SP 800-63B, 5.2.2, allows 100 in a row. */
const MOST_A_MINUTE = 20;
const MOST_AN_HOUR = 100;
/** Addresses that are remembered; the longest unseen goes first. */
const MOST_ADDRESSES = 10_000;
const MOST_TRUSTED = 1_000;

interface Tries {
  /** Of the current minute. */
  count: number;
  since: number;
  /** Tries that were refused or wrong beyond the free ones; doubles the wait. */
  beyond: number;
  blockedUntil: number;
  lastAt: number;
}

/** In monotonic time: a clock that is set back must keep nobody out, and one set forward let nobody guess. */
export function createSignInThrottle(clock: Pick<Clock, 'monotonic'>): SignInThrottle {
  const byVisitor = new Map<string, Tries>();
  const trusted = new Map<string, number>();
  let recent: number[] = [];

  const triesOf = (visitor: string, now: number): Tries => {
    const known = byVisitor.get(visitor);
    const isFresh = known !== undefined && now - known.lastAt < DAY_MS;
    const tries = isFresh
      ? known
      : { count: 0, since: now, beyond: 0, blockedUntil: 0, lastAt: now };
    setLast(byVisitor, [visitor, tries], MOST_ADDRESSES);
    return tries;
  };
  const checkEverybody = (visitor: string, now: number): void => {
    const trustedAt = trusted.get(visitor);
    if (trustedAt !== undefined && now - trustedAt < DAY_MS) return;
    recent = recent.filter((at) => now - at < HOUR_MS);
    const lastMinute = recent.filter((at) => now - at < MINUTE_MS);
    const [oldestOfHour = now] = recent.slice(-MOST_AN_HOUR);
    const [oldestOfMinute = now] = lastMinute.slice(-MOST_A_MINUTE);
    if (recent.length >= MOST_AN_HOUR) throw tooMany(oldestOfHour + HOUR_MS - now);
    if (lastMinute.length >= MOST_A_MINUTE) throw tooMany(oldestOfMinute + MINUTE_MS - now);
    recent.push(now);
  };

  return {
    begin(address) {
      const now = clock.monotonic();
      const visitor = visitorOf(address);
      const tries = triesOf(visitor, now);
      if (now < tries.blockedUntil) throw tooMany(tries.blockedUntil - now);
      if (now - tries.since >= MINUTE_MS && tries.beyond === 0) {
        tries.count = 0;
        tries.since = now;
      }
      checkEverybody(visitor, now);
      tries.count += 1;
      tries.lastAt = now;
      if (tries.count < FREE_TRIES) return;
      // The last free try is looked at; the next one waits, each time twice as long.
      tries.blockedUntil = now + Math.min(MINUTE_MS * 2 ** tries.beyond, LONGEST_WAIT_MS);
      tries.beyond += 1;
    },
    succeed(address) {
      const visitor = visitorOf(address);
      byVisitor.delete(visitor);
      setLast(trusted, [visitor, clock.monotonic()], MOST_TRUSTED);
    },
  };
}

function tooMany(waitMs: number): GatewayError {
  const seconds = Math.ceil(waitMs / 1000);
  return new GatewayError({
    kind: 'rate-limited',
    source: 'client',
    retryAfterMs: waitMs,
    message: told`Too many tries to sign in. Try again in ${seconds} s, or restart the gateway on its own machine and use the sign-in link it prints.`,
  });
}
