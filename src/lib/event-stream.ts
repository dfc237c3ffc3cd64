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
