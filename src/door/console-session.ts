// A signed-in browser, and what its session asks of durable storage.

/** Times are milliseconds since the epoch. */
export interface ConsoleSession {
  /** SHA-256 of the secret in the cookie, in base64url. */
  readonly hash: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** Says which password it was signed in with; another one ends it. */
  readonly passwordTag: string;
}

/** Every method may throw StoreError. */
export interface ConsoleSessionStore {
  list(): Promise<readonly ConsoleSession[]>;
  /** Inserts or replaces. */
  save(session: ConsoleSession): Promise<void>;
  remove(hashes: readonly string[]): Promise<void>;
}
