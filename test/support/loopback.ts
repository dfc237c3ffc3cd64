// A server on a free port of loopback, and how it answers with JSON.

import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';

/** @returns where it is reached, and what ends it with all its connections */
export async function serveOnLoopback(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('It does not listen.');
  const { port } = address;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
