// The two framings of a streamed answer: Server-Sent Events, or one JSON array.

import { dataFrame, EVENT_STREAM_TYPE, FRAME_END } from '../../lib/event-stream.ts';

/** Frames JSON texts; one instance a stream. Nothing may follow `end`. */
export interface StreamFraming {
  readonly contentType: string;
  /** One element: JSON text on a single line. */
  element(json: string): string;
  end(): string;
  keepAlive(): string;
}

export type FramingKind = 'events' | 'array';

export function createFraming(kind: FramingKind): StreamFraming {
  return kind === 'events' ? EVENTS : createArrayFraming();
}

/**
 * `data:` lines and empty lines only: the clients' own parsers fail on comments, `event:` lines and
 * `[DONE]` (`@google/genai`, Gemini CLI). The stream ends with the connection.
 */
const EVENTS: StreamFraming = {
  contentType: EVENT_STREAM_TYPE,
  element: dataFrame,
  end: () => '',
  keepAlive: () => FRAME_END,
};

/** The array is complete JSON at the end; white space may stand between its elements at any time. */
function createArrayFraming(): StreamFraming {
  let isOpen = false;
  let isClosed = false;
  return {
    contentType: 'application/json; charset=utf-8',
    element(json) {
      const start = isOpen ? '\n,\r\n' : '[';
      isOpen = true;
      return start + json;
    },
    end() {
      if (isClosed) return '';
      isClosed = true;
      return isOpen ? ']' : '[]';
    },
    keepAlive: () => '\n',
  };
}
