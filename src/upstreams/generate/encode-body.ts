// The bytes of a request body; media in it are copied as they are, not written as JSON once more.

import { randomUUID } from 'node:crypto';
import { mendText } from '../../canonical/mend-text.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import { isDenseBase64 } from '../../lib/base64.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from '../../lib/next-turn.ts';

/** Base64 as long as this is copied: `JSON.stringify` looks at each character for what it must escape. */
const SHORTEST_COPIED = 32_768;

/**
 * Bytes, so that the text is encoded once: a string would be measured first and encoded while writing.
 * What no UTF-8 can say is mended, and noted in the receipt before this returns. Much of media takes
 * several turns.
 */
export function encodeBody(body: JsonObject, receipt?: Receipt): Buffer | Promise<Buffer> {
  const media = new MediaMarks();
  const text = mendText(JSON.stringify(media.mark(body)), receipt);
  if (media.copied.length === 0) return Buffer.from(text, encodingOf(pieceOf(text)));
  const pieces = media.pieces(text);
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0);
  return bytes < STEPWISE_FROM_BYTES ? join(pieces, bytes) : joinInSteps(pieces, bytes);
}

function join(pieces: readonly Piece[], bytes: number): Buffer {
  const all = Buffer.allocUnsafeSlow(bytes);
  let offset = 0;
  for (const piece of pieces) offset += all.write(piece.text, offset, encodingOf(piece));
  return all;
}

/** Characters written in one turn. */
const STEP_CHARACTERS = 16_777_216;

async function joinInSteps(pieces: readonly Piece[], bytes: number): Promise<Buffer> {
  await nextTurn();
  const all = Buffer.allocUnsafeSlow(bytes);
  let offset = 0;
  for (const piece of pieces) {
    if (piece.text.length <= STEP_CHARACTERS || encodingOf(piece) === 'utf8') {
      offset += all.write(piece.text, offset, encodingOf(piece));
      continue;
    }
    for (let start = 0; start < piece.text.length; start += STEP_CHARACTERS) {
      offset += all.write(piece.text.slice(start, start + STEP_CHARACTERS), offset, 'latin1');
      await nextTurn();
    }
  }
  return all;
}

interface Piece {
  readonly text: string;
  readonly bytes: number;
}

function pieceOf(text: string): Piece {
  return { text, bytes: Buffer.byteLength(text) };
}

/** What is as many bytes as characters is ASCII, and as such copied in half the time. */
function encodingOf({ text, bytes }: Piece): 'latin1' | 'utf8' {
  return bytes === text.length ? 'latin1' : 'utf8';
}

/** Puts a short mark in the place of each long medium, and the medium there again in the bytes. */
class MediaMarks {
  readonly copied: string[] = [];
  /** Random, so that nothing a client wrote is taken for a mark. */
  #word = '';

  mark(body: JsonObject): JsonObject {
    return withItems(body, 'contents', (content) =>
      withItems(content, 'parts', (part) => this.#markPart(part)),
    );
  }

  #markPart(part: JsonObject): JsonObject {
    const { functionResponse } = part;
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
    this.#word ||= randomUUID();
    this.copied.push(data);
    return { ...part, inlineData: { ...inlineData, data: this.#markAt(this.copied.length - 1) } };
  }

  /** The marks stand in the text in the order in which they were made. */
  pieces(text: string): readonly Piece[] {
    const pieces: Piece[] = [];
    let from = 0;
    for (const [index, data] of this.copied.entries()) {
      const mark = this.#markAt(index);
      const at = text.indexOf(mark, from);
      pieces.push(pieceOf(text.slice(from, at)), { text: data, bytes: data.length });
      from = at + mark.length;
    }
    pieces.push(pieceOf(text.slice(from)));
    return pieces;
  }

  #markAt(index: number): string {
    return `${this.#word} ${index};`;
  }
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
