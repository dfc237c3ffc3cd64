// Knows the events of one stream again that differ from the one before in one text alone: they are not parsed.

import { type JsonObject, tryParse } from '../../lib/json.ts';
import type { EventMemory, Frame } from '../../stream/sse.ts';

/** What an event says that has one text, and nothing else that another event like it could say otherwise. */
export interface TextEvent {
  /** The field that holds it; another field of that name makes the place uncertain. */
  readonly field: string;
  readonly text: string;
  /** The event with another text. */
  write(text: string): JsonObject;
}

/** What is longer than most events is not searched. */
const MAX_PATTERN_LENGTH = 16_384;

interface Pattern {
  /** The event up to its text, and behind it. */
  readonly front: string;
  readonly tail: string;
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
    const { front, tail } = pattern;
    const end = text.length - tail.length;
    // Cut and compared: `startsWith` and `endsWith` go character by character.
    if (end < front.length + 2 || text.slice(0, front.length) !== front) return undefined;
    if (text.slice(end) !== tail) return undefined;
    const said = readString(text.slice(front.length, end));
    return said === undefined ? undefined : new RepeatedText(text, said, pattern);
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

  constructor(text: string, said: string, pattern: Pattern) {
    this.text = text;
    this.said = said;
    this.#pattern = pattern;
  }

  get repeats(): JsonObject {
    return this.#pattern.event;
  }

  get value(): JsonObject {
    return this.#pattern.model.write(this.said);
  }
}

/** The string a literal stands for, when it is one and nothing else. */
function readString(literal: string): string | undefined {
  if (literal.indexOf('"', 1) < literal.length - 1 && !literal.includes('\\')) return undefined;
  const value = tryParse(literal);
  return typeof value === 'string' ? value : undefined;
}

function findPattern(text: string, event: JsonObject, model: TextEvent): Pattern | undefined {
  const name = `"${model.field}":`;
  const start = text.indexOf(name);
  if (start < 0 || text.indexOf(name, start + 1) >= 0) return undefined;
  if (text.includes('\n') || text.includes('\r')) return undefined;
  const quote = text.indexOf('"', start + name.length);
  const literal = JSON.stringify(model.text);
  // Written in another way, or not where it was looked for: the next event is parsed.
  if (quote < 0 || text.slice(quote, quote + literal.length) !== literal) return undefined;
  return {
    front: text.slice(0, quote),
    tail: text.slice(quote + literal.length),
    event,
    model,
  };
}
