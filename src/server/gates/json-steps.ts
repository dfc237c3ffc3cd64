// Parses a large body in steps: long media are taken out before and put back behind, so that no step takes long.

import { randomUUID } from 'node:crypto';
import { isDenseBase64 } from '../../lib/base64.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { nextTurn } from '../../lib/next-turn.ts';

/** The bytes of a string, without its quotes. */
export interface TextPlace {
  readonly start: number;
  readonly end: number;
}

export interface StepwiseInput {
  /** Where long strings stand, in their order. */
  readonly longTexts: readonly TextPlace[];
  readonly mayHoldRiskyNumber: boolean;
}

interface TakenText extends TextPlace {
  readonly text: string;
}

/**
 * What `parseJson` makes of the bytes.
 * @throws SyntaxError when they are no JSON
 */
export async function parseInSteps(
  bytes: Buffer,
  { longTexts, mayHoldRiskyNumber }: StepwiseInput,
): Promise<JsonValue> {
  const taken: TakenText[] = [];
  for (const { start, end } of longTexts) {
    const text = bytes.toString('latin1', start, end);
    await nextTurn();
    if (isMedium(text)) taken.push({ start, end, text });
    await nextTurn();
  }
  // Random, so that nothing a client wrote is taken for a mark.
  const word = randomUUID();
  const short = withMarks(bytes, taken, word).toString();
  await nextTurn();
  const value = parseJson(short.replace(BYTE_ORDER_MARK, ''), mayHoldRiskyNumber);
  const texts = new Map(taken.map(({ text }, index) => [markAt(word, index), text]));
  return texts.size === 0 ? value : putBack(value, texts);
}

const BYTE_ORDER_MARK = /^\uFEFF/;

/** What stands before the base64 of a data URI; a parser would take it as it is. */
const DATA_URI_START = /^data:[\w.+/;=-]{0,200};base64,/;

/** True for base64 and data URIs: what they are made of needs no escape in JSON and is ASCII. */
function isMedium(text: string): boolean {
  const start = DATA_URI_START.exec(text.slice(0, 256))?.[0].length ?? 0;
  return isDenseBase64(text.slice(start));
}

function withMarks(bytes: Buffer, taken: readonly TextPlace[], word: string): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const [index, { start, end }] of taken.entries()) {
    pieces.push(bytes.subarray(from, start), Buffer.from(markAt(word, index)));
    from = end;
  }
  return Buffer.concat([...pieces, bytes.subarray(from)]);
}

function markAt(word: string, index: number): string {
  return `${word} ${index}`;
}

/** No deeper than the guard lets a body be. */
function putBack(value: JsonValue, texts: ReadonlyMap<string, string>): JsonValue {
  if (typeof value === 'string') return texts.get(value) ?? value;
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      if (mayHoldText(item)) value[index] = putBack(item, texts);
    });
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (item !== undefined && mayHoldText(item)) value[key] = putBack(item, texts);
    }
  }
  return value;
}

function mayHoldText(item: JsonValue): boolean {
  return typeof item === 'string' || typeof item === 'object';
}
