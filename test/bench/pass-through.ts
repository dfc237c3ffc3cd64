// The yardstick: a bare node proxy that copies requests and answers without looking at them.

import { createServer } from 'node:http';
import { pipeline } from 'node:stream';
import { Agent } from 'undici';
import { listenOnLoopback } from './listen-on-loopback.ts';

const upstream = process.argv[2] ?? '';
const dispatcher = new Agent({ connections: 1024, pipelining: 1 });

const server = createServer(async (incoming, outgoing) => {
  try {
    const answer = await dispatcher.request({
      origin: upstream,
      path: incoming.url ?? '/',
      method: 'POST',
      headers: copied(incoming.headers),
      body: incoming,
    });
    outgoing.writeHead(answer.statusCode, copied(answer.headers));
    pipeline(answer.body, outgoing, () => {});
  } catch {
    outgoing.destroy();
  }
});
listenOnLoopback(server);

/** The length too: without it both sides would be chunked, which costs more. */
function copied(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const length = headers['content-length'];
  return {
    'content-type': String(headers['content-type']),
    ...(typeof length === 'string' && { 'content-length': length }),
  };
}
