// One-time links that sign the person at this machine in without a password.

import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';

export interface SignInLinks {
  /** The secret of a new link; the links before it go on working. */
  create(): string;
  /** True once for each secret, while it is fresh. */
  redeem(secret: string): boolean;
}

const LIFETIME_MS = 600_000;
const MOST_LINKS = 20;

export function createSignInLinks(clock: Pick<Clock, 'monotonic'>): SignInLinks {
  /** Hash → monotonic end. */
  const waiting = new Map<string, number>();
  return {
    create() {
      const secret = randomBytes(32).toString('base64url');
      waiting.set(hash('sha256', secret), clock.monotonic() + LIFETIME_MS);
      const [oldest] = waiting.keys();
      if (waiting.size > MOST_LINKS && oldest !== undefined) waiting.delete(oldest);
      return secret;
    },
    redeem(secret) {
      const key = hash('sha256', secret);
      const expiresAt = waiting.get(key);
      waiting.delete(key);
      return expiresAt !== undefined && clock.monotonic() < expiresAt;
    },
  };
}
