// JSON that loses nothing, as numbers a double cannot hold keep their source text, and is refused when it is a bomb.

import { randomInt } from 'node:crypto';
import { LARGE_WORK, relieveMemory } from './memory-limit.ts';

type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** A number kept as its source text; `JSON.stringify` writes that text back (TC39 "JSON.parse source text access"). */
interface RawJson {
  readonly rawJSON: string;
}

interface SourceAwareJson {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

// The one narrowing of this file: the ES library types do not describe source text access yet.
const sourceAware = JSON as unknown as SourceAwareJson;

/** Digits, exponents or a negative zero that a double may not give back as written. */
const RISKY_NUMBER = /\d{16}|\d[eE]\+?\d{3}|-0(?![.\d])/;
/** The same in all places; of a number with many digits the whole. */
const RISKY_NUMBERS = /[\d.eE+-]{16,}|\d[eE]\+?\d{3}|-0(?![.\d])/g;
const MIN_WHOLE_LENGTH = 16;

/** Deeper values are not looked through but judged by their text. */
const MAX_DEPTH_LOOKED_THROUGH = 100;

/**
 * Parses JSON text within `JSON_LIMITS`. Numbers that would change (`12345678901234567890`, `1e999`, `-0`) become
 * raw JSON values which `JSON.stringify` writes back byte for byte; everything else is plain.
 * @param budget what this and other texts may have together; the text alone counts without it
 * @throws SyntaxError when the text is not JSON; JsonLimitError, which is one, when it goes over a limit.
 */
export function parseJson(text: string, budget?: JsonBudget): JsonValue {
  // What is as short as this can go over no limit.
  const isShort = budget === undefined && text.length <= JSON_LIMITS.maxDepth;
  if (text.length >= LARGE_WORK) relieveMemory();
  if (!isShort) return parseSurveyed(text, surveyText(text, budget));
  const mayHoldEscapedKey = text.includes('\\') && text.includes('{');
  return parseSurveyed(text, { mayHoldRiskyNumber: RISKY_NUMBER.test(text), mayHoldEscapedKey });
}

/** As `parseJson`; undefined for a text that it refuses. */
export function tryParse(text: string, budget?: JsonBudget): JsonValue | undefined {
  try {
    return parseJson(text, budget);
  } catch {
    return undefined;
  }
}

/** The object that a text is; an empty one for a text that is none. */
export function parseObject(text: string): JsonObject {
  const value = tryParse(text);
  return isJsonObject(value) ? value : {};
}

/** The string that a piece of JSON text is, when it is one and nothing else. */
export function tryParseString(literal: string): string | undefined {
  if (literal[0] !== '"') return undefined;
  // Likely more than one string; what is wrong with it is said by whoever parses the whole.
  if (literal.indexOf('"', 1) < literal.length - 1 && !literal.includes('\\')) return undefined;
  try {
    // No number and no key, of which `parseJson` takes care.
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

/** What was looked for in a text before it is parsed; false where it was not found. */
export interface JsonHints {
  /** A number that would change. */
  readonly mayHoldRiskyNumber: boolean;
  /** A key that is written with an escape. */
  readonly mayHoldEscapedKey: boolean;
}

/** As `parseJson`, for a text that was looked over before. */
export function parseSurveyed(
  text: string,
  { mayHoldRiskyNumber, mayHoldEscapedKey }: JsonHints,
): JsonValue {
  const plain = JSON.parse(text) as JsonValue;
  if (mayHoldEscapedKey) return new ValidJsonReader(text).read();
  // Numbers are few and texts are long, so the values are looked at before their source.
  if (!mayHoldRiskyNumber || holdsOnlyIntegers(plain, 0) || holdsExactNumbers(text)) return plain;
  return new ValidJsonReader(text).read();
}

/**
 * Reads text that is known to be JSON one value after the other. V8 may read a key that is written with an escape as
 * another one of a text before (nodejs/node#63785): what one request sends would change the keys of another. Numbers
 * with their source cost a third of what a reviver takes for them.
 */
class ValidJsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): JsonValue {
    switch (this.#next()) {
      case '{':
        return this.#readObject();
      case '[':
        return this.#readItems();
      case '"':
        return this.#readString();
      default:
        return this.#readWord();
    }
  }

  #readObject(): JsonObject {
    const members: [string, JsonValue][] = [];
    for (this.#at += 1; this.#next() !== '}'; this.#skip(',')) {
      this.#next();
      const key = this.#readString();
      this.#skip(':');
      members.push([key, this.read()]);
    }
    this.#at += 1;
    // A member `__proto__` is one like any other.
    return Object.fromEntries(members);
  }

  #readItems(): JsonValue[] {
    const items: JsonValue[] = [];
    for (this.#at += 1; this.#next() !== ']'; this.#skip(',')) items.push(this.read());
    this.#at += 1;
    return items;
  }

  #readString(): string {
    const text = this.#text;
    const start = this.#at;
    let end = start;
    let backslashes: number;
    do {
      end = text.indexOf('"', end + 1);
      backslashes = 0;
      while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    } while (backslashes % 2 === 1);
    this.#at = end + 1;
    return JSON.parse(text.slice(start, end + 1)) as string;
  }

  /** A number, `true`, `false` or `null`. */
  #readWord(): JsonValue {
    WORD.lastIndex = this.#at;
    const [word = ''] = WORD.exec(this.#text) ?? [];
    this.#at += word.length;
    if (word === 'null') return null;
    if (word === 'true' || word === 'false') return word === 'true';
    const value = Number(word);
    return isExact(value, word) ? value : (sourceAware.rawJSON(word) as unknown as JsonValue);
  }

  /** The first character of what comes, behind white space. */
  #next(): string | undefined {
    // What JSON takes for white space are the only characters that come before all others.
    while (this.#text.charCodeAt(this.#at) <= BLANK) this.#at += 1;
    return this.#text[this.#at];
  }

  #skip(mark: string): void {
    if (this.#next() === mark) this.#at += 1;
  }
}

const WORD = /[\w.+-]+/y;
const BLANK = 0x20;

/** The number a JSON value stands for, also when it is kept as source text; undefined for anything else. */
export function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return sourceAware.isRawJSON(value) ? Number(value.rawJSON) : undefined;
}

/** A text as it is, everything else as JSON writes it: `String` fails at a number that is kept as source text. */
export function writtenValue(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

export function isRawNumber(value: unknown): boolean {
  return sourceAware.isRawJSON(value);
}

/** True for plain JSON objects; arrays, null and raw numbers are not. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !sourceAware.isRawJSON(value)
  );
}

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  if (Number.isSafeInteger(value)) return true;
  const written = String(value);
  if (written === source || !/\d{16}/.test(source.replace('.', ''))) return true;
  // As others write the same number: `-1.1920928955078125e-07`.
  return digitsOf(written) === digitsOf(source);
}

/** Of a number, without the zeros before and behind that its exponent stands for as well. */
function digitsOf(number: string): string {
  const [mantissa = ''] = number.split(/[eE]/, 1);
  const digits = mantissa.replace(/^[-0.]+|[.]/g, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** False where a number might change, or something in a text looks like one that might: most doubles come as they are. */
function holdsExactNumbers(text: string): boolean {
  RISKY_NUMBERS.lastIndex = 0;
  for (let found = RISKY_NUMBERS.exec(text); found !== null; found = RISKY_NUMBERS.exec(text)) {
    const [source] = found;
    if (source.length < MIN_WHOLE_LENGTH) return false;
    if (RISKY_NUMBER.test(source) && !isExact(Number(source), source)) return false;
  }
  return true;
}

function holdsOnlyIntegers(value: JsonValue, depth: number): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === MAX_DEPTH_LOOKED_THROUGH) return false;
  if (Array.isArray(value)) return value.every((item) => holdsOnlyIntegers(item, depth + 1));
  for (const key in value) {
    const item = value[key];
    if (item !== undefined && !holdsOnlyIntegers(item, depth + 1)) return false;
  }
  return true;
}

/** Of memory, in bytes and roughly: an object, or an item of a list, beside its texts. */
const VALUE_BYTES = 32;

/**
 * What a value takes of memory, roughly; with no bytes for a value beside its texts, a length that its JSON text does not
 * fall below.
 */
export function sizeOf(value: unknown, valueBytes = VALUE_BYTES): number {
  let bytes = 0;
  const left: unknown[] = [value];
  while (left.length > 0) {
    const one = left.pop();
    bytes += typeof one === 'string' ? one.length : valueBytes;
    if (typeof one !== 'object' || one === null || isRawNumber(one)) continue;
    for (const item of Object.values(one)) left.push(item);
  }
  return bytes;
}

/** A wire type whose fields may also be given as undefined. */
export type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The fields that are there; undefined when none is. */
export function definedFields(
  fields: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject | undefined {
  let defined: JsonObject | undefined;
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    defined ??= {};
    defined[name] = value;
  }
  return defined;
}

// Looks over JSON before it is parsed, the bytes of a body as they arrive: bombs, and numbers a double cannot hold; and
// finds where a text stops to be JSON.

/** The bytes of a string, without its quotes. */
export interface TextPlace {
  readonly start: number;
  readonly end: number;
}

/** The bytes of a value that other bodies may hold alike, and its structural tokens. */
export interface SharablePlace extends TextPlace {
  readonly tokens: number;
}

/** Nesting, structural tokens (brackets, commas, colons), shapes as `ObjectShapes` counts them, bytes of one key. */
interface JsonLimits {
  readonly maxDepth: number;
  readonly maxTokens: number;
  readonly maxShapes: number;
  readonly maxKeyBytes: number;
}

export const JSON_LIMITS: JsonLimits = {
  maxDepth: 200,
  maxTokens: 2_000_000,
  maxShapes: 100_000,
  maxKeyBytes: 1024,
};

/** Most bodies have fewer keys, which cost little whatever they are. */
const FREE_KEYS = 16_384;
const HASH_BITS = 20;
/** FNV-1a, 32 bits (draft-eastlake-fnv), with a random start for each process: nobody can choose keys that collide. */
const FNV_PRIME = 0x01000193;
const HASH_START = randomInt(2 ** 32);

/**
 * Counts the different shapes of the objects of a text: the keys of an object so far, in their order. V8 makes a hidden
 * class for each new shape, in up to four microseconds: keys that are all different, or a few in many orders, hold the
 * parser up for seconds. Objects of a known shape cost little: hundreds of thousands of turns do not count. Shapes whose
 * hashes collide count once.
 */
class ObjectShapes {
  /** Different shapes so far, after the free keys. */
  count = 0;
  readonly #known = new Uint32Array(2 ** HASH_BITS / 32);

  add(hash: number): void {
    const place = hash >>> (32 - HASH_BITS);
    const bit = 1 << (place & 31);
    const word = this.#known[place >>> 5] ?? 0;
    if ((word & bit) !== 0) return;
    this.#known[place >>> 5] = word | bit;
    this.count += 1;
  }
}

export type JsonLimit = 'depth' | 'tokens' | 'keys' | 'key';

interface KeyCounts {
  /** All keys so far. */
  keys: number;
  /** Made once keys are no longer free. */
  shapes: ObjectShapes | undefined;
}

/** What the JSON texts within one request may have together: many small ones are as dear as a large one. */
export interface JsonBudget extends KeyCounts {
  tokens: number;
}

/** Of a request, to be copied for each. */
export const JSON_BUDGET: Readonly<JsonBudget> = {
  tokens: JSON_LIMITS.maxTokens,
  keys: 0,
  shapes: undefined,
};

/** JSON that goes over a limit; for whoever takes no JSON just as well, it is none. */
export class JsonLimitError extends SyntaxError {
  readonly excess: JsonLimit;

  constructor(excess: JsonLimit) {
    super(`The JSON ${EXCESS_WORDS[excess]}.`);
    this.name = 'JsonLimitError';
    this.excess = excess;
  }
}

/** What is to be said of the text that goes over each limit. */
export const EXCESS_WORDS: Readonly<Record<JsonLimit, string>> = {
  depth: `is nested deeper than ${JSON_LIMITS.maxDepth} levels`,
  tokens: `has more than ${JSON_LIMITS.maxTokens} JSON tokens`,
  keys: `has more than ${JSON_LIMITS.maxShapes} different keys, or orders of keys, in its objects`,
  key: `has an object key longer than ${JSON_LIMITS.maxKeyBytes} bytes`,
};

/** Of a text that is looked over at a time: its bytes are no second copy of the whole. */
const PIECE_LENGTH = 65_536;

/** Looks a whole text over, at the cost of its budget. @throws JsonLimitError */
function surveyText(text: string, budget?: JsonBudget): JsonLimitScanner {
  const limits = budget === undefined ? JSON_LIMITS : { ...JSON_LIMITS, maxTokens: budget.tokens };
  const survey = new JsonLimitScanner(limits, budget);
  for (let start = 0; start < text.length; start += PIECE_LENGTH) {
    const excess = survey.read(Buffer.from(text.slice(start, start + PIECE_LENGTH)));
    if (excess !== undefined) throw new JsonLimitError(excess);
  }
  if (budget !== undefined) budget.tokens -= survey.tokens;
  return survey;
}

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
/** The member of the outermost object that is looked for. */
const TOOLS = 'tools';
/** What each byte is in a number: nothing, a part of it, or its exponent. */
const NUMBER_BYTES = new Uint8Array(256);
const IN_NUMBER = 1;
for (const byte of Buffer.from('0123456789+-.')) NUMBER_BYTES[byte] = IN_NUMBER;
const EXPONENT = 2;
for (const byte of Buffer.from('eE')) NUMBER_BYTES[byte] = EXPONENT;
/** A double holds fifteen digits whatever they are; sign and point only make the check stricter. */
const RISKY_BYTES = 16;
const BYTES_BEFORE_LEAP = 48;
/** A string as long as this is worth being taken out before the rest is parsed. */
const LONG_TEXT_BYTES = 16_384;

/** Looks at a text piece by piece as it arrives. Text that is not JSON gives any answer: the parser refuses it afterwards. */
export class JsonLimitScanner {
  /** False when every number outside strings so far surely fits a double. */
  mayHoldRiskyNumber = false;
  /** False when no key so far is written with an escape. */
  mayHoldEscapedKey = false;
  /** Structural tokens so far. */
  tokens = 0;
  /** The bytes of long strings, without their quotes, counted from the first piece on. */
  readonly longTexts: TextPlace[] = [];
  readonly #limits: JsonLimits;
  readonly #counts: KeyCounts;
  /** The hash of the shape so far of the object at each level; kept once keys are no longer free. */
  readonly #shapeAt: number[] = [];
  /** Bytes of the pieces so far. */
  #bytes = 0;
  #depth = 0;
  /** Of the string that is read, or was read last. */
  #stringBytes = 0;
  /** False when it has no escape. */
  #mayHoldEscape = false;
  /** What each level was opened with; the outermost with nothing. */
  readonly #levels: number[] = [0];
  /** A string that comes now is a key. */
  #isAtKey = false;
  /** What the last piece ended in. */
  #cut: 'string' | 'number' | undefined;
  /** The first byte of the next piece belongs to an escape. */
  #isEscaped = false;
  #numberBytes = 0;
  #isMinus = false;
  /** The value that comes now is that of the member `tools`. */
  #isAtTools = false;
  #toolsStart = -1;
  #tokensBeforeTools = 0;
  /** Where the list or object `tools` of the outermost object stands; undefined where none was found, or several. */
  toolsPlace: SharablePlace | undefined;
  #toolLists = 0;

  constructor(limits: JsonLimits, counts: KeyCounts = { keys: 0, shapes: undefined }) {
    this.#limits = limits;
    this.#counts = counts;
  }

  /** The first limit that the text goes over with this piece; undefined while it keeps all of them. */
  read(bytes: Buffer): JsonLimit | undefined {
    const { maxDepth, maxTokens, maxShapes, maxKeyBytes } = this.#limits;
    const levels = this.#levels;
    let depth = this.#depth;
    let tokens = this.tokens;
    let isAtKey = this.#isAtKey;
    let index = this.#cut === undefined ? 0 : this.#readCut(bytes);
    if (index < 0) return 'key';
    let start = 0;
    for (; index < bytes.length; index++) {
      const byte = bytes[index] ?? 0;
      switch (byte) {
        case QUOTE:
          this.#stringBytes = -index - 1;
          this.#mayHoldEscape = false;
          start = index + 1;
          index = this.#readString(bytes, start);
          if (isAtKey && this.#endKey(bytes, start, index, depth) > maxKeyBytes) return 'key';
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          depth++;
          tokens++;
          if (depth > maxDepth) return 'depth';
          levels[depth] = byte;
          isAtKey = byte === OPEN_BRACE;
          this.#noteBracket(index, depth, tokens);
          break;
        case 0x7d: // }
        case 0x5d: // ]
          depth--;
          tokens++;
          this.#noteBracket(index, depth, tokens);
          break;
        case 0x3a: // :
          tokens++;
          isAtKey = false;
          break;
        case 0x2c: // ,
          tokens++;
          isAtKey = levels[depth] === OPEN_BRACE;
          break;
        default:
          if (NUMBER_BYTES[byte] !== IN_NUMBER) break;
          this.#numberBytes = 0;
          this.#isMinus = byte === MINUS;
          index = this.#readNumber(bytes, index) - 1;
      }
      if (tokens > maxTokens) return 'tokens';
    }
    this.#depth = depth;
    this.tokens = tokens;
    this.#isAtKey = isAtKey;
    this.#bytes += bytes.length;
    const { shapes } = this.#counts;
    return shapes !== undefined && shapes.count > maxShapes ? 'keys' : undefined;
  }

  /** Adds a key, or what this piece has of it, to the shape of the object at a level. */
  #hashKey(bytes: Buffer, start: number, end: number, depth: number): void {
    const isEnd = end < bytes.length;
    let hash = this.#shapeAt[depth] ?? HASH_START;
    // The closing quote too: it keeps keys apart.
    const last = isEnd ? end + 1 : end;
    for (let at = start; at < last; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), FNV_PRIME);
    this.#shapeAt[depth] = hash;
    if (!isEnd) return;
    this.#counts.shapes ??= new ObjectShapes();
    this.#counts.shapes.add(hash);
  }

  /** Looks at the key, or what this piece has of it, that ends at `end`. @returns its bytes */
  #endKey(bytes: Buffer, start: number, end: number, depth: number): number {
    this.mayHoldEscapedKey ||= this.#mayHoldEscape;
    if (end < bytes.length) this.#counts.keys += 1;
    if (this.#counts.keys >= FREE_KEYS) this.#hashKey(bytes, start, end, depth);
    if (depth === 1) {
      this.#isAtTools =
        this.#stringBytes === TOOLS.length &&
        end < bytes.length &&
        bytes.toString('latin1', end - TOOLS.length, end) === TOOLS;
    }
    return this.#stringBytes;
  }

  /** Resets the shape of the next level, and notes where the value of `tools` begins and ends. */
  #noteBracket(index: number, depth: number, tokens: number): void {
    if (this.#counts.keys >= FREE_KEYS) this.#shapeAt[depth + 1] = HASH_START;
    if (depth === 2 && this.#isAtTools) {
      this.#isAtTools = false;
      this.#toolsStart = this.#bytes + index;
      this.#tokensBeforeTools = tokens;
    } else if (depth === 1 && this.#toolsStart >= 0) {
      const place = { start: this.#toolsStart, end: this.#bytes + index + 1 };
      this.toolsPlace =
        this.#toolLists === 0 ? { ...place, tokens: tokens - this.#tokensBeforeTools } : undefined;
      this.#toolLists += 1;
      this.#toolsStart = -1;
    }
  }

  /** Goes on with what the last piece ended in. @returns where the next begins; -1 for a key that is too long */
  #readCut(bytes: Buffer): number {
    const cut = this.#cut;
    this.#cut = undefined;
    if (cut === 'number') return this.#readNumber(bytes, 0);
    const end = this.#readString(bytes, this.#isEscaped ? 1 : 0);
    const isTooLong =
      this.#isAtKey && this.#endKey(bytes, 0, end, this.#depth) > this.#limits.maxKeyBytes;
    return isTooLong ? -1 : end + 1;
  }

  /**
   * Looks byte by byte first, then leaps to the next quote: neither long strings nor dense escapes are dear.
   * @returns the place of the closing quote, or the end of the piece
   */
  #readString(bytes: Buffer, start: number): number {
    const { length } = bytes;
    let end = start;
    for (let stop = start + BYTES_BEFORE_LEAP; end < length && bytes[end] !== QUOTE; ) {
      if (end < stop && bytes[end] !== BACKSLASH) {
        end += 1;
        continue;
      }
      this.#mayHoldEscape = true;
      if (end < stop) {
        end += 2;
        continue;
      }
      const quote = bytes.indexOf(QUOTE, end);
      if (quote === -1) end = length;
      else if (isEscaped(bytes, quote, end)) end = quote + 1;
      else end = quote;
      stop = end + BYTES_BEFORE_LEAP;
    }
    if (end > length) end = length;
    this.#stringBytes += end;
    if (end === length) {
      this.#cut = 'string';
      this.#isEscaped = isEscaped(bytes, end, start);
    } else if (this.#stringBytes >= LONG_TEXT_BYTES) {
      this.longTexts.push({ start: this.#bytes + end - this.#stringBytes, end: this.#bytes + end });
    }
    return end;
  }

  /** @returns the place of the first byte behind the number, or the end of the piece */
  #readNumber(bytes: Buffer, start: number): number {
    const isNegativeZero = this.#isMinus && bytes[start + 1 - this.#numberBytes] === ZERO;
    if (this.#numberBytes < 2 && isNegativeZero) this.mayHoldRiskyNumber = true;
    let end = start;
    for (let kind = NUMBER_BYTES[bytes[end] ?? 0]; kind; kind = NUMBER_BYTES[bytes[end] ?? 0]) {
      if (kind === EXPONENT) this.mayHoldRiskyNumber = true;
      end++;
    }
    this.#numberBytes += end - start;
    if (this.#numberBytes >= RISKY_BYTES) this.mayHoldRiskyNumber = true;
    if (end === bytes.length) this.#cut = 'number';
    return end;
  }
}

/** True when an odd number of backslashes stands between `from`, itself not escaped, and `at`. */
export function isEscaped(bytes: Buffer, at: number, from: number): boolean {
  let first = at;
  while (first > from && bytes[first - 1] === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

const LITERALS = ['true', 'false', 'null'] as const;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

type Expectation = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

interface ErrorSearch {
  expected: Expectation;
  /** What closes each open object and list. */
  readonly open: ('}' | ']')[];
}

/** Index (in UTF-16 units) of the first character that no JSON text can have there; the length when the text ends too early. */
export function findJsonError(text: string): number {
  const search: ErrorSearch = { expected: 'value', open: [] };
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const end = endOfToken(text, at, search);
    if (end === undefined) return at;
    at = skipSpace(text, end);
    if (search.expected === 'comma-or-end' && search.open.length === 0) return at;
  }
  return text.length;
}

/** Index behind the token at `at`; undefined when none may stand there. */
function endOfToken(text: string, at: number, search: ErrorSearch): number | undefined {
  const { expected, open } = search;
  const character = text.charAt(at);
  if (expected.endsWith('-or-end') && character === open.at(-1)) {
    open.pop();
    search.expected = 'comma-or-end';
    return at + 1;
  }
  switch (expected) {
    case 'comma-or-end':
      search.expected = open.at(-1) === '}' ? 'key' : 'value';
      return character === ',' ? at + 1 : undefined;
    case 'colon':
      search.expected = 'value';
      return character === ':' ? at + 1 : undefined;
    case 'key':
    case 'key-or-end':
      search.expected = 'colon';
      return readString(text, at);
    default:
      if (character === '{' || character === '[') {
        open.push(character === '{' ? '}' : ']');
        search.expected = character === '{' ? 'key-or-end' : 'value-or-end';
        return at + 1;
      }
      search.expected = 'comma-or-end';
      return character === '"' ? readString(text, at) : readLiteral(text, at);
  }
}

function readLiteral(text: string, at: number): number | undefined {
  const literal = LITERALS.find((word) => text.startsWith(word, at));
  if (literal !== undefined) return at + literal.length;
  NUMBER.lastIndex = at;
  return NUMBER.test(text) ? NUMBER.lastIndex : undefined;
}

/** Index behind the string that begins at `index`; undefined when there is no well-formed one. */
function readString(text: string, index: number): number | undefined {
  if (text.charAt(index) !== '"') return undefined;
  for (let at = index + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return undefined;
    if (code !== 0x5c) continue;
    at++;
    if (text.charAt(at) === 'u') {
      if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) return undefined;
      at += 4;
    } else if (!'"\\/bfnrt'.includes(text.charAt(at))) return undefined;
  }
  return undefined;
}

function skipSpace(text: string, index: number): number {
  let at = index;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
  return at;
}
