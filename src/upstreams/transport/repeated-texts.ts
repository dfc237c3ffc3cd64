// Knows the events of one stream again that differ from the one before in one text alone: they are not parsed.

import { type JsonObject, tryParseString } from '../../lib/json.ts';
import type { EventMemory, Frame } from '../../stream/sse.ts';

/** What an event says that has one text, and nothing else that another event like it could say otherwise. */
export interface TextEvent {
  /** The field that holds it; another field of that name makes the place uncertain. */
  readonly field: string;
  readonly text: string;
  /** A field of the event that holds a random text, so that the lengths of events tell nothing. */
  readonly padding?: string | undefined;
  /** The event with another text. */
  write(text: string): JsonObject;
}

/** What is longer than most events is not searched. */
const MAX_PATTERN_LENGTH = 16_384;

interface Pattern {
  /** The event up to its text, and behind it; where it is padded, behind its padding. */
  readonly front: string;
  readonly tail: string;
  /** What stands between text and padding. */
  readonly link: string | undefined;
  readonly event: JsonObject;
  readonly model: TextEvent;
}

/** The values of repeating frames share what the events repeat and must not be changed. */
export class RepeatedTexts implements EventMemory {
  readonly #find: (event: JsonObject) => TextEvent | undefined;
  #pattern: Pattern | undefined;

  constructor(find: (event: JsonObject) => TextEvent | undefined) {
    this.#find = find;
  }

  repeat(text: string): Frame | undefined {
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
    const padding = tryParseString(text.slice(end + link.length, tailStart));
    return padding === undefined ? undefined : new RepeatedText(text, said, pattern, padding);
  }

  learn(text: string, event: JsonObject): void {
    const model = text.length > MAX_PATTERN_LENGTH ? undefined : this.#find(event);
    this.#pattern = model === undefined ? undefined : findPattern(text, event, model);
  }
}

/** Its value is put together only when somebody asks for it. */
class RepeatedText implements Frame {
  readonly text: string;
  readonly said: string;
  readonly #pattern: Pattern;
  readonly #padding: string | undefined;

  constructor(text: string, said: string, pattern: Pattern, padding?: string) {
    this.text = text;
    this.said = said;
    this.#pattern = pattern;
    this.#padding = padding;
  }

  get repeats(): JsonObject {
    return this.#pattern.event;
  }

  get value(): JsonObject {
    const { write, padding } = this.#pattern.model;
    const written = write(this.said);
    if (padding === undefined || this.#padding === undefined) return written;
    return { ...written, [padding]: this.#padding };
  }
}

function findPattern(text: string, event: JsonObject, model: TextEvent): Pattern | undefined {
  if (text.includes('\n') || text.includes('\r')) return undefined;
  const said = findString(text, model.field, model.text);
  if (said === undefined) return undefined;
  const front = text.slice(0, said.start);
  const padding = model.padding === undefined ? undefined : event[model.padding];
  if (model.padding === undefined || typeof padding !== 'string') {
    return { front, tail: text.slice(said.end), link: undefined, event, model };
  }
  const padded = findString(text, model.padding, padding);
  if (padded === undefined || padded.start < said.end) return undefined;
  const link = text.slice(said.end, padded.start);
  return { front, tail: text.slice(padded.end), link, event, model };
}

/** Where the string of a field stands. Undefined for one written in another way, or not where it was looked for. */
function findString(
  text: string,
  field: string,
  value: string,
): { readonly start: number; readonly end: number } | undefined {
  const name = `"${field}":`;
  const place = text.indexOf(name);
  if (place < 0 || text.indexOf(name, place + 1) >= 0) return undefined;
  const start = text.indexOf('"', place + name.length);
  const end = start + JSON.stringify(value).length;
  const isThere = start >= 0 && text.slice(start, end) === JSON.stringify(value);
  return isThere ? { start, end } : undefined;
}
