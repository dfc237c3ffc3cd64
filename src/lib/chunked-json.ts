// Parses and writes large JSON in steps, none of which takes long: of a body long texts are taken out before and put
// back behind, of an answer with vectors these, and long lists of an answer are written in parts.

import { isAscii } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { isDenseBase64 } from './base64.ts';
import {
  isEscaped,
  isJsonObject,
  type JsonHints,
  type JsonObject,
  type JsonValue,
  parseSurveyed,
  type TextPlace,
} from './json.ts';
import { LARGE_WORK, relieveMemory } from './memory-limit.ts';

interface StepwiseInput extends JsonHints {
  /** Where long strings stand, in their order. */
  readonly longTexts: readonly TextPlace[];
}

interface TakenText extends TextPlace {
  readonly text: string;
  /** UTF-16 units of its source. */
  readonly units: number;
}

/** The text of what is no JSON: of the same length, with the long strings before the fault blotted out. */
export class StepwiseSyntaxError extends SyntaxError {
  readonly text: string;

  constructor(text: string, options: ErrorOptions) {
    super('no JSON', options);
    this.text = text;
  }
}

/**
 * What `parseSurveyed` makes of the bytes, which are written over: large texts are never there a third time.
 * @throws StepwiseSyntaxError when they are no JSON
 */
export async function parseInSteps(bytes: Buffer, input: StepwiseInput): Promise<JsonValue> {
  const taken: TakenText[] = [];
  try {
    await takeTexts(bytes, input.longTexts, taken);
    // Random, so that nothing a client wrote is taken for a mark.
    const word = randomUUID();
    const short = withMarks(bytes, taken, word).toString();
    await nextTurn();
    const value = parseSurveyed(short.replace(BYTE_ORDER_MARK, ''), input);
    const texts = new Map(taken.map(({ text }, index) => [markAt(word, index), text]));
    return texts.size === 0 ? value : restoreTaken(value, texts);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new StepwiseSyntaxError(blottedText(bytes, taken), { cause });
  }
}

async function takeTexts(
  bytes: Buffer,
  places: readonly TextPlace[],
  taken: TakenText[],
): Promise<void> {
  let bytesOfTurn = 0;
  for (const place of places) {
    const medium = await readMedium(bytes, place);
    if (medium === undefined) await readText(bytes, place, taken);
    else taken.push(medium);
    bytesOfTurn += place.end - place.start;
    if (bytesOfTurn < TURN_BYTES) continue;
    bytesOfTurn = 0;
    await nextTurn();
  }
}

function blottedText(bytes: Buffer, taken: readonly TakenText[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, units } of taken) {
    pieces.push(bytes.toString('utf8', from, start), '?'.repeat(units));
    from = end;
  }
  pieces.push(bytes.toString('utf8', from));
  return pieces.join('').replace(BYTE_ORDER_MARK, '');
}

/** Of texts that are read in one turn; longer ones have several of their own. */
const TURN_BYTES = 1_048_576;

const BYTE_ORDER_MARK = /^\uFEFF/;

/** What stands before the base64 of a data URI; a parser would take it as it is. */
const DATA_URI_START = /^data:[\w.+/;=-]{0,200};base64,/;

/** Tells most other texts by their beginning. */
const MEDIUM_START = /^(?:data:[\w.+/;=-]{0,200};base64,)?[\w+/=-]*$/;
const START_BYTES = 1024;

/** Base64 and data URIs as they are: what they are made of needs no escape in JSON and is ASCII. */
async function readMedium(bytes: Buffer, place: TextPlace): Promise<TakenText | undefined> {
  const { start, end } = place;
  const beginning = bytes.toString('latin1', start, start + START_BYTES);
  if (!MEDIUM_START.test(beginning)) return undefined;
  const text = bytes.toString('latin1', start, end);
  if (text.length >= TURN_BYTES) await nextTurn();
  const from = DATA_URI_START.exec(beginning)?.[0].length ?? 0;
  return isDenseBase64(text.slice(from)) ? { ...place, text, units: text.length } : undefined;
}

const PIECE_BYTES = 4_194_304;

/**
 * Written over itself without its escapes, which are never shorter than what they stand for.
 * @throws SyntaxError when the bytes are no text of JSON; what is written over by then is taken
 */
async function readText(
  bytes: Buffer,
  { start, end }: TextPlace,
  taken: TakenText[],
): Promise<void> {
  const texts: string[] = [];
  let units = 0;
  let runStart = start;
  let written = start;
  for (let from = start; from < end; ) {
    const to = end - from > PIECE_BYTES ? placeOfCut(bytes, from, from + PIECE_BYTES) : end;
    const source = bytes.toString('utf8', from, to);
    const piece = parseText(source);
    if (piece === undefined) {
      taken.push({ start, end: from, text: '', units });
      throw new SyntaxError('no text');
    }
    units += source.length;
    if (piece.isWellFormed()) written += bytes.write(piece, written);
    else {
      // Bytes cannot say half a character.
      texts.push(decode(bytes, runStart, written), piece);
      runStart = written;
    }
    if (to < end) await nextTurn();
    from = to;
  }
  texts.push(decode(bytes, runStart, written));
  taken.push({ start, end, text: texts.join(''), units });
}

const NO_HINTS: JsonHints = { mayHoldRiskyNumber: false, mayHoldEscapedKey: false };

/** Undefined when it is not what JSON has between the quotes of a text. */
function parseText(source: string): string | undefined {
  try {
    const text = parseSurveyed(`"${source}"`, NO_HINTS);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

function decode(bytes: Buffer, start: number, end: number): string {
  const part = bytes.subarray(start, end);
  return part.toString(isAscii(part) ? 'latin1' : 'utf8');
}

const BACKSLASH = 0x5c;
/** Of `\uFFFF`. */
const MAX_ESCAPE = 6;

/** The last place before `to` that is in no character and in no escape; `from` is such a place. */
function placeOfCut(bytes: Buffer, from: number, to: number): number {
  for (let at = to; at > from; at -= 1) {
    if (bytes[at] === BACKSLASH && !isEscaped(bytes, at, from)) return at;
    const isWithin = ((bytes[at] ?? 0) & 0xc0) === 0x80;
    const near = bytes.subarray(Math.max(from, at - MAX_ESCAPE + 1), at);
    if (!isWithin && !near.includes(BACKSLASH)) return at;
  }
  return to;
}

function withMarks(bytes: Buffer, taken: readonly TextPlace[], word: string): Buffer {
  if (taken.length === 0) return bytes;
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
function restoreTaken(value: JsonValue, taken: ReadonlyMap<string, JsonValue>): JsonValue {
  if (typeof value === 'string') return taken.get(value) ?? value;
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      if (mayHoldText(item)) value[index] = restoreTaken(item, taken);
    });
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (item !== undefined && mayHoldText(item)) value[key] = restoreTaken(item, taken);
    }
  }
  return value;
}

function mayHoldText(item: JsonValue): boolean {
  return typeof item === 'string' || typeof item === 'object';
}

/** Shorter lists of numbers are left where they are; longer ones are no vectors, and bounded as all else is. */
const VECTOR_CHARACTERS = { least: 256, most: 1_048_576 };

const NUMBER_BYTES = 8;

const TEXT_OR_LIST = /["[]/g;
const TEXT_END = /["\\]/g;
const NO_NUMBERS = /[^\d.eE+\-,\s]/g;

function placeOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

/**
 * Takes the vectors out of JSON that arrives, each parsed once it is whole, so that many of them are never parsed at once; and
 * puts them back into what was made of the rest. They are the numbers that were written, not their digits.
 */
export class VectorCutter {
  readonly #word = randomUUID();
  readonly #taken = new Map<string, JsonValue>();
  #isInText = false;
  #isEscaped = false;
  /** Behind its bracket, what came so far of a list of numbers. */
  #list: string[] | undefined;
  #listLength = 0;
  /** Of memory, by the vectors so far: a number of two characters takes as much as any. */
  heldBytes = 0;

  /** What is left of the next piece, which may end anywhere; a character for a byte is enough. */
  cut(piece: string): string {
    let rest = '';
    for (let at = 0; at < piece.length; ) {
      if (this.#list === undefined) {
        const end = this.#nextList(piece, at);
        rest += piece.slice(at, end);
        at = this.#list === undefined ? end : end + 1;
        continue;
      }
      const end = placeOf(NO_NUMBERS, piece, at);
      this.#list.push(piece.slice(at, end));
      this.#listLength += end - at;
      at = end;
      const isTooLong = this.#listLength > VECTOR_CHARACTERS.most;
      if (end === piece.length && !isTooLong) break;
      const mark = piece[end] === ']' && !isTooLong ? this.#takeList() : undefined;
      rest += mark ?? this.end();
      if (mark !== undefined) at += 1;
    }
    return rest;
  }

  /** What was held back of a list that did not end. */
  end(): string {
    const list = this.#list;
    this.#list = undefined;
    return list === undefined ? '' : `[${list.join('')}`;
  }

  restore(value: JsonValue): JsonValue {
    return restoreTaken(value, this.#taken);
  }

  /** The place of the bracket that opens the next list, which is begun; that of the end where none does. */
  #nextList(piece: string, from: number): number {
    for (let at = from; at < piece.length; at += 1) {
      if (this.#isEscaped) {
        this.#isEscaped = false;
        continue;
      }
      at = placeOf(this.#isInText ? TEXT_END : TEXT_OR_LIST, piece, at);
      if (piece[at] === '"') this.#isInText = !this.#isInText;
      else if (piece[at] === '\\') this.#isEscaped = true;
      else if (piece[at] === '[') {
        this.#list = [];
        this.#listLength = 0;
        return at;
      }
    }
    return piece.length;
  }

  /** The mark that stands for it; undefined, and it is not taken, when it is no vector. */
  #takeList(): string | undefined {
    if (this.#listLength < VECTOR_CHARACTERS.least) return undefined;
    const vector = parseVector(`[${this.#list?.join('')}]`);
    if (vector === undefined) return undefined;
    const mark = markAt(this.#word, this.#taken.size);
    this.heldBytes += NUMBER_BYTES * vector.length;
    this.#taken.set(mark, vector);
    this.#list = undefined;
    return JSON.stringify(mark);
  }
}

function parseVector(text: string): JsonValue[] | undefined {
  try {
    const list = parseSurveyed(text, NO_HINTS);
    return Array.isArray(list) && list.every(Number.isFinite) ? list : undefined;
  } catch {
    return undefined;
  }
}

/** Of a long list, that are made or written in one turn. */
const TURN_ENTRIES = 250;

/** The parts of a list, with a turn for others behind each of a long one. */
async function* inTurns<Item>(list: readonly Item[]): AsyncGenerator<readonly Item[]> {
  for (let from = 0; from < list.length; from += TURN_ENTRIES) {
    yield list.slice(from, from + TURN_ENTRIES);
    if (list.length > TURN_ENTRIES) await nextTurn();
  }
}

/** As `map`, with a turn for others between the parts of a long list. */
export async function mapInSteps<Item, Result>(
  list: readonly Item[],
  make: (item: Item) => Result,
): Promise<readonly Result[]> {
  const made: Result[] = [];
  for await (const part of inTurns(list)) for (const item of part) made.push(make(item));
  return made;
}

/** Parts of a list that are read while it is written. */
export interface ListInParts {
  readonly name: string;
  readonly parts: AsyncIterable<readonly object[]>;
}

/**
 * As `JSON.stringify`, with a turn for others between the parts of a long list in a field: then it is bytes, as a long text
 * would be encoded in one turn.
 * @param last a field behind the others
 */
export async function stringifyInSteps(
  value: JsonObject,
  last?: ListInParts,
): Promise<string | Buffer> {
  const isLong = (field: JsonValue): field is JsonValue[] =>
    Array.isArray(field) && field.length > TURN_ENTRIES;
  if (last === undefined && !Object.values(value).some(isLong)) return JSON.stringify(value);
  const bytes: Buffer[] = [];
  let before = '{';
  const add = (text: string): void => void bytes.push(Buffer.from(text));
  const addList = async (name: string, parts: AsyncIterable<readonly unknown[]>): Promise<void> => {
    add(`${before}${JSON.stringify(name)}:[`);
    let comma = '';
    for await (const part of parts) {
      if (part.length === 0) continue;
      add(comma + JSON.stringify(part).slice(1, -1));
      comma = ',';
    }
    add(']');
    before = ',';
  };
  for (const [name, field] of Object.entries(value)) {
    if (isLong(field)) {
      await addList(name, inTurns(field));
      continue;
    }
    const text: string | undefined = JSON.stringify(field);
    if (text === undefined) continue;
    add(`${before}${JSON.stringify(name)}:${text}`);
    before = ',';
  }
  if (last !== undefined) await addList(last.name, inTurnsEach(last.parts));
  add(before === '{' ? '{}' : '}');
  return joinInTurns(bytes);
}

async function* inTurnsEach<Item>(lists: AsyncIterable<readonly Item[]>) {
  for await (const list of lists) yield* inTurns(list);
}

async function joinInTurns(parts: readonly Buffer[]): Promise<Buffer> {
  const all = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  let turnEnd = PIECE_BYTES;
  for (const part of parts) {
    offset += part.copy(all, offset);
    if (offset < turnEnd) continue;
    turnEnd = offset + PIECE_BYTES;
    await nextTurn();
  }
  return all;
}

/** Bodies from this size on are read and written in steps. */
export const STEPWISE_FROM_BYTES = LARGE_WORK;

export function nextTurn(): Promise<void> {
  relieveMemory();
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
