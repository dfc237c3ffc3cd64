// Builds the HTTP server: parser limits, the target gate, then the route table.

import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type Server,
  type ServerOptions,
  STATUS_CODES,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createNetServer, Server as NetServer, type Socket } from 'node:net';
import { clientError, cutOffError, type ErrorKind, type GatewayError } from '../canonical/error.ts';
import { createId } from '../lib/ids.ts';
import { ownAddress } from '../lib/net.ts';
import { derived, remember } from '../lib/once.ts';
import { BackgroundRuns } from '../stored-responses/background-runs.ts';
import { createConnectionResponses } from '../stored-responses/response-store.ts';
import { createActivity, shuttingDown } from './activity.ts';
import { type CertificateState, ListenerCertificate } from './certificate.ts';
import { inTurn, limitConnections } from './connections.ts';
import type { Address, Edge, EdgeOptions } from './edge.ts';
import { refuse, serve } from './exchange.ts';
import { createKeyRing } from './gates/authenticate.ts';
import { createBodyBudget } from './gates/body.ts';
import { MAX_PEERS, readClientAddress, readTrustedProxies } from './gates/locality.ts';
import { checkSingleHeaders, checkTransferCoding, readTarget } from './gates/target.ts';
import { createRouteTable } from './routes.ts';
import { type TakeRequest, takesWebSocket, takeUpgrade } from './web-socket.ts';

export type EdgeServer = ReturnType<typeof createServer>;

export function createServer(options: EdgeOptions) {
  const edge: Edge = {
    ...options,
    runs: new BackgroundRuns({
      ...{ clock: options.clock, sharing: options.sharing },
      ...{ cancelled, givenUp: cutOffError },
    }),
    connectionResponses: createConnectionResponses({
      clock: options.clock,
      onFailure: (error) => options.log.warn({ err: error }, 'an answer cannot be gone on from'),
    }),
    bodies: options.bodies ?? createBodyBudget(options.clock),
    routes: createRouteTable(options.protocols.all, options.adminRoutes, options.services),
    activity: createActivity(options.clock),
    keyRing: derived(options.settings, ({ apiKeys }) => createKeyRing(apiKeys)),
    trustedProxies: derived(options.settings, (settings) =>
      readTrustedProxies(settings.trustedProxies),
    ),
    addressOf: remember(MAX_PEERS, (peer) =>
      readClientAddress({ peer, forwardedFor: undefined, trustedProxies: [] }),
    ),
  };
  const certificate = options.isPlain === true ? undefined : openCertificate(edge);
  const http = openHttpServer(edge, certificate);
  const take = (socket: Socket): void => {
    // As node's HTTP server has those it accepts itself.
    socket.allowHalfOpen = true;
    socket.setNoDelay(true);
    http.emit('connection', socket);
  };
  const onIpv6 = createNetServer(take);
  let closing: Promise<void> | undefined;
  return {
    http,
    routes: edge.routes,
    /** Of HTTPS; undefined where the gateway listens in plain HTTP. */
    certificate: (): CertificateState | undefined => certificate?.state,
    /** The address is one that this machine reaches. @throws Error when it is taken or not ours. */
    async listen(): Promise<{ readonly url: string; readonly port: number }> {
      const { host, port } = edge.settings();
      const { incoming } = edge;
      const listenOn = async (server: NetServer, address: Address): Promise<number> => {
        if (incoming !== undefined) return incoming.listen(address, take);
        server.listen(address);
        await once(server, 'listening');
        const listening = server.address();
        return typeof listening === 'object' && listening !== null ? listening.port : port;
      };
      const taken = await listenOn(http, { host: host === 'localhost' ? '127.0.0.1' : host, port });
      // Node begins to watch over slow requests with it.
      if (incoming !== undefined) http.emit('listening');
      if (host === 'localhost') {
        // That is both loopback addresses; a machine without IPv6 has one.
        await listenOn(onIpv6, { host: '::1', port: taken }).catch(() => undefined);
      }
      const scheme = certificate === undefined ? 'http' : 'https';
      return { url: ownAddress(host, taken, scheme), port: taken };
    },
    /** Tells that the start is done: from now on requests are wanted. */
    serve: () => edge.activity.serve(),
    /** Still serves for the delay of the settings; then lets answers finish within their grace and ends them. */
    close(options: CloseOptions = {}): Promise<void> {
      closing ??= close(edge, [http, onIpv6], options).finally(() => certificate?.close());
      return closing;
    },
  };
}

function cancelled(): GatewayError {
  return clientError('client-gone', 'The response was cancelled.');
}

function openCertificate({ settings, clock, log }: Edge): ListenerCertificate | undefined {
  const files = () => {
    const { tlsCert: cert, tlsKey: key } = settings();
    return cert === undefined || key === undefined ? undefined : { cert, key };
  };
  const first = files();
  const { tlsCert, tlsKey } = settings();
  if (first === undefined) {
    if (tlsCert === tlsKey) return undefined;
    throw new Error(`HTTPS needs both files: set ${TLS_FILES}, or neither of them.`);
  }
  try {
    return new ListenerCertificate(first, { files, clock, log });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The files of ${TLS_FILES} cannot be used: ${why}.`, { cause: error });
  }
}

const TLS_FILES = 'proxy.tls_cert (ISTHMUS_TLS_CERT) and proxy.tls_key (ISTHMUS_TLS_KEY)';

function openHttpServer(edge: Edge, certificate: ListenerCertificate | undefined): Server {
  const take: TakeRequest = (request, response, upgrade) => {
    try {
      checkSingleHeaders(request.rawHeaders, request.httpVersion);
      const codings = request.headers['transfer-encoding'];
      if (codings !== undefined) checkTransferCoding(codings);
      const { path, query } = readTarget(request.url ?? '');
      void serve(edge, { request, response, path, query, upgrade });
    } catch (error) {
      refuse(edge, { request, response }, error);
    }
  };
  const { requestTimeoutMs } = edge.settings();
  const options: ServerOptions = {
    insecureHTTPParser: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // The target gate answers a missing Host in JSON.
    requireHostHeader: false,
    shouldUpgradeCallback: (request) => takesWebSocket(edge, request),
  };
  const server = listenWith(options, certificate);
  server.on('request', inTurn(take));
  server.on('upgrade', (request, socket, head) => takeUpgrade({ request, socket, head }, take));
  // A socket without any progress for this long is dead, whatever it was doing.
  server.setTimeout(requestTimeoutMs + 30_000);
  server.on('clientError', createMalformedRefusal(edge));
  // `100 Continue` is sent by the body reader, when the body is wanted.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  // Other expectations may be ignored (RFC 9110, 10.1.1); node would answer without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  limitConnections(server, {
    trustedProxies: edge.trustedProxies,
    log: edge.log,
    clock: edge.clock,
    openFiles: edge.openFiles,
    isSecure: certificate !== undefined,
  });
  return server;
}

/** Over TLS as well it is HTTP/1.1 alone, which is what the server offers there by itself. */
function listenWith(options: ServerOptions, certificate: ListenerCertificate | undefined): Server {
  if (certificate === undefined) return createHttpServer(options);
  const handshakeTimeout = HEADERS_TIMEOUT_MS;
  const server = createSecureServer({ ...options, ...certificate.serverOptions, handshakeTimeout });
  certificate.follow(server);
  return server;
}

export interface CloseOptions {
  /** True where another worker takes the place of this one: it takes the new connections from now on. */
  readonly isReplaced?: boolean | undefined;
}

/** Time for the connections of a worker that is replaced to be told with an answer that they close. */
const REPLACED_MS = 5000;

async function close(
  edge: Edge,
  [http, onIpv6]: readonly [Server, NetServer],
  { isReplaced = false }: CloseOptions,
): Promise<void> {
  const { drainDelayMs, shutdownGraceMs } = edge.settings();
  if (isReplaced) {
    edge.incoming?.close();
    // Not the way of HTTP servers, which closes idle connections as well: a request may be on its way on one.
    for (const server of [http, onIpv6]) NetServer.prototype.close.call(server);
    await edge.activity.leave('replaced', REPLACED_MS);
  } else if (drainDelayMs > 0) await edge.activity.leave('leaving', drainDelayMs);
  edge.incoming?.close();
  const drained = edge.activity.drain(shutdownGraceMs);
  const closed = [http, onIpv6].map(
    (server) => new Promise<void>((resolve) => server.close(() => resolve())),
  );
  await drained;
  http.closeAllConnections();
  await Promise.all(closed);
  await edge.runs.close(shuttingDown());
}

const MAX_HEADER_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 1_000;

/** The error of node's `clientError` event; `rawPacket` is what the parser was given last. */
interface ParserError extends Error {
  readonly code?: string | undefined;
  readonly rawPacket?: unknown;
}

type Malformed = readonly [kind: ErrorKind, message: string];

const NOT_HTTP: Malformed = [
  'invalid-request',
  'The bytes are no request that an HTTP server may take.',
];
/** Source: nodejs.org, "Class: http.Server", event `clientError`. */
const MALFORMED: ReadonlyMap<string | undefined, Malformed> = new Map<string, Malformed>([
  ['ERR_HTTP_REQUEST_TIMEOUT', ['timeout', 'The request did not come to its end in time.']],
  [
    'HPE_HEADER_OVERFLOW',
    [
      'headers-too-large',
      'The headers are larger than 16 kB together: send fewer or shorter ones.',
    ],
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    ['too-large', 'The extensions of the chunks are too large: send the body without them.'],
  ],
]);
/** A handshake that failed: another protocol on the port, or a client that does not trust the certificate. */
const TLS_FAULT = /^ERR_(?:SSL|TLS)_/;
const REQUEST_LINE = /^[A-Z]{1,32} (\/[^\s?]*)(?:\?(\S*))? HTTP\//;
/** As much of a packet as may be a request line worth reading. */
const MAX_LINE_BYTES = 4096;

/** Answers once, in the shape of the path where that can still be read, and closes the connection. */
function createMalformedRefusal({ protocols, clock }: Edge) {
  return (error: ParserError, socket: Socket): void => {
    // Bytes of an answer already under way must not be followed by another status line, and without TLS nothing can be said.
    const isUnsaid = error.code === 'ECONNRESET' || TLS_FAULT.test(error.code ?? '');
    if (!socket.writable || isUnsaid || socket.bytesWritten > 0) {
      socket.destroy();
      return;
    }
    const { path, query } = readRequestLine(error.rawPacket);
    const requestId = createId('req_', clock.now());
    const [kind, message] = MALFORMED.get(error.code) ?? NOT_HTTP;
    const { status, body } = protocols
      .protocolForPath(path, {}, query)
      .writeError(clientError(kind, message), { requestId, path });
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
  const start = Buffer.isBuffer(packet) ? packet.toString('latin1', 0, MAX_LINE_BYTES) : '';
  const [, path = '', query = ''] = REQUEST_LINE.exec(start) ?? [];
  return { path, query: new URLSearchParams(query) };
}
