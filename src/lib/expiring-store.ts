// A durable store of texts that come to an end; of those within its bounds the latest are kept.

/** Best effort: what is lost of it costs time, never more. */
export interface ExpiringStore {
  /** Those that live at `now`, the latest within the other bounds, the latest last; damaged ones are left out. */
  load(bounds: StoreBounds): Promise<readonly StoredText[]>;
  /** Replaces those of the same key; one that has expired ends it. Removes expired and surplus ones, though not each time. */
  save(texts: readonly StoredText[], bounds: StoreBounds): Promise<void>;
}

export interface StoreBounds {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly maxEntries: number;
  /** Of all texts together, in UTF-16 units; what a store adds to each may count as well. */
  readonly maxSize: number;
}

export interface StoredText {
  /** A digest: says nothing of the client key, nor of what the text is about. */
  readonly key: string;
  /** It may quote what a client wrote. */
  readonly json: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}
