// Numbers and frames the events of one response stream.

import { eventFrame, eventStart, FRAME_END } from '../../../lib/event-stream.ts';
import { joinFlat } from '../../../lib/flat-text.ts';
import type { JsonObject } from '../../../lib/json.ts';

/** Every event carries its name twice and a number without gaps (`openai` lib/responses). */
export interface FrameNumbering {
  write(type: string, fields: JsonObject): string;
  /** A writer for many events that differ in one text only. */
  deltas(type: string, fields: JsonObject): (delta: string) => string;
}

export function createFrameNumbering(): FrameNumbering {
  let next = 0;
  return {
    write(type, fields) {
      const json = JSON.stringify({ type, sequence_number: next, ...fields });
      next += 1;
      return eventFrame(type, json);
    },
    deltas(type, fields) {
      const rest = JSON.stringify({ type, ...fields }).slice(1, -1);
      const head = joinFlat([eventStart(type), `{${rest},"sequence_number":`]);
      return (delta) => {
        const frame = `${head}${next},"delta":${JSON.stringify(delta)}}${FRAME_END}`;
        next += 1;
        return frame;
      };
    },
  };
}
