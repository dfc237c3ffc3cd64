// An upstream on loopback, of any wire, that lists its models and leaves every answer to the test, byte by byte.

import { createServer, type ServerResponse } from 'node:http';
import { serveOnLoopback } from './loopback.ts';

export interface RawUpstream {
  readonly url: string;
  /** Ends every connection. */
  close(): void;
}

/** `answer` gets the response of each model call, and its path; the body is not read. */
export async function startRawUpstream(
  models: Iterable<string>,
  answer: (response: ServerResponse, path: string) => void,
): Promise<RawUpstream> {
  const names = [...models];
  const list = JSON.stringify({
    models: names.map((name) => ({ name: `models/${name}` })),
    data: names.map((id) => ({ id })),
  });
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json').end(list);
      return;
    }
    request.resume();
    answer(response, request.url ?? '');
  });
  return serveOnLoopback(server);
}
