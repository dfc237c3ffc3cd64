// Which account a session is bound to: per client key, with an idle lifetime and a cap.

import type { Clock } from '../lib/clock.ts';

export interface SessionBindings {
  find(clientKeyId: string, session: string): string | undefined;
  bind(clientKeyId: string, session: string, accountId: string): void;
}

export interface SessionBindingsOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly maxEntries?: number;
  readonly idleMs?: number;
}

export function createSessionBindings(options: SessionBindingsOptions): SessionBindings {
  const { clock, maxEntries = 10_000, idleMs = 3_600_000 } = options;
  const entries = new Map<string, { accountId: string; expiresAt: number }>();
  const store = (key: string, accountId: string): void => {
    entries.delete(key);
    entries.set(key, { accountId, expiresAt: clock.now() + idleMs });
    const oldest = entries.size > maxEntries ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
  };
  return {
    find(clientKeyId, session) {
      const key = `${clientKeyId} ${session}`;
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.expiresAt <= clock.now()) {
        entries.delete(key);
        return undefined;
      }
      return entry.accountId;
    },
    bind: (clientKeyId, session, accountId) => store(`${clientKeyId} ${session}`, accountId),
  };
}
