// Knows the deltas of one block again: events that differ from the one before in one string alone are not parsed.

import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import type { EventMemory, Frame } from '../../stream/sse.ts';

/** The string that each kind of delta carries. */
const FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
]);

/** What is longer than most events is not searched. */
const MAX_PATTERN_LENGTH = 16_384;

interface Pattern {
  /** The event up to its string, and behind it. */
  readonly front: string;
  readonly tail: string;
  readonly event: JsonObject;
  readonly field: string;
}

/** The values of repeating frames share what the events repeat and must not be changed. */
export class RepeatedDeltas implements EventMemory {
  #pattern: Pattern | undefined;

  repeat(text: string): Frame | undefined {
    const pattern = this.#pattern;
    if (pattern === undefined) return undefined;
    const { front, tail } = pattern;
    const end = text.length - tail.length;
    // Cut and compared: `startsWith` and `endsWith` go character by character.
    if (end < front.length + 2 || text.slice(0, front.length) !== front) return undefined;
    if (text.slice(end) !== tail) return undefined;
    const said = readString(text.slice(front.length, end));
    return said === undefined ? undefined : new RepeatedDelta(text, said, pattern);
  }

  learn(text: string, value: JsonObject): void {
    this.#pattern = findPattern(text, value);
  }
}

/** Its value is put together only when somebody asks for it. */
class RepeatedDelta implements Frame {
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
    const { event, field } = this.#pattern;
    const delta = isJsonObject(event.delta) ? event.delta : {};
    return { ...event, delta: { ...delta, [field]: this.said } };
  }
}

/** The string a literal stands for, when it is one and nothing else. */
function readString(literal: string): string | undefined {
  if (literal.indexOf('"', 1) < literal.length - 1 && !literal.includes('\\')) return undefined;
  try {
    const value = parseJson(literal);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined for an event of another kind, and where its string stands twice. */
function findPattern(text: string, event: JsonObject): Pattern | undefined {
  const { type, delta } = event;
  if (type !== 'content_block_delta' || !isJsonObject(delta)) return undefined;
  const field = FIELDS.get(delta.type);
  const said = field === undefined ? undefined : delta[field];
  if (field === undefined || typeof said !== 'string' || text.length > MAX_PATTERN_LENGTH) {
    return undefined;
  }
  const name = `"${field}":`;
  const start = text.indexOf(name);
  if (start < 0 || text.includes('\n') || text.includes('\r')) return undefined;
  const quote = text.indexOf('"', start + name.length);
  const literal = JSON.stringify(said);
  // Written in another way, or not where it was looked for: the next event is parsed.
  if (quote < 0 || text.slice(quote, quote + literal.length) !== literal) return undefined;
  return {
    front: text.slice(0, quote),
    tail: text.slice(quote + literal.length),
    event,
    field,
  };
}
