// Builds the one `content` text of an answer and keeps track of where the model's own text went in it.

import { PARAGRAPH } from '../../canonical/split-inline-images.ts';

interface Insertion {
  /** Position in the model's text before which it stands. */
  readonly at: number;
  /** Of this and all before it. */
  readonly total: number;
}

/** Chat has one text and no order of blocks, so that blocks are woven into it as markdown. */
export class ContentText {
  readonly #insertions: Insertion[] = [];
  #textLength = 0;
  #length = 0;
  #isAfterBlock = false;

  /** UTF-16 units so far. */
  get length(): number {
    return this.#length;
  }

  /** What to append for a piece of the model's text. */
  addText(piece: string): string {
    if (piece === '') return piece;
    const lead = this.#isAfterBlock ? this.#insert(PARAGRAPH) : '';
    this.#isAfterBlock = false;
    this.#textLength += piece.length;
    this.#length += piece.length;
    return lead === '' ? piece : lead + piece;
  }

  /** What to append for a markdown block (a picture, code) that stands in a paragraph of its own. */
  addBlock(markdown: string): string {
    const text = this.#insert(this.#length === 0 ? markdown : PARAGRAPH + markdown);
    this.#isAfterBlock = true;
    return text;
  }

  /** Where a position of the model's text stands in the content. */
  startOf(position: number): number {
    return this.#shift(position, (at) => at <= position);
  }

  /** As `startOf`, for the end of a passage: a block inserted right there is not part of it. */
  endOf(position: number): number {
    return this.#shift(position, (at) => at < position);
  }

  #insert(text: string): string {
    const before = this.#insertions.at(-1)?.total ?? 0;
    this.#insertions.push({ at: this.#textLength, total: before + text.length });
    this.#length += text.length;
    return text;
  }

  /** The insertions that count are the first ones. */
  #shift(position: number, isCounted: (at: number) => boolean): number {
    let [low, high] = [0, this.#insertions.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const at = this.#insertions[middle]?.at ?? 0;
      if (isCounted(at)) low = middle + 1;
      else high = middle;
    }
    return position + (this.#insertions[low - 1]?.total ?? 0);
  }
}
