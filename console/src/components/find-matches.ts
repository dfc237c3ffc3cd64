// Finds a text in a longer one, for showing the places.

/** More marks than this nobody steps through, and they make the page slow. */
const MAX_MATCHES = 1000;

/** Where the text stands, in UTF-16 units; upper and lower case are the same. */
export function findMatches(text: string, search: string): readonly number[] {
  if (search === '') return [];
  const places: number[] = [];
  // Lower case must not change lengths, as it does with a few letters.
  const lower = text.toLowerCase();
  const [within, sought] =
    lower.length === text.length ? [lower, search.toLowerCase()] : [text, search];
  for (
    let at = within.indexOf(sought);
    at !== -1;
    at = within.indexOf(sought, at + sought.length)
  ) {
    places.push(at);
    if (places.length === MAX_MATCHES) break;
  }
  return places;
}

export interface Piece {
  readonly at: number;
  readonly piece: string;
  /** Which match it is; undefined between matches. */
  readonly match: number | undefined;
}

export function splitByMatches(
  text: string,
  matches: readonly number[],
  length: number,
): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const [match, at] of matches.entries()) {
    if (at > end) pieces.push({ at: end, piece: text.slice(end, at), match: undefined });
    pieces.push({ at, piece: text.slice(at, at + length), match });
    end = at + length;
  }
  if (end < text.length) pieces.push({ at: end, piece: text.slice(end), match: undefined });
  return pieces;
}
