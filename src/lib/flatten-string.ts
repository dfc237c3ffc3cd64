// Text that is written over and over, or kept for long, in one piece.

/**
 * What `+` and templates give is kept as a tree of its pieces, and copying a text that holds such a
 * tree walks it each time; `JSON.stringify` takes its slow way through all that stands beside it. `join`
 * gives one piece. For what stands in every event of a stream, and for ids.
 */
export function joinFlat(pieces: readonly string[]): string {
  return pieces.join('');
}

/** The first characters as a text of their own: a slice of a long text keeps all of it in memory. */
export function copyBeginning(text: string, length: number): string {
  return Buffer.from(text.slice(0, length), 'utf16le').toString('utf16le');
}
