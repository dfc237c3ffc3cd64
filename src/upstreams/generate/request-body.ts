// The bytes of a request body; media in it are copied as they are, and long texts written in steps.

import { randomUUID } from 'node:crypto';
import type { Receipt } from '../../canonical/receipt.ts';
import { mendText } from '../../canonical/text-forms.ts';
import { isDenseBase64 } from '../../lib/base64.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from '../../lib/chunked-json.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { isShared } from '../../lib/shared-json.ts';
import { itemsOf } from '../read-values.ts';

/** Base64 as long as this is copied: `JSON.stringify` looks at each character for what it must escape. */
const MIN_COPIED_LENGTH = 32_768;
/** Characters that are escaped in one turn; a text of more takes several. */
const ESCAPED_AT_ONCE = 4_194_304;
/** A text as long as this is escaped by itself where texts are more than one turn takes. */
const MIN_ESCAPED_LENGTH = 16_384;

/**
 * Bytes, so that the text is encoded once: a string would be measured first and encoded while writing.
 * What no UTF-8 can say is mended, and noted in the receipt before this returns. Much of media or text
 * takes several turns.
 */
export function encodeBody(body: JsonObject, receipt?: Receipt): Buffer | Promise<Buffer> {
  const characters = countMarkable(body);
  if (characters === undefined) return Buffer.from(mendText(JSON.stringify(body), receipt));
  const marks = new Marks(characters > ESCAPED_AT_ONCE ? MIN_ESCAPED_LENGTH : ESCAPED_AT_ONCE);
  const text = mendText(JSON.stringify(marks.mark(body)), receipt);
  const parts = marks.parts(text);
  const all = parts.reduce((sum, part) => sum + part.text.length, 0);
  const isSmall = all < STEPWISE_FROM_BYTES;
  return isSmall ? join(parts.flatMap((part) => [...cutPart(part)])) : joinInSteps(parts);
}

/**
 * Characters of the texts of a conversation, which counts what is dear to escape and costs little. Undefined for
 * most bodies: they have no shared tools, no media and no more text than one turn takes.
 */
function countMarkable({ tools, contents }: JsonObject): number | undefined {
  let mayBeMarked = Array.isArray(tools) && isShared(tools);
  let characters = 0;
  for (const content of itemsOf(contents)) {
    for (const part of isJsonObject(content) ? itemsOf(content.parts) : []) {
      if (!isJsonObject(part)) continue;
      if (typeof part.text === 'string') characters += part.text.length;
      mayBeMarked ||= part.inlineData !== undefined || part.functionResponse !== undefined;
    }
  }
  return mayBeMarked || characters > ESCAPED_AT_ONCE ? characters : undefined;
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
  const { written } = part;
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
}

function jsonPiece(text: string): Piece {
  return { text, bytes: Buffer.byteLength(text) };
}

/** What is as many bytes as characters is ASCII, and as such copied in half the time. */
function encodingOf({ text, bytes }: Piece): 'latin1' | 'utf8' {
  return bytes === text.length ? 'latin1' : 'utf8';
}

/** Puts a short mark in the place of each long medium and text and of the shared list of tools, and what it stands for there again. */
class Marks {
  readonly taken: Part[] = [];
  /** Random, so that nothing a client wrote is taken for a mark. */
  #word = '';
  readonly #longText: number;

  constructor(longText: number) {
    this.#longText = longText;
  }

  mark(body: JsonObject): JsonObject {
    let marked = body;
    // Marks are found again in the order in which they are made.
    for (const key in body) {
      if (key === 'tools') marked = this.#markTools(marked);
      if (key === 'contents') marked = this.#markContents(marked);
    }
    return marked;
  }

  #markTools(body: JsonObject): JsonObject {
    const written = writeSharedList(body.tools);
    if (written === undefined) return body;
    return { ...body, tools: this.#take({ kind: 'list', text: '', written }) };
  }

  #markContents(body: JsonObject): JsonObject {
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
      typeof data === 'string' && data.length >= MIN_COPIED_LENGTH && isDenseBase64(data);
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

/** Of the texts of shared lists, together and each, in bytes. */
const MAX_WRITTEN = 8_388_608;
const MAX_WRITTEN_LIST = MAX_WRITTEN / 8;

/** What shared lists are written as; the oldest goes first. */
const writtenLists = new Map<object, Buffer>();
let writtenBytes = 0;

/** Undefined for a list that is not shared, is very long or needs mending. */
function writeSharedList(list: JsonValue | undefined): Buffer | undefined {
  if (!Array.isArray(list) || !isShared(list)) return undefined;
  const known = writtenLists.get(list);
  if (known !== undefined) return known;
  const text = JSON.stringify(list);
  if (text.length > MAX_WRITTEN_LIST || mendText(text, undefined) !== text) return undefined;
  const written = Buffer.from(text);
  writtenLists.set(list, written);
  writtenBytes += written.length;
  for (const [oldest, { length }] of writtenLists) {
    if (writtenBytes <= MAX_WRITTEN) break;
    writtenLists.delete(oldest);
    writtenBytes -= length;
  }
  return written;
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
