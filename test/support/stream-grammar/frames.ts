// Cuts an event stream into its frames as the strictest of the known readers does.

import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { check } from './rule.ts';

export interface StreamFrame {
  readonly event: string | undefined;
  readonly data: string;
}

/**
 * Every frame is at most one `event:` line and one `data:` line, closed by an empty line. Comments are
 * left out; `takesComments` false refuses them.
 */
export function readFrames(text: string, takesComments: boolean): readonly StreamFrame[] {
  check(!text.includes('\r'), 'no carriage return stands in a stream');
  check(text === '' || text.endsWith('\n\n'), 'the last frame is closed');
  const frames: StreamFrame[] = [];
  for (const block of text.split('\n\n').slice(0, -1)) {
    if (block === '' || block.startsWith(':')) {
      check(block === '' || (takesComments && !block.includes('\n')), 'comments stand alone');
      continue;
    }
    frames.push(readFrame(block.split('\n')));
  }
  return frames;
}

function readFrame(lines: readonly string[]): StreamFrame {
  const [first = '', second] = lines;
  if (first.startsWith('data: ')) {
    check(lines.length === 1, 'a frame has one data line');
    return { event: undefined, data: first.slice('data: '.length) };
  }
  const isNamed = first.startsWith('event: ') && second?.startsWith('data: ') === true;
  check(isNamed && lines.length === 2, 'a frame is an event line and a data line');
  return { event: first.slice('event: '.length), data: (second ?? '').slice('data: '.length) };
}

export function parseFrame({ data }: Pick<StreamFrame, 'data'>): JsonObject {
  const value: unknown = JSON.parse(data);
  check(isJsonObject(value), 'data is an object');
  return value;
}

/** Frames whose name is repeated as the `type` of their data. */
export function readNamedFrames(text: string): readonly JsonObject[] {
  return readFrames(text, true).map((frame) => {
    const value = parseFrame(frame);
    check(frame.event !== undefined && value.type === frame.event, 'the event line names the type');
    return value;
  });
}
