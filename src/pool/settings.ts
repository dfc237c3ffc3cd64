// The settings of the pool, as the operator changes them while it runs.

export interface PoolSettings {
  /**
   * `balance` keeps a session on its account while that is free; `cache-first` waits for it;
   * `performance-first` binds nothing.
   */
  readonly mode: 'balance' | 'cache-first' | 'performance-first';
  /** How long a request may wait for its session's account in all. */
  readonly maxWaitMs: number;
  /** Id or label of the account that gets every request while it can be used. */
  readonly fixedAccount: string | undefined;
  /** How long a session without requests keeps its account. */
  readonly sessionIdleMs: number;
}
