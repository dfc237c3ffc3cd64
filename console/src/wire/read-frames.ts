// Cuts the text of an event stream into its events as it comes in; pieces may end anywhere.

interface Frame {
  readonly event: string;
  readonly data: string;
}

export interface FrameReader {
  /** @returns the events that are whole now */
  push(text: string): readonly Frame[];
}

/** What one event may hold before it is given up: a picture in an answer is a few megabytes. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

export function createFrameReader(): FrameReader {
  let rest = '';
  let event = '';
  let lines: string[] = [];

  const readLine = (line: string): Frame | undefined => {
    if (line === '') {
      const frame = lines.length === 0 ? undefined : { event, data: lines.join('\n') };
      event = '';
      lines = [];
      return frame;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') event = value;
    else if (name === 'data') lines.push(value);
    return undefined;
  };

  return {
    push(text) {
      rest += text;
      const frames: Frame[] = [];
      let start = 0;
      for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n', start)) {
        const frame = readLine(rest.slice(start, end).replace(/\r$/, ''));
        if (frame !== undefined) frames.push(frame);
        start = end + 1;
      }
      rest = rest.slice(start);
      if (rest.length > MAX_CHARACTERS) rest = '';
      return frames;
    },
  };
}
