// The sessions of signed-in browsers: begun, found by their cookie, ended.

import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { type Batch, createBatch, type DoorLog } from './batch.ts';
import type { ConsoleSession, ConsoleSessionStore } from './console-session.ts';

export interface ConsoleSessions {
  /** A new session; the one the browser had is over. @returns the secret for its cookie */
  begin(passwordTag: string, replaced?: string): Promise<BegunSession>;
  /** When the session of a cookie ends if nothing more comes; undefined when there is none. */
  find(secret: string, passwordTag: string): { readonly expiresAt: number } | undefined;
  /** Whether a cookie has a session; asking keeps none alive. */
  has(secret: string, passwordTag: string): boolean;
  /** Signs every browser out. */
  endAll(): Promise<void>;
  close(): Promise<void>;
}

export interface BegunSession {
  readonly secret: string;
  readonly expiresAt: number;
}

export interface ConsoleSessionsOptions {
  /** Undefined keeps the sessions in memory. */
  readonly store: ConsoleSessionStore | undefined;
  readonly clock: Clock;
  readonly idleMs: () => number;
  readonly log?: DoorLog | undefined;
}

/** 256 bits. */
const SECRET_BYTES = 32;
/** However busy it is, a session ends after this. */
const LONGEST_MS = 7 * 86_400_000;
/** How far behind the stored time of the last request may be. */
const SEEN_STEP_MS = 300_000;
const MOST_SESSIONS = 1_000;

/** `sessions` are those of the store. */
export function createConsoleSessions(
  options: ConsoleSessionsOptions,
  sessions: readonly ConsoleSession[] = [],
): ConsoleSessions {
  return new Sessions(options, sessions);
}

class Sessions implements ConsoleSessions {
  readonly #options: ConsoleSessionsOptions;
  readonly #batch: Batch;
  readonly #byHash: Map<string, ConsoleSession>;
  /** When each was last seen as far as the store knows. */
  readonly #savedSeenAt: Map<string, number>;

  constructor(options: ConsoleSessionsOptions, sessions: readonly ConsoleSession[]) {
    const { clock, log } = options;
    this.#options = options;
    this.#byHash = new Map(sessions.map((session) => [session.hash, session]));
    this.#savedSeenAt = new Map(sessions.map((session) => [session.hash, session.lastSeenAt]));
    const save = () => this.#saveSeen();
    this.#batch = createBatch({ clock, title: 'Console sessions', save, log });
  }

  async begin(passwordTag: string, replaced?: string): Promise<BegunSession> {
    const { clock, store } = this.#options;
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const now = clock.now();
    const session = { hash: hashOf(secret), createdAt: now, lastSeenAt: now, passwordTag };
    await this.#end(this.#surplus(replaced));
    await store?.save(session);
    this.#byHash.set(session.hash, session);
    this.#savedSeenAt.set(session.hash, now);
    return { secret, expiresAt: this.#endOf(session) };
  }

  find(secret: string, passwordTag: string): { readonly expiresAt: number } | undefined {
    const session = this.#running(secret, passwordTag);
    if (session === undefined) return undefined;
    const now = this.#options.clock.now();
    const seen = { ...session, lastSeenAt: now };
    this.#byHash.set(session.hash, seen);
    if (this.#options.store !== undefined && this.#isBehind(seen)) this.#batch.touch();
    return { expiresAt: this.#endOf(seen) };
  }

  has(secret: string, passwordTag: string): boolean {
    return this.#running(secret, passwordTag) !== undefined;
  }

  async endAll(): Promise<void> {
    await this.#end([...this.#byHash.keys()]);
  }

  close(): Promise<void> {
    return this.#batch.close();
  }

  #running(secret: string, passwordTag: string): ConsoleSession | undefined {
    const session = this.#byHash.get(hashOf(secret));
    if (session === undefined || session.passwordTag !== passwordTag) return undefined;
    return this.#options.clock.now() < this.#endOf(session) ? session : undefined;
  }

  #endOf({ createdAt, lastSeenAt }: ConsoleSession): number {
    return Math.min(createdAt + LONGEST_MS, lastSeenAt + this.#options.idleMs());
  }

  /** The session that is replaced, those that are over, and the oldest of too many. */
  #surplus(replaced: string | undefined): readonly string[] {
    const now = this.#options.clock.now();
    const replacedHash = replaced === undefined ? undefined : hashOf(replaced);
    const isOver = (one: ConsoleSession): boolean =>
      one.hash === replacedHash || now >= this.#endOf(one);
    const [over, running] = partition([...this.#byHash.values()], isOver);
    const tooMany = running.slice(0, Math.max(0, running.length - MOST_SESSIONS + 1));
    return [...over, ...tooMany].map((session) => session.hash);
  }

  async #end(hashes: readonly string[]): Promise<void> {
    if (hashes.length === 0) return;
    for (const one of hashes) {
      this.#byHash.delete(one);
      this.#savedSeenAt.delete(one);
    }
    await this.#options.store?.remove(hashes);
  }

  async #saveSeen(): Promise<void> {
    for (const { hash: one } of [...this.#byHash.values()].filter((kept) => this.#isBehind(kept))) {
      // Not the one of before the wait: it may have ended meanwhile.
      const session = this.#byHash.get(one);
      if (session === undefined) continue;
      await this.#options.store?.save(session);
      if (this.#byHash.has(one)) this.#savedSeenAt.set(one, session.lastSeenAt);
    }
  }

  #isBehind({ hash: one, lastSeenAt }: ConsoleSession): boolean {
    return lastSeenAt - (this.#savedSeenAt.get(one) ?? 0) >= SEEN_STEP_MS;
  }
}

function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

function partition<Item>(items: readonly Item[], matches: (item: Item) => boolean) {
  return [items.filter(matches), items.filter((item) => !matches(item))] as const;
}
