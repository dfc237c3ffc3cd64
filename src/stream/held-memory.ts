// The memory of large answers: what one reader or writer of an answer holds of it counts while it holds it.

/** The memory for large answers, which all of them share. */
export interface AnswerRoom {
  /** @throws GatewayError overloaded when there is not enough of it now */
  take(holder: AnswerHolder, bytes: number): void;
  release(holder: AnswerHolder): void;
}

interface AnswerHolder {
  heldBytes: number;
}

/** Smaller answers are many at once, and soon over. */
const COUNTED_FROM_BYTES = 1_048_576;
/** Of larger ones each so many bytes more are counted. */
const STEP_BYTES = 131_072;

/** What is counted stays so until all is released: the most that was held at any time. */
export class HeldMemory implements AnswerHolder {
  heldBytes = 0;
  readonly #room: AnswerRoom | undefined;
  #counted = 0;

  /** @param room without it there is enough */
  constructor(room: AnswerRoom | undefined) {
    this.#room = room;
  }

  /** @throws GatewayError overloaded when there is not enough memory for so many bytes */
  count(bytes: number): void {
    if (bytes <= COUNTED_FROM_BYTES || bytes - this.#counted < STEP_BYTES) return;
    this.#counted = bytes;
    this.#room?.take(this, bytes);
  }

  release(): void {
    this.#counted = 0;
    if (this.heldBytes > 0) this.#room?.release(this);
  }
}
