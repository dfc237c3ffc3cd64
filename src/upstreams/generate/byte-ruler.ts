// Places in a text that are given in bytes of UTF-8.

interface Mark {
  readonly bytes: number;
  readonly units: number;
}

/** In UTF-16 units; so much of the text is walked for each place at most. */
const BETWEEN_MARKS = 1024;

/** Long answers cite often: marks are left on the way, so that the text is walked once. */
export class ByteRuler {
  readonly #text: string;
  readonly #marks: Mark[] = [{ bytes: 0, units: 0 }];

  constructor(text: string) {
    this.#text = text;
  }

  /** How many UTF-16 units the text's first `bytes` bytes are; a character that is cut counts. */
  unitsIn(bytes: number): number {
    let { units, bytes: walked } = this.#lastMarkBefore(bytes);
    let marked = this.#marks.at(-1)?.units ?? 0;
    while (walked < bytes && units < this.#text.length) {
      const point = this.#text.codePointAt(units) ?? 0;
      walked += utf8Length(point);
      units += point > 0xffff ? 2 : 1;
      if (units < marked + BETWEEN_MARKS) continue;
      this.#marks.push({ bytes: walked, units });
      marked = units;
    }
    return units;
  }

  #lastMarkBefore(bytes: number): Mark {
    let low = 0;
    let high = this.#marks.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#marks[middle]?.bytes ?? 0) <= bytes) low = middle;
      else high = middle - 1;
    }
    return this.#marks[low] ?? { bytes: 0, units: 0 };
  }
}

function utf8Length(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}
