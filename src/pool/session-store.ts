// What the session table asks of durable storage; every store fulfils the contract suite in test/contracts.

/** Best effort: a binding that is lost costs its session one cold prompt cache, never more. */
export interface SessionStore {
  /** Those that live at `now`, the latest within the other bounds, the latest last; damaged ones are left out. */
  load(bounds: SessionBounds): Promise<readonly StoredSession[]>;
  /** Replaces those of the same key; one that has expired ends it. Removes expired and surplus ones, though not each time. */
  save(sessions: readonly StoredSession[], bounds: SessionBounds): Promise<void>;
}

interface SessionBounds {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly maxEntries: number;
  /** Of all texts together, in UTF-16 units; what a store adds to each may count as well. */
  readonly maxSize: number;
}

export interface StoredSession {
  /** A digest: says nothing of the client key or the session. */
  readonly key: string;
  readonly json: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}
