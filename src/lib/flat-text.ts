// Text that is written over and over, in one piece.

/**
 * What `+` and templates give is kept as a tree of its pieces, and copying a text that holds such a
 * tree walks it each time; `JSON.stringify` takes its slow way through all that stands beside it. `join`
 * gives one piece. For what stands in every event of a stream, and for ids.
 */
export function joinFlat(pieces: readonly string[]): string {
  return pieces.join('');
}
