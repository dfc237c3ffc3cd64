// The lifecycle of one request: its state, the way to its route or console file, a client that leaves, its line in the log.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AccessVerdict } from '../access/access-log.ts';
import { asGatewayError, clientError, clientGone, GatewayError } from '../canonical/error.ts';
import { createReceipt } from '../canonical/receipt.ts';
import { createId } from '../lib/ids.ts';
import { FOREIGN_API } from '../wire/vocabulary.ts';
import { runAdminRoute } from './admin.ts';
import { observeEnd } from './call-context.ts';
import { onSocket } from './connections.ts';
import type { ConsoleFile } from './console.ts';
import { preflightHeaders } from './cors.ts';
import type { Edge, Exchange } from './edge.ts';
import { authenticate, type KeyRing, readCredentials } from './gates/authenticate.ts';
import { type PeerInput, readClientAddress } from './gates/locality.ts';
import { isAdminPath, sendError, sendJson, sendText } from './respond.ts';
import type { HealthQuestion, RouteMatch, RouteOffer } from './routes.ts';
import { runRoute } from './run-route.ts';
import { runService } from './run-service.ts';
import { acceptsCoding, type ClientResponse, type HeaderMap } from './settings.ts';

/** Most requests have none; nobody writes into it. */
const NO_QUERY = new URLSearchParams();
const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Accounts, or groups of them, of which a line of the log says why: a record has them all. */
const MAX_SKIPPED_PEERS = 10;

/** Answers one request whose target has passed its gate. Never throws, never leaves it unanswered. */
export async function serve(edge: Edge, parts: ExchangeParts): Promise<void> {
  const exchange = createExchange(edge, parts);
  watchClose(exchange);
  try {
    await answer(exchange);
  } catch (error) {
    noteRefusal(exchange, asGatewayError(error));
    const { signal } = exchange.abort;
    // After an abort its reason is the story; what else broke then is a consequence.
    sendError(exchange, signal.aborted ? signal.reason : error);
  }
}

/** Answers a request that a gate before routing refused. */
export function refuse(
  edge: Edge,
  { request, response }: { readonly request: IncomingMessage; readonly response: ClientResponse },
  error: unknown,
): void {
  // The unchecked target chooses the shape of the error and nothing else.
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const exchange = createExchange(edge, { request, response, path, query });
  watchClose(exchange);
  sendError(exchange, blockedBy(exchange) ?? error);
}

/** Who has to stay out by their address is told nothing else. */
function blockedBy(exchange: Exchange): GatewayError | undefined {
  if (!exchange.settings.addressFilter.enabled) return undefined;
  try {
    exchange.edge.access.addresses.enter(exchange.clientAddress);
    return undefined;
  } catch (thrown) {
    const error = asGatewayError(thrown);
    noteRefusal(exchange, error);
    return error;
  }
}

interface ExchangeParts {
  readonly request: IncomingMessage;
  readonly response: ClientResponse;
  readonly path: string;
  readonly query: string;
  readonly upgrade?: Exchange['upgrade'];
  readonly turn?: Exchange['turn'];
}

/** Node's own map; the only list in it, `set-cookie`, has no meaning in a request and is left out. */
function headerMapOf({ headers }: IncomingMessage): HeaderMap {
  let own: Omit<IncomingHttpHeaders, 'set-cookie'> = headers;
  if (headers['set-cookie'] !== undefined) {
    const { 'set-cookie': _ignored, ...rest } = headers;
    own = rest;
  }
  // Narrowing at the edge: without `set-cookie` every value is a string (node:http, message.headers).
  return own as HeaderMap;
}

function createExchange(edge: Edge, parts: ExchangeParts): Exchange {
  const { request, response, path, query, upgrade, turn } = parts;
  const headers = headerMapOf(request);
  const givenId = headers['x-request-id'];
  const settings = edge.settings();
  const { clock } = edge;
  const peer = request.socket.remoteAddress;
  const forwardedFor = headers['x-forwarded-for'];
  return {
    edge,
    request,
    response,
    settings,
    requestId:
      givenId !== undefined && SANE_REQUEST_ID.test(givenId)
        ? givenId
        : createId('req_', clock.now()),
    startedAt: clock.monotonic(),
    path,
    query: query === '' ? NO_QUERY : new URLSearchParams(query),
    headers,
    clientAddress:
      peer === undefined || forwardedFor === undefined
        ? edge.addressOf(peer ?? '')
        : readClientAddress({
            peer,
            forwardedFor,
            trustedProxies: edge.trustedProxies(),
          }),
    abort: new AbortController(),
    receipt: createReceipt(),
    record: { attempts: [], timings: {} },
    protocol: undefined,
    clientKeyId: '',
    credentials: [],
    heldBytes: 0,
    listIndex: -1,
    isAnswered: false,
    upgrade,
    turn,
  };
}

/** Aborts the work when the client leaves, and closes the books when the response is done. */
function watchClose(exchange: Exchange): void {
  const { edge, request, response, abort } = exchange;
  const { socket } = request;
  const stops: (() => void)[] = [];
  const onClose = (): void => {
    response.off('close', onClose);
    for (const stop of stops) stop();
    const isAnswered = response.writableFinished || exchange.isAnswered;
    if (!isAnswered) abort.abort(clientGone());
    const status = isAnswered ? response.statusCode : 499;
    edge.activity.end(exchange);
    if (exchange.heldBytes > 0) edge.bodies.release(exchange);
    logEnd(exchange, status);
    const { observed } = exchange;
    if (observed !== undefined) observeEnd(exchange, observed, status);
  };
  edge.activity.begin(exchange);
  response.on('close', onClose);
  // A pipelined response has no socket before its turn, and does not hear of the end of one.
  if (response.socket === null) stops.push(onSocket(socket, 'close', onClose));
  // Node sends nothing that is written behind the client's end, but would wait for what is unsent.
  const onEnd = (): void => {
    if (!response.writableEnded) response.destroy();
  };
  stops.push(onSocket(socket, 'end', onEnd));
}

/** What a console looks at fills a log with nothing: such lines are for debugging, unless they failed. */
function logEnd(exchange: Exchange, status: number): void {
  const { edge, request, response, record, requestId, path, clientKeyId } = exchange;
  const isLook = request.method === 'GET' && !path.startsWith('/v1') && response.statusCode < 400;
  edge.log.request(isLook ? 'debug' : 'info', {
    requestId,
    method: request.method ?? '',
    path,
    status,
    durationMs: Math.round(edge.clock.monotonic() - exchange.startedAt),
    client: exchange.clientAddress,
    clientKeyId,
    error: record.error?.kind ?? (status === 499 ? 'client-gone' : undefined),
    passedOver: record.passedOver?.slice(0, MAX_SKIPPED_PEERS),
  });
}

async function answer(exchange: Exchange): Promise<void> {
  const { edge } = exchange;
  const method = exchange.request.method ?? 'GET';
  const match = edge.routes.match(method, exchange.path);
  const isHealth = match.kind === 'route' && match.route.kind === 'health';
  if (exchange.settings.addressFilter.enabled && !isHealth) {
    edge.access.addresses.enter(exchange.clientAddress);
  }
  if (method === 'OPTIONS') return sendPreflight(exchange);
  if (match.kind === 'wrong-method' && exchange.upgrade !== undefined) {
    await authenticateExchange(exchange);
    return exchange.upgrade(exchange);
  }
  if (match.kind !== 'route') {
    if (await answerConsoleFile(exchange, match)) return;
    return refuseRoute(exchange, match);
  }
  const { route, parameter, deployment } = match;
  if (route.kind === 'health') return sendHealth(exchange, route.asks);
  if (route.kind === 'admin') {
    const peer = peerOf(exchange);
    return runAdminRoute(exchange, { route: route.route, parameter, peer });
  }
  const looked = authenticateExchange(exchange);
  if (looked !== undefined) await looked;
  if (route.kind === 'service') return runService(exchange, route.route);
  const { offers } = route;
  const offer = offers.length === 1 ? offers[0] : pickOffer(exchange, offers);
  exchange.protocol = offer.protocol;
  await runRoute(exchange, { route: offer.route, pathModel: parameter, deployment });
}

function sendHealth(exchange: Exchange, asks: HealthQuestion): void {
  const { activity, version } = exchange.edge;
  const isReady = activity.phase === 'serving' || activity.phase === 'replaced';
  const isWanted = asks === 'ready' ? isReady : !activity.isStopping;
  const isOk = asks === 'live' || isWanted;
  const status = isOk ? 'ok' : activity.isStopping ? 'draining' : 'starting';
  const body = { status, version };
  if (isOk) sendJson(exchange, { status: 200, body });
  else sendJson(exchange, { status: 503, body, headers: ['retry-after', '1'] });
}

function sendPreflight(exchange: Exchange): void {
  const { edge, headers, settings, response, requestId, path } = exchange;
  // No route is for OPTIONS itself, so a known path says which methods it takes.
  const match = edge.routes.match('OPTIONS', path);
  const allow = match.kind === 'wrong-method' ? match.allow.join(', ') : 'OPTIONS';
  const list = ['x-request-id', requestId, 'allow', allow];
  if (edge.activity.closesConnections) list.push('connection', 'close');
  response.writeHead(204, [...list, ...preflightHeaders(headers, settings.corsOrigins, allow)]);
  response.end();
}

function refuseRoute(exchange: Exchange, match: Exclude<RouteMatch, { kind: 'route' }>): void {
  const { path, request, headers } = exchange;
  if (match.kind === 'unknown') {
    const message = `There is no ${path} here. ${sayWayOut(path, match.meant)}`;
    sendError(exchange, clientError('not-found', message));
  } else if (headers.upgrade?.toLowerCase() === 'websocket') {
    // Coding CLIs try a WebSocket first; this answer, and no other, makes them go on over HTTP at once.
    const error = clientError('upgrade-refused', `${path} speaks HTTP only; send a POST.`);
    sendError(exchange, error, ['upgrade', 'HTTP/1.1']);
  } else {
    const allow = match.allow.join(', ');
    const message = `${path} does not take ${request.method}; use ${allow}.`;
    sendError(exchange, clientError('method-not-allowed', message), ['allow', allow]);
  }
}

function authenticateExchange(exchange: Exchange): undefined | Promise<void> {
  const credentials = readCredentials(exchange.headers, exchange.query);
  exchange.credentials = credentials;
  try {
    authenticateBy(credentials, exchange);
    return undefined;
  } catch (error) {
    const isUnknown = error instanceof GatewayError && error.kind === 'unauthenticated';
    const looked = isUnknown ? exchange.edge.access.keys.lookAgain(credentials) : undefined;
    if (looked === undefined) throw error;
    return looked.then(() => authenticateBy(credentials, exchange));
  }
}

function authenticateBy(credentials: readonly string[], exchange: Exchange): void {
  const { edge, settings, clientAddress: address } = exchange;
  const { keys: keyBook, guesses } = edge.access;
  const ring = edge.keyRing();
  exchange.clientKeyId = authenticate({
    mode: settings.authMode,
    keys: keyBook.isEmpty ? ring : withPersonKeys(keyBook, ring),
    credentials,
    corsOrigins: settings.corsOrigins,
    checkGuess: (guess) => guesses.check({ address, credentials, ...guess }),
    peer: peerOf(exchange),
  });
  if (!keyBook.isEmpty) keyBook.enter(exchange.clientKeyId, address);
}

/** A person's key decides before the others that are shown: beside it nobody learns whether a guess is right. */
function withPersonKeys(keyBook: Edge['access']['keys'], ring: KeyRing): KeyRing {
  return {
    isEmpty: false,
    find: (credentials) => keyBook.identify(credentials) ?? ring.find(credentials),
  };
}

function peerOf({ request, headers, settings }: Exchange): PeerInput {
  return {
    peer: request.socket.remoteAddress,
    port: request.socket.localPort ?? settings.port,
    headers,
    allowedHosts: settings.allowedHosts,
  };
}

function pickOffer(
  { edge, headers, query }: Exchange,
  offers: readonly [RouteOffer, ...RouteOffer[]],
): RouteOffer {
  const protocol = edge.protocols.pickListProtocol(headers, query);
  return offers.find((offer) => offer.protocol === protocol) ?? offers[0];
}

/** Does nothing for errors that have another cause. */
function noteRefusal(exchange: Exchange, error: GatewayError): void {
  // The rates of keys are the monitor's matter.
  const isStranger = isAdminPath(exchange.path) || exchange.clientKeyId === '';
  const verdict = verdictOf(error, isStranger);
  if (verdict === undefined) return;
  const entry = {
    verdict,
    address: exchange.clientAddress,
    method: exchange.request.method ?? 'GET',
    path: exchange.path,
    keyId: exchange.clientKeyId === '' ? undefined : exchange.clientKeyId,
    reason: error.sentence,
  };
  exchange.edge.access.accessLog.add(entry, readCredentials(exchange.headers, exchange.query));
}

function verdictOf(error: GatewayError, isStranger: boolean): AccessVerdict | undefined {
  if (error.source !== 'client') return undefined;
  switch (error.kind) {
    case 'unauthenticated':
      return 'unauthenticated';
    case 'forbidden':
      return error.reason === 'address-blocked' ? 'blocked' : 'rejected';
    case 'rate-limited':
      return isStranger ? 'throttled' : undefined;
    default:
      return undefined;
  }
}

/** One year, the longest that means anything (RFC 9111). */
const FOREVER = 'public, max-age=31536000, immutable';

/** What every page and file of the console is sent with. */
const GUARDS = [
  ...['referrer-policy', 'no-referrer', 'x-frame-options', 'DENY'],
  ...['cross-origin-opener-policy', 'same-origin', 'cross-origin-resource-policy', 'same-origin'],
] as const;

/** False when the request is not for the console. */
async function answerConsoleFile(
  exchange: Exchange,
  match: Exclude<RouteMatch, { kind: 'route' }>,
): Promise<boolean> {
  const { edge, request, path } = exchange;
  const files = edge.consoleFiles;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (files === undefined || match.kind !== 'unknown' || !isRead) return false;
  const file = files.find(path);
  if (file !== undefined) await sendFile(exchange, file);
  else if (path === '/' || isPageRequest(exchange)) sendPage(exchange);
  else return false;
  return true;
}

/** Pages of the console have paths without an ending that begin like no route of ours. */
function isPageRequest({ edge, path, headers }: Exchange): boolean {
  if (!headers.accept?.includes('text/html')) return false;
  const [, first = ''] = path.split('/');
  if (path.includes('.') || first === 'assets') return false;
  return !edge.routes.routes.some((route) => route.path.split('/')[1] === first);
}

function sendPage(exchange: Exchange): void {
  const page = exchange.edge.consoleFiles?.page(exchange.path);
  if (page === undefined) return;
  sendText(exchange, {
    status: 200,
    text: page.html,
    type: 'text/html; charset=utf-8',
    headers: [...GUARDS, 'cache-control', 'no-store', 'content-security-policy', page.policy],
  });
}

async function sendFile(exchange: Exchange, file: ConsoleFile): Promise<void> {
  const { headers } = exchange;
  const { type, etag } = file;
  const list = [...GUARDS, 'etag', etag, 'vary', 'accept-encoding'];
  list.push('cache-control', file.isHashed ? FOREVER : 'no-cache');
  // An image opened by itself is a page too.
  list.push('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  if (headers['if-none-match']?.split(',').some((tag) => tag.trim() === etag)) {
    return sendText(exchange, { status: 304, type, headers: list });
  }
  const accepted = headers['accept-encoding'] ?? '';
  const coding = file.codings.find(({ name }) => acceptsCoding(accepted, name));
  if (coding !== undefined) list.push('content-encoding', coding.name);
  const text = (await coding?.body()) ?? file.content;
  sendText(exchange, { status: 200, text, type, headers: list });
}

/** A path with the version all surfaces of the protocols stand under: the base URL is right. */
const VERSIONED = /^(?:(?:\/upload)?\/v1(?:beta|alpha)?|\/openai)\//;

/** What the protocols have and clients look for, and the gateway does not. */
const NOT_OFFERED: readonly (readonly [RegExp, string])[] = [
  [
    /\/batches(?:\/|$)|:(?:asyncB|b)atch\w+$/,
    'Batches are not offered; send each request by itself.',
  ],
  [/\/(?:files|uploads)(?:\/|$)/, 'Files are not stored; send their content in the request.'],
  [
    /\/cachedContents(?:\/|$)/,
    'Caches are not kept; the upstream finds repeated prompts by itself.',
  ],
  // `@google/genai`, `client.interactions`.
  [/\/interactions(?:\/|$)/, 'Interactions are not offered; use generateContent.'],
];

/** The second sentence of a 404: `path` is asked for without its query. */
function sayWayOut(path: string, meant: string | undefined): string {
  if (meant !== undefined) {
    return `The right path is ${meant}: check the base URL this client is configured with.`;
  }
  if (FOREIGN_API.test(path)) {
    return 'This protocol is not offered: configure the client as OpenAI-compatible, with the base URL that ends in /v1.';
  }
  if (!VERSIONED.test(path)) {
    return 'Check the base URL and the path this client is configured with.';
  }
  const known = NOT_OFFERED.find(([pattern]) => pattern.test(path));
  return known?.[1] ?? 'This part of the protocol is not offered, or the path is misspelt.';
}
