// A rule of the address filter, and what it asks of durable storage.

export type RuleList = 'allow' | 'deny';

/** Times are milliseconds since the epoch. */
export interface AddressRule {
  readonly id: string;
  readonly list: RuleList;
  /** In its usual spelling. */
  readonly range: string;
  readonly note: string;
  readonly expiresAt: number | undefined;
  readonly hits: number;
  readonly lastHitAt: number | undefined;
  readonly createdAt: number;
  /** Rises by one with each change; hits are none. */
  readonly revision: number;
}

export interface RuleHits {
  readonly id: string;
  /** How many more. */
  readonly hits: number;
  readonly lastHitAt: number;
}

/** Every method may throw StoreError. */
export interface AddressRuleStore {
  /** Oldest first. */
  list(): Promise<readonly AddressRule[]>;
  /** Acknowledged rules survive `kill -9`, here and below. */
  insert(rule: AddressRule): Promise<void>;
  /** Replaces all but the hits of the revision before. @throws StoreError `missing` or `stale` */
  update(rule: AddressRule): Promise<void>;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
  /** Adds to the counts; of a rule that is gone there is nothing to add. */
  addHits(hits: readonly RuleHits[]): Promise<void>;
}
