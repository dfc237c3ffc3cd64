// How node's HTTP server is set up: strict parser, short patience.

import type { Server } from 'node:http';
import type { FastifyHttpOptions, FastifyServerOptions } from 'fastify';
import type { RefuseMalformed } from './refuse-malformed.ts';
import type { EdgeSettings } from './settings.ts';

const MAX_HEADER_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 1_000;
/** No model name fits this, so no name is refused for its length here. */
const MAX_PARAM_CHARACTERS = MAX_HEADER_BYTES;

/** Options for fastify over plain HTTP/1.1. */
export function httpOptions(
  settings: EdgeSettings,
  refuseMalformed: RefuseMalformed,
): FastifyHttpOptions<Server> {
  const shared: FastifyServerOptions<Server> = {
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_CHARACTERS },
    requestTimeout: settings.requestTimeoutMs,
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
