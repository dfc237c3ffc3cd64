// Sign-ins that were started and not yet completed: each can be taken once, by who started it, in time.

import type { Clock } from '../lib/clock.ts';

export interface PendingSignIn {
  /** Who started it: a console session. */
  readonly owner: string;
  readonly upstreamId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly nonce: string | undefined;
  readonly reauthenticate: string | undefined;
  readonly label: string | undefined;
  /** Milliseconds since the epoch, for people; the monotonic clock decides. */
  readonly expiresAt: number;
}

export interface PendingSignIns {
  /** Undefined when too many are pending; the oldest of the same owner gives way first. */
  add(state: string, signIn: Omit<PendingSignIn, 'expiresAt'>): PendingSignIn | undefined;
  /** Undefined for unknown, used, expired and foreign ones alike. Whoever presents a state ends it. */
  take(state: string, owner: string): PendingSignIn | undefined;
}

const LIFETIME_MS = 600_000;
const MAX_PER_OWNER = 16;
const MAX_TOTAL = 256;

export function createPendingSignIns(clock: Pick<Clock, 'now' | 'monotonic'>): PendingSignIns {
  const pending = new Map<string, { readonly signIn: PendingSignIn; readonly endsAt: number }>();

  const dropExpired = (): void => {
    for (const [state, { endsAt }] of pending) {
      if (endsAt <= clock.monotonic()) pending.delete(state);
    }
  };

  return {
    add(state, signIn) {
      dropExpired();
      const own = [...pending].filter(([, entry]) => entry.signIn.owner === signIn.owner);
      const [oldest] = own;
      if (oldest !== undefined && own.length >= MAX_PER_OWNER) pending.delete(oldest[0]);
      if (pending.size >= MAX_TOTAL) return undefined;
      const complete = { ...signIn, expiresAt: clock.now() + LIFETIME_MS };
      pending.set(state, { signIn: complete, endsAt: clock.monotonic() + LIFETIME_MS });
      return complete;
    },
    take(state, owner) {
      dropExpired();
      const entry = pending.get(state);
      pending.delete(state);
      return entry?.signIn.owner === owner ? entry.signIn : undefined;
    },
  };
}
