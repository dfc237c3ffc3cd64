// Numbers and frames the events of one response stream.

import { eventFrame, eventStart, FRAME_END } from '../../../lib/event-stream.ts';
import { joinFlat } from '../../../lib/flat-text.ts';
import type { JsonObject, JsonValue } from '../../../lib/json.ts';

/** Every event carries its name twice and a number without gaps (`openai` lib/responses). */
export interface FrameNumbering {
  /** '' for a frame that holds a long text, and for all behind it until `more` has given them. */
  write(type: string, fields: JsonObject): string;
  /** A writer for many events that differ in one text only. */
  deltas(type: string, fields: JsonObject): (delta: string) => string;
  /** The next piece of what was not given at once; '' when nothing is left. */
  more(): string;
}

/** In UTF-16 units: the last frames of an answer repeat its text, and are made only as they are sent. */
const LONG = 65_536;
const PIECE = 16_384;

export function createFrameNumbering(): FrameNumbering {
  let next = 0;
  const waiting: Iterator<string>[] = [];
  const inOrder = (frame: string): string => {
    if (waiting.length === 0) return frame;
    waiting.push([frame].values());
    return '';
  };
  return {
    write(type, fields) {
      const data = { type, sequence_number: next, ...fields };
      next += 1;
      if (!holdsLong(data)) return inOrder(eventFrame(type, JSON.stringify(data)));
      waiting.push(longFrame(type, data));
      return '';
    },
    deltas(type, fields) {
      const rest = JSON.stringify({ type, ...fields }).slice(1, -1);
      const head = joinFlat([eventStart(type), `{${rest},"sequence_number":`]);
      return (delta) => {
        const frame = `${head}${next},"delta":${JSON.stringify(delta)}}${FRAME_END}`;
        next += 1;
        return inOrder(frame);
      };
    },
    more() {
      let text = '';
      while (text.length < PIECE && waiting[0] !== undefined) {
        const { done, value } = waiting[0].next();
        if (done === true) waiting.shift();
        else text += value;
      }
      return text;
    },
  };
}

function* longFrame(type: string, data: JsonObject): Generator<string, undefined> {
  yield eventStart(type);
  yield* jsonInPieces(data);
  yield FRAME_END;
}

function holdsLong(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.length > LONG;
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) ? value : Object.values(value)).some(holdsLong);
}

/** What `JSON.stringify` gives, long texts in pieces. */
function* jsonInPieces(value: JsonValue): Generator<string, void> {
  if (!holdsLong(value)) yield JSON.stringify(value);
  else if (typeof value === 'string') {
    yield '"';
    for (let at = 0; at < value.length; ) {
      const end = endOfPiece(value, at);
      yield JSON.stringify(value.slice(at, end)).slice(1, -1);
      at = end;
    }
    yield '"';
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield index === 0 ? '[' : ',';
      yield* jsonInPieces(item);
    }
    yield ']';
  } else if (value !== null && typeof value === 'object') {
    let before = '{';
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* jsonInPieces(item);
      before = ',';
    }
    yield '}';
  }
}

/** Not between the halves of a character, which JSON writes differently when they stand alone. */
function endOfPiece(text: string, start: number): number {
  const end = start + PIECE;
  return ((text.codePointAt(end - 1) ?? 0) > 0xffff ? 1 : 0) + end;
}
