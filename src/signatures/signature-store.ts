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

/** Best effort: a trace that is lost costs a turn what the upstream found before it, never more. */
export interface TraceStore {
  /** The traces that live at `now`, the latest within the other bounds, the latest last; damaged ones are left out. */
  load(bounds: TraceBounds): Promise<readonly StoredTrace[]>;
  /** Replaces those of the same key; removes expired and surplus ones, though not each time. Nobody reads them there. */
  save(traces: readonly StoredTrace[], bounds: TraceBounds): Promise<void>;
}

export interface TraceBounds {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly maxEntries: number;
  /** Of all texts together, in UTF-16 units; what a store adds to each may count as well. */
  readonly maxSize: number;
}

export interface StoredTrace {
  /** A digest: says nothing of the client key or the call. */
  readonly key: string;
  /** What the upstream found: it may quote what its client wrote. */
  readonly json: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}
