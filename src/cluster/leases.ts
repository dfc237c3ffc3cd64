// Who alone does some work of all processes on a database, for a while.

/**
 * Grants work of one name to one holder at a time. What holds a lease may be slow to see it end: whoever writes for
 * it shows the fence, and the later one wins. Every method may throw StoreError.
 */
export interface LeaseStore {
  /**
   * Undefined while somebody else holds it. The fence grows by one with each new holder; who holds it already keeps
   * the own one, and holds it for longer.
   */
  take(
    name: string,
    holder: string,
    ttlMs: number,
  ): Promise<{ readonly fence: number } | undefined>;
  /** False when it ended or became another's: it is not the holder's any more, and must be taken anew. */
  renew(name: string, holder: string, fence: number, ttlMs: number): Promise<boolean>;
  /** Lets the next one have it at once; nothing when it is another's by now. */
  release(name: string, holder: string, fence: number): Promise<void>;
}
