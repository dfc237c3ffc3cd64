// Tells whether two long texts are the same without keeping either.

import { createHash, type Hash } from 'node:crypto';

/** So much waits to be digested together: short texts, most of which nobody asks about, never are. */
const MOST_WAITING = 8_192;

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
    if (this.#waiting.length >= MOST_WAITING) this.#digestWaiting();
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
    if (hash === undefined || this.#waiting.length < MOST_WAITING) return;
    this.#trimmed ??= hash.copy();
    hash.update(this.#waiting, 'utf16le');
    this.#waiting = '';
  }
}
