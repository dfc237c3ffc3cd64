// The durable storage of the signature cache; every store fulfils the contract suites in test/contracts.

import type { Signature } from '../canonical/request.ts';

/** Best effort: an entry that is lost costs a turn its signature, never more. */
export interface SignatureStore {
  /** The entries that live at `now`, the latest `maxEntries` of them, the latest last. */
  load(bounds: SignatureBounds): Promise<readonly StoredSignature[]>;
  /** Replaces those of the same key; removes expired and surplus ones, though not each time. */
  save(entries: readonly StoredSignature[], bounds: SignatureBounds): Promise<void>;
}

interface SignatureBounds {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly maxEntries: number;
}

export interface StoredSignature extends Signature {
  /** A digest: says nothing of the client key, the call or the text it was made from. */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}
