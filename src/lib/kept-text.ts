// A long text that comes in small pieces and is asked for later, at the cost of its characters alone.

/** In UTF-16 units. */
const BLOCK_LENGTH = 16_384;

type Encoding = 'latin1' | 'utf16le';

interface Block {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
}

/**
 * What `+=` makes of small pieces costs several times their length, of V8's own memory, which has a
 * fixed limit. Blocks stand outside of it.
 */
export class KeptText {
  readonly #most: number;
  readonly #blocks: Block[] = [];
  #pieces: string[] = [];
  #piecesLength = 0;
  #keptLength = 0;
  /** Of all that was added, kept or not, in UTF-16 units. */
  length = 0;

  /** @param most what comes behind so many UTF-16 units is not kept */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  add(piece: string): void {
    this.length += piece.length;
    const room = this.#most - this.#keptLength;
    if (room <= 0 || piece === '') return;
    const kept = piece.length <= room ? piece : piece.slice(0, room);
    this.#keptLength += kept.length;
    this.#pieces.push(kept);
    this.#piecesLength += kept.length;
    if (this.#piecesLength >= BLOCK_LENGTH) this.#endBlock();
  }

  toString(): string {
    const before = this.#blocks.map(({ bytes, encoding }) => bytes.toString(encoding));
    return [...before, ...this.#pieces].join('');
  }

  #endBlock(): void {
    const text = this.#pieces.join('');
    const encoding = Buffer.byteLength(text) === text.length ? 'latin1' : 'utf16le';
    // Not of node's pool for small buffers, all of which would stay for as long as one block of it.
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, encoding));
    bytes.write(text, encoding);
    this.#blocks.push({ bytes, encoding });
    this.#pieces = [];
    this.#piecesLength = 0;
  }
}
