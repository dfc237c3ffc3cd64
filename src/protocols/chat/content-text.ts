// Builds the one `content` text of an answer and keeps track of where the model's own text went in it.

export interface ContentText {
  /** UTF-16 units so far. */
  readonly length: number;
  /** What to append for a piece of the model's text. */
  addText(piece: string): string;
  /** What to append for a markdown block (a picture, code) that stands in a paragraph of its own. */
  addBlock(markdown: string): string;
  /** Where a position of the model's text stands in the content. */
  startOf(position: number): number;
  /** As `startOf`, for the end of a passage: a block inserted right there is not part of it. */
  endOf(position: number): number;
}

interface Insertion {
  /** Position in the model's text before which it stands. */
  readonly at: number;
  readonly length: number;
}

/** What parts a block from the text before and behind it. */
export const PARAGRAPH = '\n\n';

/** Chat has one text and no order of blocks, so that blocks are woven into it as markdown. */
export function createContentText(): ContentText {
  const insertions: Insertion[] = [];
  let textLength = 0;
  let length = 0;
  let isAfterBlock = false;
  const insert = (text: string): string => {
    insertions.push({ at: textLength, length: text.length });
    length += text.length;
    return text;
  };
  const shift = (position: number, isCounted: (at: number) => boolean): number =>
    insertions.reduce(
      (sum, { at, length: added }) => (isCounted(at) ? sum + added : sum),
      position,
    );
  return {
    get length() {
      return length;
    },
    addText(piece) {
      const lead = isAfterBlock && piece !== '' ? insert(PARAGRAPH) : '';
      isAfterBlock = isAfterBlock && piece === '';
      textLength += piece.length;
      length += piece.length;
      return lead === '' ? piece : lead + piece;
    },
    addBlock(markdown) {
      const text = insert(length === 0 ? markdown : PARAGRAPH + markdown);
      isAfterBlock = true;
      return text;
    },
    startOf: (position) => shift(position, (at) => at <= position),
    endOf: (position) => shift(position, (at) => at < position),
  };
}
