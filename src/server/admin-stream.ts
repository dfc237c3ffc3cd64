// Sends an endless answer of the admin API: events as they happen, at the pace their reader takes them.

import { EVENT_STREAM_TYPE } from '../lib/event-stream.ts';
import { baseHeaders } from './answer-headers.ts';
import type { Edge, Exchange } from './edge.ts';
import { createSocketWriter } from './sse.ts';

/** Ends when the reader leaves or is let in no more, the events end or the gateway winds down. */
export async function sendEvents(
  edge: Edge,
  exchange: Exchange,
  frames: AsyncIterableIterator<string>,
  isStillIn: () => boolean,
): Promise<void> {
  const { request, response, abort } = exchange;
  const end = (): void => void frames.return?.();
  // Who left meanwhile, or only looks, reads none: they must not go on for nobody.
  if (response.headersSent || response.destroyed) return end();
  const headers = baseHeaders(edge, exchange);
  headers.push('content-type', EVENT_STREAM_TYPE, 'cache-control', 'no-store');
  // Proxies must not collect what should arrive piece by piece.
  headers.push('x-accel-buffering', 'no');
  response.writeHead(200, headers);
  if (request.method === 'HEAD') {
    response.end();
    return end();
  }
  response.flushHeaders();
  const signal = AbortSignal.any([abort.signal, edge.activity.ending]);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const writer = createSocketWriter(response, edge.clock);
  try {
    for await (const frame of frames) {
      if (!isStillIn()) return;
      await writer.write(frame);
      if (!writer.isOpen) return;
    }
  } finally {
    signal.removeEventListener('abort', end);
    writer.end();
  }
}
