// Knows the events of one stream again that differ from the one before in one text, and in one field that always changes:
// they are not parsed.

import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  tryParse,
  tryParseString,
} from '../../lib/json.ts';
import type { EventMemory, Frame } from '../../stream/sse.ts';

/** What an event says that has one text, and nothing else that another event like it could say otherwise. */
export interface TextEvent {
  /** The field that holds it; another field of that name makes the place uncertain. */
  readonly field: string;
  readonly text: string;
  /** A field behind it that changes as well: running counts, or a random text, so that the lengths of events tell nothing. */
  readonly changing?: string | undefined;
  /** The event with another text. */
  write(text: string): JsonObject;
}

/** What is longer than most events is not searched. */
const MAX_PATTERN_LENGTH = 16_384;
/** Events that do not begin alike do not repeat each other; what all share is longer. */
const SAME_START = 24;

interface Pattern {
  /** The event up to its text, and behind it; where a field changes, behind that. */
  readonly front: string;
  readonly tail: string;
  /** What stands between the text and what changes. */
  readonly link: string | undefined;
  readonly event: JsonObject;
  readonly model: TextEvent;
}

/** The value of the field that changes, and how it was written. */
interface Changing {
  readonly text: string;
  readonly value: JsonValue | undefined;
}

/** The values of repeating frames share what the events repeat and must not be changed. */
export class RepeatedTexts implements EventMemory {
  readonly #find: (event: JsonObject) => TextEvent | undefined;
  /** What was learned last, until an event begins like it: most answers are over before that. */
  #learned: { readonly text: string; readonly event: JsonObject } | undefined;
  /** Whether an event before it had no pattern: the few events of a short answer are over before a search pays. */
  #hasLearned = false;
  #pattern: Pattern | undefined;
  #changing: Changing | undefined;

  constructor(find: (event: JsonObject) => TextEvent | undefined) {
    this.#find = find;
  }

  repeat(text: string): Frame | undefined {
    const learned = this.#learned;
    if (learned?.text.slice(0, SAME_START) === text.slice(0, SAME_START)) {
      this.#learned = undefined;
      const model = this.#find(learned.event);
      this.#pattern = model && findPattern(learned.text, learned.event, model);
    }
    const pattern = this.#pattern;
    if (pattern === undefined) return undefined;
    const { front, tail, link } = pattern;
    const tailStart = text.length - tail.length;
    // Cut and compared: `startsWith` and `endsWith` go character by character.
    if (text.slice(0, front.length) !== front || text.slice(tailStart) !== tail) return undefined;
    const end = link === undefined ? tailStart : text.indexOf(link, front.length);
    if (end < front.length) return undefined;
    const said = tryParseString(text.slice(front.length, end));
    if (said === undefined) return undefined;
    if (link === undefined) return new RepeatedText(text, said, pattern);
    const changing = this.#readChanging(text.slice(end + link.length, tailStart));
    return changing === undefined ? undefined : new RepeatedText(text, said, pattern, changing);
  }

  learn(text: string, event: JsonObject): void {
    this.#pattern = undefined;
    const isSearched = this.#hasLearned && text.length <= MAX_PATTERN_LENGTH;
    this.#learned = isSearched ? { text, event } : undefined;
    this.#hasLearned = true;
  }

  /** Counts are often those of the event before. */
  #readChanging(text: string): JsonValue | undefined {
    if (text !== this.#changing?.text) this.#changing = { text, value: readChanging(text) };
    return this.#changing.value;
  }
}

/** Its value is put together only when somebody asks for it. */
class RepeatedText implements Frame {
  readonly text: string;
  readonly said: string;
  readonly #pattern: Pattern;
  readonly #changing: JsonValue | undefined;

  constructor(text: string, said: string, pattern: Pattern, changing?: JsonValue) {
    this.text = text;
    this.said = said;
    this.#pattern = pattern;
    this.#changing = changing;
  }

  get repeats(): JsonObject {
    return this.#pattern.event;
  }

  get value(): JsonObject {
    const { write, changing } = this.#pattern.model;
    const written = write(this.said);
    if (changing === undefined || this.#changing === undefined) return written;
    return { ...written, [changing]: this.#changing };
  }
}

/** An event of several lines is no frame that could be passed on as it came. */
const BREAK = /[\n\r]/;

function findPattern(text: string, event: JsonObject, model: TextEvent): Pattern | undefined {
  if (BREAK.test(text)) return undefined;
  const said = findValue(text, model.field, model.text);
  if (said === undefined) return undefined;
  const front = text.slice(0, said.start);
  const changing = model.changing === undefined ? undefined : event[model.changing];
  if (model.changing === undefined || !(typeof changing === 'string' || isJsonObject(changing))) {
    return { front, tail: text.slice(said.end), link: undefined, event, model };
  }
  const changed = findValue(text, model.changing, changing);
  if (changed === undefined || changed.start < said.end) return undefined;
  const link = text.slice(said.end, changed.start);
  return { front, tail: text.slice(changed.end), link, event, model };
}

/** Where the value of a field stands. Undefined for one written in another way, or not where it was looked for. */
function findValue(
  text: string,
  field: string,
  value: string | JsonObject,
): { readonly start: number; readonly end: number } | undefined {
  const name = `"${field}":`;
  const place = text.indexOf(name);
  if (place < 0 || text.indexOf(name, place + 1) >= 0) return undefined;
  const isText = typeof value === 'string';
  const start = text.indexOf(isText ? '"' : '{', place + name.length);
  if (start < 0) return undefined;
  const end = isText ? start + JSON.stringify(value).length : endOfObject(text, start);
  const written = text.slice(start, end);
  const found = isText ? written : JSON.stringify(readChanging(written));
  return found === JSON.stringify(value) ? { start, end } : undefined;
}

function readChanging(text: string): string | JsonObject | undefined {
  const value = BREAK.test(text) ? undefined : (tryParseString(text) ?? tryParse(text));
  return typeof value === 'string' || isJsonObject(value) ? value : undefined;
}

/** Where braces in strings make this wrong, what is found is no JSON. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  for (let place = start; place < text.length; place += 1) {
    if (text[place] === '{') depth += 1;
    else if (text[place] === '}') depth -= 1;
    if (depth === 0) return place + 1;
  }
  return text.length;
}
