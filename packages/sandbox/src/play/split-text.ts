// Cuts a text into the pieces a stream sends, never through a character.

const PIECE_LENGTH = 24;
/** Long texts come in at most about this many pieces. */
const MAX_PIECES = 2_000;

export function splitText(text: string): string[] {
  const length = Math.max(PIECE_LENGTH, Math.ceil(text.length / MAX_PIECES));
  const pieces: string[] = [];
  let from = 0;
  while (from < text.length) {
    const splitsPair = /[\ud800-\udbff]/.test(text.charAt(from + length - 1));
    const to = from + length + (splitsPair ? 1 : 0);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
