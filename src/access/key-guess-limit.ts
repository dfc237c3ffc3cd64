// Rate limit against guessing API keys: counts the wrong keys of each address.

import { createHmac, randomBytes } from 'node:crypto';
import { clientError, type GatewayError } from '../canonical/error.ts';
import type { Cluster, Topic } from '../cluster/cluster.ts';
import type { Clock } from '../lib/clock.ts';
import { touchLru } from '../lib/collections.ts';
import { told } from '../lib/localized-message.ts';
import { visitorOf } from '../lib/net.ts';
import { looksLikeKeySecret } from '../lib/redact.ts';

export interface ShownKeys {
  readonly address: string;
  /** At least one. */
  readonly credentials: readonly string[];
  /** Of the key that one of them is; undefined when none is. */
  readonly keyId: string | undefined;
  /** Counted apart: any page can make a browser show wrong keys, which must not lock out its machine. */
  readonly isOfPage: boolean;
}

/** Different wrong keys of an address within an hour: one mistaken client has one, however often it asks. */
const MAX_WRONG_KEYS = 20;
const WRONG_KEY_MS = 3_600_000;
const RIGHT_KEY_MS = 86_400_000;
/** How far behind the time a key was last right may be. */
const RIGHT_STEP_MS = 60_000;
/** Addresses that are remembered; the longest unseen goes first. */
const MAX_GUESSING_VISITORS = 4_096;
const MAX_KNOWN_VISITORS = 10_000;
const MAX_KEYS_PER_VISITOR = 1_000;

/** Digest of a wrong key, or id of a right one → when it came, in monotonic time; the oldest first. */
type Times = Map<string, number>;

interface GuessLimitOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The other processes of this gateway, whose digests have the same key; without it there are none. */
  readonly shared?:
    | { readonly notices: Cluster['notices']; readonly digestKey: Buffer }
    | undefined;
}

interface GuessNotice {
  readonly visitor: string;
  readonly digests: readonly string[];
}

const TOPIC: Topic<GuessNotice> = { name: 'guesses 1' };

export function createGuessLimit({ clock, shared }: GuessLimitOptions) {
  const wrongBy = new Map<string, Times>();
  // Apart, so that guesses from many addresses do not evict known visitors.
  const rightBy = new Map<string, Times>();
  const digestKey = shared?.digestKey ?? randomBytes(32);
  const digestOf = (text: string): string =>
    createHmac('sha256', digestKey).update(text).digest('base64url').slice(0, 16);
  const rememberRightKey = (visitor: string, keyId: string, now: number): void => {
    const times = touchTimes(rightBy, visitor, MAX_KNOWN_VISITORS);
    touchLru(times, [keyId, now], MAX_KEYS_PER_VISITOR);
  };
  const rememberWrongKeys = (visitor: string, digests: readonly string[], now: number): void => {
    const known = touchTimes(wrongBy, visitor, MAX_GUESSING_VISITORS);
    for (const digest of digests) touchLru(known, [digest, now], MAX_WRONG_KEYS);
  };
  shared?.notices.listen(TOPIC, {
    take: ({ visitor, digests }) => rememberWrongKeys(visitor, digests, clock.monotonic()),
  });
  return {
    /** Past the limit only keys that were right from this address within a day go on. @throws GatewayError */
    check({ address, credentials, keyId, isOfPage }: ShownKeys): void {
      const now = clock.monotonic();
      const visitor = isOfPage ? `page at ${visitorOf(address)}` : visitorOf(address);
      if (keyId !== undefined) {
        const agoMs = now - (rightBy.get(visitor)?.get(keyId) ?? Number.NEGATIVE_INFINITY);
        if (agoMs < RIGHT_STEP_MS) return;
        if (agoMs < RIGHT_KEY_MS) {
          rememberRightKey(visitor, keyId, now);
          return;
        }
      }
      const wrong = currentOf(wrongBy.get(visitor), now);
      const guesses = credentials.filter((text) => !looksLikeKeySecret(text)).map(digestOf);
      const fresh = [...new Set(guesses)].filter((digest) => !wrong.has(digest));
      const surplus = wrong.size + fresh.length - MAX_WRONG_KEYS;
      if (surplus > 0) throw tooMany(waitFor(wrong, surplus, now));
      if (keyId !== undefined) rememberRightKey(visitor, keyId, now);
      if (keyId !== undefined || fresh.length === 0) return;
      rememberWrongKeys(visitor, fresh, now);
      shared?.notices.tell(TOPIC, { visitor, digests: fresh });
    },
  };
}

/** Without what is too old to count. */
function currentOf(times: Times = new Map(), now: number): Times {
  for (const [digest, at] of times) {
    if (now - at < WRONG_KEY_MS) break;
    times.delete(digest);
  }
  return times;
}

/** Until so many of the oldest count no more. */
function waitFor(wrong: Times, surplus: number, now: number): number {
  const at = [...wrong.values()][surplus - 1];
  return at === undefined ? WRONG_KEY_MS : at + WRONG_KEY_MS - now;
}

/** The times of a visitor, who is the last to be forgotten now. */
function touchTimes(visitors: Map<string, Times>, visitor: string, most: number): Times {
  const times = visitors.get(visitor) ?? new Map<string, number>();
  touchLru(visitors, [visitor, times], most);
  return times;
}

function tooMany(waitMs: number): GatewayError {
  const minutes = Math.ceil(waitMs / 60_000);
  const message = told`Too many wrong API keys came from this address. One that worked from here within a day goes on working; any other is looked at again in ${minutes} min.`;
  return clientError('rate-limited', message, { retryAfterMs: waitMs });
}
