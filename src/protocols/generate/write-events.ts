// Canonical events as the text of a streamed answer.

import type { ReplyContext, StreamWriter } from '../protocol.ts';
import { writeError } from './errors.ts';
import { createFraming, type FramingKind } from './stream-framing.ts';
import { ChunkWriter } from './write-chunks.ts';
import type { WriteOptions } from './write-reply.ts';

/** The last event, `finish` or `error`, also closes the framing. */
export function createEventWriter(
  context: ReplyContext,
  kind: FramingKind,
  options: WriteOptions,
): StreamWriter {
  const framing = createFraming(kind);
  const chunks = new ChunkWriter(context, options);
  return {
    contentType: framing.contentType,
    write(event) {
      if (event.kind === 'error') {
        return framing.element(JSON.stringify(writeError(event.error).body)) + framing.end();
      }
      const chunk = chunks.write(event);
      const text = chunk === undefined ? '' : framing.element(JSON.stringify(chunk));
      return event.kind === 'finish' ? text + framing.end() : text;
    },
    keepAlive: () => framing.keepAlive(),
  };
}
