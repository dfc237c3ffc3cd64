// Builds the HTTP edge: every request passes the target gate, then its route of the edge's table.

import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type {
  FastifyHttpOptions,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifyServerOptions,
} from 'fastify';
import fastify from 'fastify';
import { createDoor } from '../access/access.ts';
import { type ErrorKind, GatewayError, invalidRequest } from '../canonical/error.ts';
import { createId, createTimedId } from '../lib/ids.ts';
import { told } from '../lib/localized-message.ts';
import { ownAddress } from '../lib/net.ts';
import { memoize } from '../lib/once.ts';
import { createBackgroundRuns } from '../stored-responses/response-store.ts';
import { createActivity, shuttingDown } from './activity.ts';
import { limitConnections } from './connections.ts';
import type { Edge, EdgeOptions } from './edge.ts';
import { refuse, serve } from './exchange.ts';
import { createKeyRing } from './gates/authenticate.ts';
import { createBodyBudget } from './gates/body.ts';
import { createAddressReader, readTrustedProxies } from './gates/locality.ts';
import { checkSingleHeaders, checkTransferCoding, readTarget } from './gates/target.ts';
import { createRouteTable, type RouteTable } from './routes.ts';
import type { EdgeSettings } from './settings.ts';

export interface EdgeServer {
  /** For `inject` and for plugins with routes of their own; those pass the target gate too. */
  readonly app: FastifyInstance;
  readonly routes: RouteTable;
  /** The address is one that this machine reaches. @throws Error when it is taken or not ours. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Stops accepting, lets running answers finish within the grace of the settings, then ends them with an error. */
  close(): Promise<void>;
}

export function createServer(options: EdgeOptions): EdgeServer {
  const keyRing = memoize(createKeyRing);
  const trustedProxies = memoize(readTrustedProxies);
  const { settings, clock, log } = options;
  const edge: Edge = {
    ...options,
    door: options.door ?? createDoor({ settings, clock, createId, log }),
    runs: createBackgroundRuns(),
    bodies: options.bodies ?? createBodyBudget(options.clock),
    routes: createRouteTable(options.protocols.all, options.adminRoutes),
    activity: createActivity(options.clock),
    keyRing: (settings) => keyRing(settings.apiKeys),
    trustedProxies: (settings) => trustedProxies(settings.trustedProxies),
    readClientAddress: createAddressReader(),
  };
  const app = createApp(edge);
  let closing: Promise<void> | undefined;
  return {
    app,
    routes: edge.routes,
    async listen() {
      const { host, port } = edge.settings();
      await app.listen({ host, port });
      const address = app.server.address();
      const taken = typeof address === 'object' && address !== null ? address.port : port;
      return { url: ownAddress(host, taken), port: taken };
    },
    close() {
      closing ??= close(edge, app);
      return closing;
    },
  };
}

function createApp(edge: Edge): FastifyInstance {
  const app = fastify({
    ...httpOptions(edge.settings(), createMalformedRefusal(edge)),
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      refuse(edge, { request: request.raw, response: reply.raw }, badTarget());
    },
  });
  limitConnections(app.server, {
    trustedProxies: () => edge.trustedProxies(edge.settings()),
    log: edge.log,
    clock: edge.clock,
    openFiles: edge.openFiles,
  });
  app.server.on('checkContinue', (request, response) => {
    // `100 Continue` is sent by the body reader, when the body is wanted.
    app.server.emit('request', request, response);
  });
  // Other expectations may be ignored (RFC 9110, 10.1.1); node would answer without a body.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  app.addHook('onRequest', (request, reply, done) => {
    try {
      checkSingleHeaders(request.raw.rawHeaders, request.raw.httpVersion);
      checkTransferCoding(request.raw.headers['transfer-encoding']);
      readTarget(request.raw.url ?? '');
    } catch (error) {
      reply.hijack();
      refuse(edge, { request: request.raw, response: reply.raw }, error);
      return;
    }
    done();
  });
  // Answered in a hook: behind it the framework would read the body before anyone is authenticated.
  const takeOver = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    void serve(edge, request.raw, reply.raw);
  };
  app.route({ method: app.supportedMethods, url: '/*', onRequest: takeOver, handler: takeOver });
  app.setNotFoundHandler(takeOver);
  return app;
}

async function close(edge: Edge, app: FastifyInstance): Promise<void> {
  const drained = edge.activity.drain(edge.settings().shutdownGraceMs);
  const closed = app.close();
  await drained;
  app.server.closeAllConnections();
  await closed;
  await edge.runs.close(shuttingDown());
}

function badTarget(): Error {
  return invalidRequest('path', told`The request target holds a malformed percent escape.`);
}

// How node's HTTP server is set up: strict parser, short patience.

const MAX_HEADER_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 1_000;
/** No model name fits this, so no name is refused for its length here. */
const MAX_PARAM_CHARACTERS = MAX_HEADER_BYTES;

/** Options for fastify over plain HTTP/1.1. */
function httpOptions(
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

// Answers what node's parser refused: there is no request then, only bytes, and nobody is authenticated.

/** The error of node's `clientError` event; `rawPacket` is what the parser was given last. */
interface ParserError extends Error {
  readonly code?: string | undefined;
  readonly rawPacket?: unknown;
}

type RefuseMalformed = (error: ParserError, socket: Socket) => void;

/** Source: nodejs.org, "Class: http.Server", event `clientError`. */
const KIND_BY_CODE: ReadonlyMap<string | undefined, ErrorKind> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'timeout'],
  ['HPE_HEADER_OVERFLOW', 'headers-too-large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'too-large'],
]);
const REQUEST_LINE = /^[A-Z]{1,32} (\/[^\s?]*)(?:\?(\S*))? HTTP\//;
/** As much of a packet as may be a request line worth reading. */
const MOST_LINE_BYTES = 4096;

/** Answers once, in the shape of the path where that can still be read, and closes the connection. */
function createMalformedRefusal({
  protocols,
  clock,
}: Pick<Edge, 'protocols' | 'clock'>): RefuseMalformed {
  return (error, socket) => {
    // Bytes of an answer already under way must not be followed by another status line.
    if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesWritten > 0) {
      socket.destroy();
      return;
    }
    const { path, query } = readRequestLine(error.rawPacket);
    const requestId = createTimedId('req_', clock.now());
    const { status, body } = protocols
      .protocolForPath(path, {}, query)
      .writeError(malformed(error), { requestId, path });
    const text = JSON.stringify(body);
    const reason = STATUS_CODES[status] ?? '';
    const headers = [
      'connection: close',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(text)}`,
      `x-request-id: ${requestId}`,
      `request-id: ${requestId}`,
    ];
    socket.end(`HTTP/1.1 ${status} ${reason}\r\n${headers.join('\r\n')}\r\n\r\n${text}`);
  };
}

/** The target chooses the shape of the error and nothing else. */
function readRequestLine(packet: unknown): { path: string; query: URLSearchParams } {
  const start = Buffer.isBuffer(packet) ? packet.toString('latin1', 0, MOST_LINE_BYTES) : '';
  const [, path = '', query = ''] = REQUEST_LINE.exec(start) ?? [];
  return { path, query: new URLSearchParams(query) };
}

function malformed({ code }: ParserError): GatewayError {
  const kind = KIND_BY_CODE.get(code) ?? 'invalid-request';
  return new GatewayError({ kind, source: 'client', message: MESSAGES[kind] ?? NOT_HTTP });
}

const NOT_HTTP = 'The bytes are no request that an HTTP server may take.';
const MESSAGES: Readonly<Partial<Record<ErrorKind, string>>> = {
  timeout: 'The request did not come to its end in time.',
  'headers-too-large': 'The headers are larger than 16 kB together: send fewer or shorter ones.',
  'too-large': 'The extensions of the chunks are too large: send the body without them.',
};
