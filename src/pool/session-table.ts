// The sessions and the accounts they are bound to: apart for each client key, with an idle lifetime and a cap.

import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import type { SessionBinding } from './session-binding.ts';

export interface SessionTable extends SessionBindings {
  find(session: SessionName): SessionBinding | undefined;
  /** Keeps the binding and starts its idle time anew. */
  keep(session: SessionName, binding: SessionBinding): void;
  forgetAccount(accountId: string): void;
}

/** A session is the client's word; it means nothing outside its client key. */
export interface SessionName {
  readonly clientKeyId: string;
  readonly session: string;
}

/** What an operator sees of the sessions, and may do. */
export interface SessionBindings {
  /** The longest unused first. */
  sessions(): readonly BoundSession[];
  /** True when there was such a session; its next request is placed anew. */
  forget(id: string): boolean;
  /** How many there were. */
  forgetAll(): number;
}

export interface BoundSession {
  /** Stands for the client key and the session; gives neither away. */
  readonly id: string;
  readonly clientKeyHash: string;
  /** The beginning of the client's own name for it. */
  readonly label: string;
  readonly accountId: string;
  /** Models that go elsewhere, because the account rests or cannot serve them. */
  readonly detours: readonly {
    readonly model: string;
    readonly accountId: string;
    readonly returns: boolean;
  }[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface SessionTableOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly idleMs: () => number;
  readonly maxEntries?: number;
}

interface Entry {
  readonly clientKeyId: string;
  readonly label: string;
  readonly binding: SessionBinding;
  readonly expiresAt: number;
}

const MOST_SESSIONS = 10_000;
const LABEL_LENGTH = 12;
/** Longer names are kept as their hash: a client decides how long they are. */
const LONGEST_NAME = 128;

export function createSessionTable(options: SessionTableOptions): SessionTable {
  const { clock, idleMs, maxEntries = MOST_SESSIONS } = options;
  // In the order of last use, as `keep` moves an entry to the end.
  const entries = new Map<string, Entry>();
  let newest: string | undefined;
  const dropExpired = (): void => {
    const now = clock.now();
    for (const [key, entry] of entries) if (entry.expiresAt <= now) entries.delete(key);
  };
  return {
    find(session) {
      const entry = entries.get(keyOf(session));
      return entry === undefined || entry.expiresAt <= clock.now() ? undefined : entry.binding;
    },
    keep(session, binding) {
      const key = keyOf(session);
      const known = entries.get(key);
      // The newest is at the end already; moving it there again makes the map be rebuilt every few requests.
      if (key !== newest) entries.delete(key);
      newest = key;
      entries.set(key, {
        clientKeyId: session.clientKeyId,
        label: known?.label ?? labelOf(session.session),
        binding,
        expiresAt: clock.now() + idleMs(),
      });
      const oldest = entries.size > maxEntries ? entries.keys().next().value : undefined;
      if (oldest !== undefined) entries.delete(oldest);
    },
    forgetAccount(accountId) {
      for (const [key, { binding }] of entries) if (binding.home === accountId) entries.delete(key);
    },
    sessions() {
      dropExpired();
      return [...entries].map(([key, entry]) => describe(key, entry));
    },
    forget(id) {
      for (const key of entries.keys()) if (hash(key) === id) return entries.delete(key);
      return false;
    },
    forgetAll() {
      dropExpired();
      const { size } = entries;
      entries.clear();
      return size;
    },
  };
}

/** The length in front keeps one key's sessions from looking like another's. */
function keyOf({ clientKeyId, session }: SessionName): string {
  const name = session.length > LONGEST_NAME ? `#${hash(session)}` : `=${session}`;
  return `${clientKeyId.length}:${clientKeyId}${name}`;
}

function labelOf(session: string): string {
  const short = session.length > LABEL_LENGTH ? `${session.slice(0, LABEL_LENGTH)}…` : session;
  return short.toWellFormed();
}

function describe(key: string, { clientKeyId, label, binding, expiresAt }: Entry): BoundSession {
  return {
    id: hash(key),
    clientKeyHash: hash(clientKeyId),
    label,
    accountId: binding.home,
    detours: [...binding.detours].map(([model, detour]) => ({ model, ...detour })),
    expiresAt,
  };
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
