// Texts that are long, come in small pieces or are kept for long, at the cost of their characters alone.

import { createHash, type Hash } from 'node:crypto';
import { LARGE_WORK, relieveMemory } from './memory-limit.ts';

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
  #blockBytes = 0;
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

  /** Of memory. */
  get heldBytes(): number {
    return this.#blockBytes + this.#piecesLength;
  }

  toString(): string {
    if (this.heldBytes >= LARGE_WORK) relieveMemory();
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
    this.#blockBytes += bytes.length;
    this.#pieces = [];
    this.#piecesLength = 0;
  }
}

/** So much waits to be digested together: short texts, most of which nobody asks about, never are. */
const MAX_WAITING = 8_192;

/**
 * The digest of a text that comes piece by piece, however it was cut; white space around the whole does
 * not count. Holds a few thousand characters at most.
 */
export class TextDigest {
  #waiting = '';
  /** Of what is behind, which begins with a character that is no white space. */
  #hash: Hash | undefined;
  /** The same without the white space it ends in, where that was long. */
  #trimmed: Hash | undefined;

  static of(text: string | TextDigest): TextDigest {
    if (typeof text !== 'string') return text;
    const digest = new TextDigest();
    digest.add(text);
    return digest;
  }

  add(piece: string): void {
    this.#waiting += piece;
    if (this.#waiting.length >= MAX_WAITING) this.#digestWaiting();
  }

  /** True while there is nothing but white space. */
  get isEmpty(): boolean {
    return this.#hash === undefined && this.#waiting.trim() === '';
  }

  get value(): string {
    const hash = this.#hash?.copy() ?? createHash('sha256');
    const rest = this.#hash === undefined ? this.#waiting.trim() : this.#waiting.trimEnd();
    if (rest === '' && this.#trimmed !== undefined) return this.#trimmed.copy().digest('base64url');
    return hash.update(rest, 'utf16le').digest('base64url');
  }

  #digestWaiting(): void {
    const text = this.#hash === undefined ? this.#waiting.trimStart() : this.#waiting;
    const said = text.trimEnd();
    this.#waiting = text.slice(said.length);
    if (said !== '') {
      this.#hash = (this.#hash ?? createHash('sha256')).update(said, 'utf16le');
      this.#trimmed = undefined;
    }
    const hash = this.#hash;
    if (hash === undefined || this.#waiting.length < MAX_WAITING) return;
    this.#trimmed ??= hash.copy();
    hash.update(this.#waiting, 'utf16le');
    this.#waiting = '';
  }
}

/**
 * What `+` and templates give is kept as a tree of its pieces, and copying a text that holds such a
 * tree walks it each time; `JSON.stringify` takes its slow way through all that stands beside it. `join`
 * gives one piece. For what stands in every event of a stream, and for ids.
 */
export function flattenString(pieces: readonly string[]): string {
  return pieces.join('');
}

/** The first characters as a text of their own: a slice of a long text keeps all of it in memory. */
export function copyBeginning(text: string, length: number): string {
  return Buffer.from(text.slice(0, length), 'utf16le').toString('utf16le');
}
