// JSON that loses nothing, and costs no more than it may: numbers a double cannot hold keep their source text.

import { JSON_LIMITS, type JsonBudget, surveyText } from './json-limits.ts';

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

/** Deeper values are not looked through but judged by their text. */
const MAX_DEPTH_LOOKED_THROUGH = 100;

/**
 * Parses JSON text within `JSON_LIMITS`. Numbers that would change (`12345678901234567890`, `1e999`, `-0`) become
 * raw JSON values which `JSON.stringify` writes back byte for byte; everything else is plain.
 * @param budget what this and other texts may have together; the text alone counts without it
 * @throws SyntaxError when the text is not JSON; JsonExcessError, which is one, when it goes over a limit.
 */
export function parseJson(text: string, budget?: JsonBudget): JsonValue {
  // What is as short as this can go over no limit.
  const isShort = budget === undefined && text.length <= JSON_LIMITS.maxDepth;
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
  if (!mayHoldRiskyNumber || holdsOnlyIntegers(plain, 0) || !RISKY_NUMBER.test(text)) return plain;
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
  return String(value) === source || !/\d{16}/.test(source.replace('.', ''));
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
