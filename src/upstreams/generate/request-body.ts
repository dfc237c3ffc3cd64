// The bytes of a request body; media in it are copied as they are, and long texts written in steps.

import { randomUUID } from 'node:crypto';
import type { Receipt } from '../../canonical/receipt.ts';
import { mendText } from '../../canonical/text-forms.ts';
import { isDenseBase64 } from '../../lib/base64.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from '../../lib/chunked-json.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

/** Base64 as long as this is copied: `JSON.stringify` looks at each character for what it must escape. */
const SHORTEST_COPIED = 32_768;
/** Characters that are escaped in one turn; a text of more takes several. */
const ESCAPED_AT_ONCE = 4_194_304;
/** A text as long as this is escaped by itself where texts are more than one turn takes. */
const SHORTEST_ESCAPED = 16_384;

/**
 * Bytes, so that the text is encoded once: a string would be measured first and encoded while writing.
 * What no UTF-8 can say is mended, and noted in the receipt before this returns. Much of media or text
 * takes several turns.
 */
export function encodeBody(body: JsonObject, receipt?: Receipt): Buffer | Promise<Buffer> {
  const marks = new Marks();
  const text = mendText(JSON.stringify(marks.mark(body)), receipt);
  if (marks.taken.length === 0) return Buffer.from(text, encodingOf(jsonPiece(text)));
  const parts = marks.parts(text);
  const characters = parts.reduce((sum, part) => sum + part.text.length, 0);
  return characters < STEPWISE_FROM_BYTES ? join(parts.map(pieceOf)) : joinInSteps(parts);
}

function join(pieces: readonly Piece[]): Buffer {
  const all = Buffer.allocUnsafeSlow(sumBytes(pieces));
  let offset = 0;
  for (const piece of pieces) offset += all.write(piece.text, offset, encodingOf(piece));
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
    offset += all.write(piece.text, offset, encodingOf(piece));
  }
  return all;
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
  if (part.kind === 'json') {
    yield jsonPiece(part.text);
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

function sumBytes(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + piece.bytes, 0);
}

interface Piece {
  readonly text: string;
  readonly bytes: number;
}

/** JSON as it is to be written; or what a mark stands for: base64, or the characters of a text. */
interface Part {
  readonly kind: 'json' | 'medium' | 'text';
  readonly text: string;
}

function pieceOf({ kind, text }: Part): Piece {
  return kind === 'medium' ? { text, bytes: text.length } : jsonPiece(text);
}

function jsonPiece(text: string): Piece {
  return { text, bytes: Buffer.byteLength(text) };
}

/** What is as many bytes as characters is ASCII, and as such copied in half the time. */
function encodingOf({ text, bytes }: Piece): 'latin1' | 'utf8' {
  return bytes === text.length ? 'latin1' : 'utf8';
}

/** Puts a short mark in the place of each long medium and text, and what it stands for there again. */
class Marks {
  readonly taken: Part[] = [];
  /** Random, so that nothing a client wrote is taken for a mark. */
  #word = '';
  #longText = ESCAPED_AT_ONCE;

  mark(body: JsonObject): JsonObject {
    if (countTexts(body) > ESCAPED_AT_ONCE) this.#longText = SHORTEST_ESCAPED;
    return withItems(body, 'contents', (content) =>
      withItems(content, 'parts', (part) => this.#markPart(part)),
    );
  }

  #markPart(part: JsonObject): JsonObject {
    const { functionResponse, text } = part;
    // A half of a character is mended in the JSON, and told, before anything takes a turn.
    if (typeof text === 'string' && text.length > this.#longText && text.isWellFormed()) {
      return { ...part, text: this.#take({ kind: 'text', text }) };
    }
    if (!isJsonObject(functionResponse)) return this.#markBlob(part);
    const marked = withItems(functionResponse, 'parts', (inner) => this.#markBlob(inner));
    return marked === functionResponse ? part : { ...part, functionResponse: marked };
  }

  #markBlob(part: JsonObject): JsonObject {
    const { inlineData } = part;
    if (!isJsonObject(inlineData)) return part;
    const { data } = inlineData;
    const isCopied =
      typeof data === 'string' && data.length >= SHORTEST_COPIED && isDenseBase64(data);
    if (!isCopied) return part;
    return {
      ...part,
      inlineData: { ...inlineData, data: this.#take({ kind: 'medium', text: data }) },
    };
  }

  #take(part: Part): string {
    this.#word ||= randomUUID();
    this.taken.push(part);
    return this.#markAt(this.taken.length - 1);
  }

  /** The marks stand in the text in the order in which they were made. */
  parts(text: string): readonly Part[] {
    const parts: Part[] = [];
    let from = 0;
    for (const [index, taken] of this.taken.entries()) {
      const mark = this.#markAt(index);
      const at = text.indexOf(mark, from);
      parts.push({ kind: 'json', text: text.slice(from, at) }, taken);
      from = at + mark.length;
    }
    parts.push({ kind: 'json', text: text.slice(from) });
    return parts;
  }

  #markAt(index: number): string {
    return `${this.#word} ${index};`;
  }
}

/** Characters of the texts of a conversation, which counts what is dear to escape and costs little. */
function countTexts({ contents }: JsonObject): number {
  let characters = 0;
  for (const content of Array.isArray(contents) ? contents : []) {
    if (!isJsonObject(content) || !Array.isArray(content.parts)) continue;
    for (const part of content.parts) {
      if (isJsonObject(part) && typeof part.text === 'string') characters += part.text.length;
    }
  }
  return characters;
}

/** The object with the items of one of its lists changed; the same object when none is. */
function withItems(
  object: JsonObject,
  key: 'contents' | 'parts',
  change: (item: JsonObject) => JsonObject,
): JsonObject {
  const items = object[key];
  if (!Array.isArray(items)) return object;
  let changed: JsonValue[] | undefined;
  for (const [index, item] of items.entries()) {
    if (!isJsonObject(item)) continue;
    const next = change(item);
    if (next === item) continue;
    changed ??= [...items];
    changed[index] = next;
  }
  return changed === undefined ? object : { ...object, [key]: changed };
}
