// How node's HTTP server is set up: strict parser, short patience, JSON for what is not HTTP.

import type { Server } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyHttpOptions, FastifyServerOptions } from 'fastify';
import type { EdgeSettings } from './settings.ts';

const MAX_HEADER_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 1_000;
/** Longer than the 60 s idle limit of common balancers, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** No model name fits this, so no name is refused for its length here. */
const MAX_PARAM_CHARACTERS = MAX_HEADER_BYTES;

/** Options for fastify over plain HTTP/1.1. */
export function httpOptions(settings: EdgeSettings): FastifyHttpOptions<Server> {
  const shared: FastifyServerOptions<Server> = {
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_CHARACTERS },
    requestTimeout: settings.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // A socket without any progress for this long is dead, whatever it was doing.
    connectionTimeout: settings.requestTimeoutMs + 30_000,
    clientErrorHandler: refuseMalformed,
  };
  return {
    ...shared,
    http: {
      insecureHTTPParser: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, settings.requestTimeoutMs),
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      // The target gate answers a missing Host in JSON.
      requireHostHeader: false,
    },
  };
}

const STATUS_BY_CODE = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
]);

/** Answers what the parser refused; there is no request and no protocol yet. */
function refuseMalformed(error: Error & { readonly code?: string }, socket: Socket): void {
  // Bytes of an answer already under way must not be followed by another status line.
  if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const status = STATUS_BY_CODE.get(error.code ?? '') ?? 400;
  const reason = STATUS_CODES[status] ?? 'Bad Request';
  const body = JSON.stringify({
    error: { message: `${reason}.`, type: 'invalid_request_error', param: null, code: null },
  });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}
