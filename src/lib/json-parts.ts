// JSON with long texts and media in it, written to bytes piece by piece: its text is never there as a whole.

import { randomUUID } from 'node:crypto';
import { isDenseBase64 } from './base64.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from './chunked-json.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** Characters that are escaped in one turn; a text of more takes several. */
export const ESCAPED_AT_ONCE = 4_194_304;
/** A text as long as this is escaped by itself where texts are more than one turn takes. */
export const MIN_ESCAPED_LENGTH = 16_384;
const MIN_VECTOR_LENGTH = 64;
/** With its comma. */
const NUMBER_LENGTH = 20;

/** Takes parts out of an object that is to be JSON, with a mark in the place of each, and finds them again. */
export class PartMarks {
  readonly #taken: Part[] = [];
  /** Random, so that nothing a client wrote is taken for a mark. */
  #word = '';

  /** The mark. Marks are found again in the order in which they are made. */
  take(part: Part): string {
    this.#word ||= randomUUID();
    this.#taken.push(part);
    return this.#markAt(this.#taken.length - 1);
  }

  parts(text: string): readonly Part[] {
    const parts: Part[] = [];
    let from = 0;
    for (const [index, taken] of this.#taken.entries()) {
      const mark = this.#markAt(index);
      const at = text.indexOf(mark, from);
      // A list takes the place of the quotes, too.
      const quote = taken.kind === 'list' ? 1 : 0;
      parts.push({ kind: 'json', text: text.slice(from, at - quote) }, taken);
      from = at + mark.length + quote;
    }
    parts.push({ kind: 'json', text: text.slice(from) });
    return parts;
  }

  #markAt(index: number): string {
    return `${this.#word} ${index};`;
  }
}

/** The parts of an object with long texts or vectors, wherever they are in it. `mend` gets the JSON without them. */
export function cutLongTexts(body: JsonObject, mend: (json: string) => string): readonly Part[] {
  const marks = new PartMarks();
  const json = JSON.stringify(body, (_key, value: JsonValue) => {
    if (isVector(value)) return marks.take({ kind: 'list', text: '', list: value });
    // A half of a character is mended in the JSON.
    const isLong = typeof value === 'string' && value.length > MIN_ESCAPED_LENGTH;
    if (!isLong || !value.isWellFormed()) return value;
    return marks.take({ kind: isDenseBase64(value) ? 'medium' : 'text', text: value });
  });
  return marks.parts(mend(json));
}

/** Else each number would be asked about. */
function isVector(value: JsonValue): value is number[] {
  if (!Array.isArray(value) || value.length < MIN_VECTOR_LENGTH) return false;
  return value.every((item) => typeof item === 'number');
}

export function writeParts(parts: readonly Part[]): Buffer | Promise<Buffer> {
  const all = parts.reduce(
    (sum, { text, list }) => sum + (list ? NUMBER_LENGTH * list.length : text.length),
    0,
  );
  const isSmall = all < STEPWISE_FROM_BYTES;
  return isSmall ? join(parts.flatMap((part) => [...cutPart(part)])) : joinInSteps(parts);
}

function join(pieces: readonly Piece[]): Buffer {
  const all = Buffer.allocUnsafeSlow(pieces.reduce((sum, piece) => sum + piece.bytes, 0));
  let offset = 0;
  for (const piece of pieces) offset += writePiece(all, piece, offset);
  return all;
}

/** Characters of base64 that are copied at once. */
const COPIED_AT_ONCE = 16_777_216;

/** Twice through the texts: what is written of them is never there but for a piece, beside the whole. */
async function joinInSteps(parts: readonly Part[]): Promise<Buffer> {
  let bytes = 0;
  for await (const piece of inTurns(parts)) bytes += piece.bytes;
  const all = Buffer.allocUnsafeSlow(bytes);
  let offset = 0;
  for await (const piece of inTurns(parts)) {
    offset += writePiece(all, piece, offset);
  }
  return all;
}

/** @returns the number of bytes */
function writePiece(all: Buffer, piece: Piece, offset: number): number {
  if (piece.written !== undefined) return piece.written.copy(all, offset);
  return all.write(piece.text, offset, encodingOf(piece));
}

async function* inTurns(parts: readonly Part[]): AsyncGenerator<Piece> {
  let charactersOfTurn = 0;
  for (const part of parts) {
    for (const piece of cutPart(part)) {
      charactersOfTurn += piece.text.length;
      yield piece;
      if (charactersOfTurn < ESCAPED_AT_ONCE) continue;
      charactersOfTurn = 0;
      await nextTurn();
    }
  }
}

function* cutPart(part: Part): Generator<Piece> {
  const { written, list } = part;
  if (list !== undefined) {
    yield jsonPiece(JSON.stringify(list));
    return;
  }
  if (written !== undefined || part.kind === 'json') {
    yield written === undefined
      ? jsonPiece(part.text)
      : { text: '', bytes: written.length, written };
    return;
  }
  const isText = part.kind === 'text';
  const most = isText ? ESCAPED_AT_ONCE : COPIED_AT_ONCE;
  for (let start = 0; start < part.text.length; ) {
    let end = Math.min(start + most, part.text.length);
    if (isText && !part.text.slice(start, end).isWellFormed()) end -= 1;
    const text = part.text.slice(start, end);
    // What `JSON.stringify` writes between the quotes of a text.
    yield isText ? jsonPiece(JSON.stringify(text).slice(1, -1)) : { text, bytes: text.length };
    start = end;
  }
}

interface Piece {
  readonly text: string;
  readonly bytes: number;
  /** Bytes to be copied in place of the text. */
  readonly written?: Buffer;
}

/** JSON as it is to be written; or what a mark stands for: base64, the characters of a text, or a list. */
interface Part {
  readonly kind: 'json' | 'medium' | 'text' | 'list';
  readonly text: string;
  /** Of a list that is written already. */
  readonly written?: Buffer;
  /** Of a list that is not. */
  readonly list?: readonly number[];
}

function jsonPiece(text: string): Piece {
  return { text, bytes: Buffer.byteLength(text) };
}

/** What is as many bytes as characters is ASCII, and as such copied in half the time. */
function encodingOf({ text, bytes }: Piece): 'latin1' | 'utf8' {
  return bytes === text.length ? 'latin1' : 'utf8';
}
