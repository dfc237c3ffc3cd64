// Server-sent events (WHATWG HTML, "Server-sent events"): splits the bytes of an upstream body into JSON frames, wherever
// the chunks were cut, and writes frames of an answer.

import { StringDecoder } from 'node:string_decoder';
import {
  isJsonObject,
  JsonLimitError,
  type JsonObject,
  type JsonValue,
  parseJson,
  tryParse,
} from '../lib/json.ts';

/** One event's JSON. */
export interface Frame {
  /** A single line: as it came, or rewritten when it spanned several. */
  readonly text: string;
  readonly value: JsonObject;
  /** The value of an earlier frame, where this one says the same but for the text of its only part and its counts. */
  readonly repeats?: JsonObject | undefined;
  /** Of a frame that repeats another: its text. */
  readonly said?: string | undefined;
}

/** Knows events again that repeat one before them, of one stream. */
export interface EventMemory {
  /** The event as a frame, when it repeats one; undefined when it has to be parsed. */
  repeat(text: string): Frame | undefined;
  /** Call with every event that was parsed. `value` is the frame's, and never changed. */
  learn(text: string, value: JsonObject): void;
}

type FrameFault =
  /** The body ended inside a frame. */
  | 'truncated'
  /** A frame larger than the cap. */
  | 'too-large'
  /** An event whose payload is neither a JSON object nor an array of them. */
  | 'not-json';

export class FrameError extends Error {
  readonly fault: FrameFault;

  constructor(fault: FrameFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'FrameError';
    this.fault = fault;
  }
}

interface FrameReaderOptions {
  /** Cap on one frame, or on a body that is one JSON document, in UTF-16 units (never more than its bytes). */
  readonly maxFrameBytes: number;
  /** Asked for one event after the other, and for no document. */
  readonly memory?: EventMemory | undefined;
  /** The value of the frame that `[DONE]` gives; none where it is absent. */
  readonly done?: JsonObject | undefined;
}

const LINES_JOINED = 1024;
const [RETURN, LINE_FEED] = [0x0d, 0x0a];
const OPENS_DOCUMENT = /^[ \t]*[{[]/;
const CLOSES_DOCUMENT = /[}\]][ \t]*$/;
/** Of a document behind events, an error, up to which each line is looked at for its end. */
const MAX_ERROR_LENGTH = 16_384;
/** llama.cpp's server ends a stream so, and what builds on it (`server_sent_event(sink, "error", …)`). */
const ERROR_FIELD = 'error: {';
/** What is neither a field nor a comment: a page, words before any colon, or what a program says as it fails. */
const PROSE = /^[ \t]*(?:<|[^\s:]+[ \t]+[^\s:]|error:)/i;

/**
 * Reads Server-Sent Events (WHATWG HTML, "Server-sent events"): any line ending, comments and
 * unknown fields ignored, data lines joined. A body that begins a JSON document instead of a field is
 * one; the objects of an array are a frame each. Empty data give nothing, and so does `[DONE]`, in whatever blanks,
 * where no value is set for it. An object in a field named `error` is the error of a frame. What some upstreams
 * write behind events when they fail is told once its line ends, as the body may stay open: a document is a frame,
 * a line of prose a fault.
 */
export class FrameReader {
  readonly #maxFrameBytes: number;
  readonly #memory: EventMemory | undefined;
  readonly #done: JsonObject | undefined;
  /** Keeps the bytes of a character cut by a chunk's end; made for the first chunk that may end in one. */
  #decoder: StringDecoder | undefined;
  #frames: Frame[] = [];
  /** What the next call throws, however it goes on: it came behind the last frames given out. */
  fault: FrameError | undefined;
  /** A line, or a document, whose end was not seen yet. */
  readonly #kept: string[] = [];
  #keptLength = 0;
  /** The event's payload so far; undefined between events. */
  #payload: string | undefined;
  /** What follows the payload; each line on its own would cost many times what it says. */
  #lines: string[] = [];
  #linesLength = 0;
  #isFirstText = true;
  /** A CR ended the last chunk: an LF now belongs to it. */
  #skipsLineFeed = false;
  #isDocument = false;
  /** True once a field or a comment came: what looks like a document is an error behind them then. */
  #hasFields = false;
  /** The lines of such a document so far. */
  #error = '';

  constructor({ maxFrameBytes, memory, done }: FrameReaderOptions) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#memory = memory;
    this.#done = done;
  }

  /**
   * The frames this chunk completed. A fault is thrown after the frames before it were given out:
   * at once when there are none, else by the next call.
   * @throws FrameError
   */
  push(chunk: Buffer): Frame[] {
    const isWhole = this.#decoder === undefined && (chunk.at(-1) ?? 0) < 0x80;
    return this.#read(isWhole ? chunk.toString() : this.#decode(chunk));
  }

  /** Call when the body ended; the last frame may lack its empty line. @throws FrameError */
  end(): Frame[] {
    return this.#read(this.#decoder?.end() ?? '', true);
  }

  #decode(chunk: Buffer): string {
    this.#decoder ??= new StringDecoder('utf8');
    return this.#decoder.write(chunk);
  }

  #read(decoded: string, isEnd = false): Frame[] {
    if (this.fault !== undefined) throw this.fault;
    try {
      if (decoded !== '') this.#readText(decoded);
      if (isEnd) {
        if (!this.#isDocument) {
          if (this.#keptLength > 0) this.#readLine('', 0, 0);
          this.#endEvent('truncated');
          if (this.#error !== '') this.#endError();
        }
        if (this.#isDocument) this.#addFrames(this.#takeKept().trim(), 'truncated');
      }
    } catch (error) {
      if (!(error instanceof FrameError) || this.#frames.length === 0) throw error;
      this.fault = error;
    }
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }

  #readText(decoded: string): void {
    let text = decoded;
    if (this.#isFirstText && text.startsWith('\ufeff')) text = text.slice(1);
    this.#isFirstText = false;
    if (this.#isDocument) {
      this.#keep(text);
      return;
    }
    if (this.#skipsLineFeed && text.startsWith('\n')) text = text.slice(1);
    this.#skipsLineFeed = decoded.endsWith('\r');
    if (text.includes('\r') && hasLoneReturn(text)) text = text.replace(/\r\n?/g, '\n');
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const hasReturn = end > start && text.charCodeAt(end - 1) === RETURN;
      this.#readLine(text, start, hasReturn ? end - 1 : end);
      if (this.#isDocument) {
        this.#keep(text.slice(end));
        return;
      }
      start = end + 1;
    }
    if (start === text.length) return;
    const rest = text.slice(start);
    // An unfinished document is not searched for line ends over and over: its beginning tells.
    const opens = this.#keptLength === 0 && !this.#hasFields && OPENS_DOCUMENT.test(rest);
    if (opens) this.#beginDocument(rest);
    else this.#keep(rest);
  }

  /** The line between two places of a text, behind what is kept: cutting it out is left to those who need it. */
  #readLine(text: string, start: number, end: number): void {
    if (this.#keptLength > 0) {
      this.#keep(text.slice(start, end));
      const line = this.#takeKept();
      this.#readLine(line, 0, line.length);
    } else if (this.#error !== '') this.#addToError(text.slice(start, end));
    else if (start === end) this.#endEvent('not-json');
    else if (text.startsWith('data:', start)) {
      this.#hasFields = true;
      this.#addData(text.slice(start + (text[start + 5] === ' ' ? 6 : 5), end));
    } else if (text.startsWith('event:', start)) this.#hasFields = true;
    else this.#readOther(text.slice(start, end));
  }

  /** A line without data, which is not empty. */
  #readOther(line: string): void {
    if (OPENS_DOCUMENT.test(line)) {
      this.#endEvent('not-json');
      if (this.#hasFields) this.#addToError(line);
      else this.#beginDocument(line);
      return;
    }
    this.#hasFields = true;
    if (line === 'data') this.#addData('');
    else if (line.startsWith(ERROR_FIELD)) {
      this.#endEvent('not-json');
      this.#addData(`{"error":${line.slice(ERROR_FIELD.length - 1)}}`);
    } else if (PROSE.test(line)) {
      throw new FrameError('not-json', 'The upstream says something that is no event.');
    }
  }

  #addData(value: string): void {
    if (this.#payload === undefined) this.#payload = value;
    else {
      this.#lines.push(value);
      this.#linesLength += value.length + 1;
      if (this.#lines.length === LINES_JOINED) this.#joinLines();
    }
    this.#checkSize();
  }

  #joinLines(): void {
    this.#payload = `${this.#payload ?? ''}\n${this.#lines.join('\n')}`;
    this.#lines = [];
    this.#linesLength = 0;
  }

  /** A line of a document behind events. */
  #addToError(line: string): void {
    if (line.startsWith('data:')) throw new FrameError('not-json', 'An error breaks off.');
    this.#error += `${line}\n`;
    this.#checkSize();
    const mayEnd = this.#error.length <= MAX_ERROR_LENGTH && CLOSES_DOCUMENT.test(line);
    if (mayEnd && tryParse(this.#error) !== undefined) this.#endError();
  }

  #endError(): void {
    const text = this.#error.trim();
    this.#error = '';
    this.#addFrames(text, 'truncated');
  }

  #beginDocument(text: string): void {
    this.#isDocument = true;
    this.#keep(text);
  }

  #endEvent(fault: FrameFault): void {
    if (this.#lines.length > 0) this.#joinLines();
    const payload = this.#payload;
    if (payload === undefined) return;
    this.#payload = undefined;
    const repeated = this.#memory?.repeat(payload);
    if (repeated === undefined) this.#addFrames(payload, fault);
    else this.#frames.push(repeated);
  }

  #addFrames(text: string, fault: FrameFault): void {
    if (!text.startsWith('{')) {
      const word = text.trim();
      if (word === '[DONE]') {
        if (this.#done !== undefined) this.#frames.push({ text: word, value: this.#done });
        return;
      }
      // Keep-alives of some servers; a comment is one that was made an event.
      if (word === '' || word === 'null' || word.startsWith(':')) return;
    }
    let value: JsonValue;
    try {
      value = parseJson(text);
    } catch (error) {
      throw notJson(error, fault);
    }
    if (isJsonObject(value)) {
      if (!this.#isDocument) this.#memory?.learn(text, value);
      const isLine = !text.includes('\n') && !text.includes('\r');
      this.#frames.push(isLine ? { text, value } : rewrittenFrame(value));
      return;
    }
    if (!Array.isArray(value)) {
      throw new FrameError('not-json', 'An event of the upstream is not a JSON object.');
    }
    for (const item of value) {
      if (!isJsonObject(item)) {
        const message = 'An event of the upstream holds a value that is no object.';
        throw new FrameError('not-json', message);
      }
      this.#frames.push(rewrittenFrame(item));
    }
  }

  #keep(text: string): void {
    if (text === '') return;
    this.#kept.push(text);
    this.#keptLength += text.length;
    this.#checkSize();
  }

  #takeKept(): string {
    const text = this.#kept.join('');
    this.#kept.length = 0;
    this.#keptLength = 0;
    return text;
  }

  #checkSize(): void {
    const eventLength = (this.#payload?.length ?? 0) + this.#linesLength + this.#error.length;
    if (this.#keptLength + eventLength <= this.#maxFrameBytes) return;
    this.#kept.length = 0;
    this.#error = '';
    this.#payload = undefined;
    this.#lines = [];
    this.#linesLength = 0;
    throw new FrameError('too-large', `A frame exceeds ${this.#maxFrameBytes} bytes.`);
  }
}

function notJson(error: unknown, fault: FrameFault): FrameError {
  const kind = error instanceof JsonLimitError ? 'too-large' : fault;
  return new FrameError(kind, 'An event of the upstream is not JSON.', error);
}

/** It ends a line by itself, which hardly anybody writes. The others are left out with their line. */
function hasLoneReturn(text: string): boolean {
  for (let at = text.indexOf('\r'); at !== -1; at = text.indexOf('\r', at + 1)) {
    if (text.charCodeAt(at + 1) !== LINE_FEED) return true;
  }
  return false;
}

function rewrittenFrame(value: JsonObject): Frame {
  return {
    value,
    get text() {
      return JSON.stringify(value);
    },
  };
}

export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';

/** What a frame begins and ends with, for writers that put it together themselves. */
export const DATA_START = 'data: ';
export const FRAME_END = '\n\n';

/** A frame of data alone. `json` holds no line break, as `JSON.stringify` gives none. */
export function dataFrame(json: string): string {
  return DATA_START + json + FRAME_END;
}

/** A frame with an event name in front of its data. */
export function eventFrame(name: string, json: string): string {
  return `event: ${name}\n${DATA_START}${json}${FRAME_END}`;
}

/** A named frame up to its data. */
export function eventStart(name: string): string {
  return `event: ${name}\n${DATA_START}`;
}
