// Splits the bytes of an upstream body into JSON frames, wherever the chunks were cut.

import { StringDecoder } from 'node:string_decoder';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../lib/json.ts';

/** One event's JSON. `text` is a single line: as it came, or rewritten when it spanned several. */
export interface JsonFrame {
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
  repeat(text: string): JsonFrame | undefined;
  /** Call with every event that was parsed. `value` is the frame's, and never changed. */
  learn(text: string, value: JsonObject): void;
}

export type FrameFault =
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

export interface FrameReader {
  /**
   * The frames this chunk completed. A fault is thrown after the frames before it were given out:
   * at once when there are none, else by the next call.
   * @throws FrameError
   */
  push(chunk: Uint8Array): JsonFrame[];
  /** Call when the body ended; the last frame may lack its empty line. @throws FrameError */
  end(): JsonFrame[];
}

export interface FrameReaderOptions {
  /** Cap on one frame, or on a body that is one JSON document, in UTF-16 units (never more than its bytes). */
  readonly maxFrameBytes?: number | undefined;
  /** Asked for one event after the other, and for no document. */
  readonly memory?: EventMemory | undefined;
}

const DEFAULT_MAX_FRAME_BYTES = 64 * 1024 * 1024;

/**
 * Reads Server-Sent Events (WHATWG HTML, "Server-sent events"): any line ending, comments and
 * unknown fields ignored, data lines joined. A line that begins a JSON document instead of a field
 * (a unary answer, or an error some upstreams append to a stream) makes the rest of the body one
 * document; the objects of an array are a frame each. `[DONE]` and empty data give nothing.
 */
export function createFrameReader(options: FrameReaderOptions = {}): FrameReader {
  return new SseFrameReader(options.maxFrameBytes ?? DEFAULT_MAX_FRAME_BYTES, options.memory);
}

const OPENS_DOCUMENT = /^[ \t]*[{[]/;

class SseFrameReader implements FrameReader {
  readonly #maxFrameBytes: number;
  readonly #memory: EventMemory | undefined;
  /** Keeps the bytes of a character cut by a chunk's end; decoding whole chunks is cheaper than lines. */
  readonly #decoder = new StringDecoder('utf8');
  #frames: JsonFrame[] = [];
  #fault: FrameError | undefined;
  /** Pieces of a line, or of a document, whose end was not seen yet. */
  #kept: string[] = [];
  #keptLength = 0;
  /** The event's payload so far; undefined between events. */
  #payload: string | undefined;
  #isFirstText = true;
  /** A CR ended the last chunk: an LF now belongs to it. */
  #skipsLineFeed = false;
  #isDocument = false;

  constructor(maxFrameBytes: number, memory: EventMemory | undefined) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#memory = memory;
  }

  push(chunk: Uint8Array): JsonFrame[] {
    if (this.#fault !== undefined) throw this.#fault;
    try {
      this.#read(this.#decoder.write(chunk));
    } catch (error) {
      this.#postpone(error);
    }
    return this.#takeFrames();
  }

  end(): JsonFrame[] {
    if (this.#fault !== undefined) throw this.#fault;
    try {
      this.#read(this.#decoder.end());
      if (!this.#isDocument) this.#endBodyOfEvents();
      if (this.#isDocument) this.#addFrames(this.#takeKept().trim(), 'truncated');
    } catch (error) {
      this.#postpone(error);
    }
    return this.#takeFrames();
  }

  #postpone(error: unknown): void {
    if (!(error instanceof FrameError) || this.#frames.length === 0) throw error;
    this.#fault = error;
  }

  #takeFrames(): JsonFrame[] {
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }

  #read(decoded: string): void {
    if (decoded === '') return;
    let text = decoded;
    if (this.#isFirstText) {
      this.#isFirstText = false;
      if (text.startsWith('\ufeff')) text = text.slice(1);
    }
    if (this.#isDocument) this.#keep(text);
    else this.#readLines(text);
  }

  #readLines(text: string): void {
    let start = this.#skipsLineFeed && text.startsWith('\n') ? 1 : 0;
    this.#skipsLineFeed = false;
    let lineFeed = text.indexOf('\n', start);
    let carriageReturn = text.indexOf('\r', start);
    while (lineFeed !== -1 || carriageReturn !== -1) {
      const end = earlier(lineFeed, carriageReturn);
      this.#endLine(text, start, end);
      if (this.#isDocument) {
        this.#keep(text.slice(end));
        return;
      }
      start = end + 1;
      if (end === carriageReturn) {
        if (lineFeed === start) start += 1;
        this.#skipsLineFeed = start === text.length && lineFeed !== start - 1;
        carriageReturn = text.indexOf('\r', start);
      }
      if (lineFeed !== -1 && lineFeed < start) lineFeed = text.indexOf('\n', start);
    }
    if (start < text.length) this.#keepLine(text.slice(start));
  }

  #endLine(text: string, start: number, end: number): void {
    if (this.#keptLength === 0) {
      this.#readLine(text, start, end);
      return;
    }
    this.#keep(text.slice(start, end));
    const line = this.#takeKept();
    this.#readLine(line, 0, line.length);
  }

  /** The line between two places of a text: cutting it out is left to those who need it. */
  #readLine(text: string, start: number, end: number): void {
    if (start === end) this.#endEvent('not-json');
    else if (text.startsWith('data:', start)) {
      this.#addData(text.slice(start + (text[start + 5] === ' ' ? 6 : 5), end));
    } else this.#readOddLine(text.slice(start, end));
  }

  #readOddLine(line: string): void {
    if (line === 'data') this.#addData('');
    else if (OPENS_DOCUMENT.test(line)) this.#beginDocument(line);
  }

  #addData(value: string): void {
    this.#payload = this.#payload === undefined ? value : `${this.#payload}\n${value}`;
    this.#checkSize();
  }

  #beginDocument(text: string): void {
    this.#endEvent('not-json');
    this.#isDocument = true;
    this.#keep(text);
  }

  #endEvent(fault: FrameFault): void {
    const payload = this.#payload;
    if (payload === undefined) return;
    this.#payload = undefined;
    this.#addFrames(payload, fault);
  }

  #endBodyOfEvents(): void {
    if (this.#keptLength > 0) {
      const line = this.#takeKept();
      this.#readLine(line, 0, line.length);
    }
    this.#endEvent('truncated');
  }

  #addFrames(text: string, fault: FrameFault): void {
    const repeated = this.#memory?.repeat(text);
    if (repeated !== undefined) {
      this.#frames.push(repeated);
      return;
    }
    if (!text.startsWith('{') && saysNothing(text)) return;
    const value = parsePayload(text, fault);
    if (isJsonObject(value)) {
      if (!this.#isDocument) this.#memory?.learn(text, value);
      this.#frames.push(createFrame(text, value));
    } else if (Array.isArray(value)) for (const item of value) this.#addItem(item);
    else throw new FrameError('not-json', 'An event of the upstream is not a JSON object.');
  }

  #addItem(value: JsonValue): void {
    if (!isJsonObject(value)) {
      throw new FrameError('not-json', 'An event of the upstream holds a value that is no object.');
    }
    this.#frames.push(rewrittenFrame(value));
  }

  /** An unfinished document is not searched for line ends over and over: its beginning tells. */
  #keepLine(text: string): void {
    if (this.#keptLength === 0 && OPENS_DOCUMENT.test(text)) this.#beginDocument(text);
    else this.#keep(text);
  }

  #keep(text: string): void {
    if (text === '') return;
    this.#kept.push(text);
    this.#keptLength += text.length;
    this.#checkSize();
  }

  #takeKept(): string {
    const text = this.#kept.join('');
    this.#kept = [];
    this.#keptLength = 0;
    return text;
  }

  #checkSize(): void {
    if (this.#keptLength + (this.#payload?.length ?? 0) <= this.#maxFrameBytes) return;
    this.#kept = [];
    this.#payload = undefined;
    throw new FrameError('too-large', `A frame exceeds ${this.#maxFrameBytes} bytes.`);
  }
}

function parsePayload(text: string, fault: FrameFault): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new FrameError(fault, 'An event of the upstream is not JSON.', error);
  }
}

/** Keep-alives of some servers. */
function saysNothing(text: string): boolean {
  return text.trim() === '' || text === '[DONE]' || text === 'null';
}

function earlier(lineFeed: number, carriageReturn: number): number {
  if (carriageReturn === -1) return lineFeed;
  return lineFeed === -1 ? carriageReturn : Math.min(lineFeed, carriageReturn);
}

function createFrame(text: string, value: JsonObject): JsonFrame {
  return text.includes('\n') || text.includes('\r') ? rewrittenFrame(value) : { text, value };
}

function rewrittenFrame(value: JsonObject): JsonFrame {
  return {
    value,
    get text() {
      return JSON.stringify(value);
    },
  };
}

// The framing of Server-Sent Events (WHATWG HTML, "Server-sent events"): one line of data a frame.

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
  return eventStart(name) + json + FRAME_END;
}

/** A named frame up to its data. */
export function eventStart(name: string): string {
  return `event: ${name}\n${DATA_START}`;
}
