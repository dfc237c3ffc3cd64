// What answers are written to.

import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';

/** Node's own response, or what stands for one on a WebSocket. */
export interface ClientResponse
  extends Writable,
    Pick<ServerResponse, 'req' | 'socket' | 'statusCode' | 'headersSent' | 'chunkedEncoding'> {
  writeHead(status: number, headers: string[]): unknown;
  writeContinue(): void;
  flushHeaders(): void;
}
