// Where an object of JSON ends that comes in pieces.

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Follows an object of JSON to its end, piece by piece: to parse all of it for each piece would be quadratic. */
export class ObjectEnd {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  isReached = false;

  read(piece: string): void {
    for (let at = 0; at < piece.length; at += 1) {
      const unit = piece.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (unit === QUOTE) this.#isInText = !this.#isInText;
      else if (this.#isInText) this.#isEscaped = unit === BACKSLASH;
      else if (OPENING.has(unit)) this.#depth += 1;
      else if (CLOSING.has(unit)) {
        this.#depth -= 1;
        this.isReached ||= this.#depth === 0;
      }
    }
  }
}
