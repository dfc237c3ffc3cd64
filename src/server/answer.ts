// Takes a request through routing, authentication and the choice of protocol to its route or console file.

import type { AccessVerdict } from '../access/access-log.ts';
import { clientError, type GatewayError } from '../canonical/error.ts';
import { runAdminRoute } from './admin.ts';
import type { ConsoleFile } from './console.ts';
import type { Edge, Exchange } from './edge.ts';
import { authenticate, type KeyRing, readCredentials } from './gates/authenticate.ts';
import { preflightHeaders } from './gates/cors.ts';
import type { PeerInput } from './gates/locality.ts';
import { isAdminPath, sendError, sendJson, sendText } from './respond.ts';
import type { RouteMatch, RouteOffer } from './routes.ts';
import { runRoute } from './run-route.ts';
import { acceptsCoding } from './settings.ts';

/** @throws GatewayError, or anything unforeseen, to render in the protocol of `exchange`. */
export async function answer(edge: Edge, exchange: Exchange): Promise<void> {
  const method = exchange.request.method ?? 'GET';
  const match = edge.routes.match(method, exchange.path);
  const isHealth = match.kind === 'route' && match.route.kind === 'health';
  if (exchange.settings.addressFilter.enabled && !isHealth) {
    edge.access.addresses.enter(exchange.clientAddress);
  }
  if (method === 'OPTIONS') return sendPreflight(edge, exchange);
  if (match.kind !== 'route') {
    if (await answerConsoleFile(edge, exchange, match)) return;
    return refuseRoute(edge, exchange, match);
  }
  const { route, parameter } = match;
  if (route.kind === 'health') return sendHealth(edge, exchange);
  if (route.kind === 'admin') {
    const peer = peerOf(exchange);
    return runAdminRoute(edge, exchange, { route: route.route, parameter, peer });
  }
  authenticateExchange(edge, exchange);
  const { offers } = route;
  const offer = offers.length === 1 ? offers[0] : pickOffer(edge, exchange, offers);
  exchange.protocol = offer.protocol;
  await runRoute(edge, exchange, { route: offer.route, pathModel: parameter });
}

function sendPreflight(edge: Edge, exchange: Exchange): void {
  const { headers, settings, response, requestId, path } = exchange;
  // No route is for OPTIONS itself, so a known path says which methods it takes.
  const match = edge.routes.match('OPTIONS', path);
  const allow = match.kind === 'wrong-method' ? match.allow.join(', ') : 'OPTIONS';
  const list = ['x-request-id', requestId, 'allow', allow];
  if (edge.activity.draining) list.push('connection', 'close');
  response.writeHead(204, [...list, ...preflightHeaders(headers, settings.corsOrigins, allow)]);
  response.end();
}

function sendHealth(edge: Edge, exchange: Exchange): void {
  const { draining } = edge.activity;
  const status = draining ? 'draining' : 'ok';
  const body = { status, version: edge.version };
  sendJson(edge, exchange, { status: draining ? 503 : 200, body });
}

function refuseRoute(
  edge: Edge,
  exchange: Exchange,
  match: Exclude<RouteMatch, { kind: 'route' }>,
): void {
  const { path, request, headers } = exchange;
  if (match.kind === 'unknown') {
    const message = `There is no ${path} here. ${sayWayOut(path, match.meant)}`;
    sendError(edge, exchange, clientError('not-found', message));
  } else if (headers.upgrade?.toLowerCase() === 'websocket') {
    // Coding CLIs try a WebSocket first; this answer, and no other, makes them go on over HTTP at once.
    const error = clientError('upgrade-refused', `${path} speaks HTTP only; send a POST.`);
    sendError(edge, exchange, error, ['upgrade', 'HTTP/1.1']);
  } else {
    const allow = match.allow.join(', ');
    const message = `${path} does not take ${request.method}; use ${allow}.`;
    sendError(edge, exchange, clientError('method-not-allowed', message), ['allow', allow]);
  }
}

/** @throws GatewayError unauthenticated, rate-limited, or forbidden by a rule of the key */
function authenticateExchange(edge: Edge, exchange: Exchange): void {
  const { headers, settings, query, clientAddress: address } = exchange;
  const { keys: keyBook, guesses } = edge.access;
  const credentials = readCredentials(headers, query);
  const ring = edge.keyRing(settings);
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
  edge: Edge,
  { headers, query }: Exchange,
  offers: readonly [RouteOffer, ...RouteOffer[]],
): RouteOffer {
  const protocol = edge.protocols.pickListProtocol(headers, query);
  return offers.find((offer) => offer.protocol === protocol) ?? offers[0];
}

/** A path with the version all surfaces of the protocols stand under: the base URL is right. */
const VERSIONED = /^(?:\/upload)?\/v1(?:beta|alpha)?\//;

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
];

/** The second sentence of a 404: `path` is asked for without its query. */
export function sayWayOut(path: string, meant: string | undefined): string {
  if (meant !== undefined) {
    return `The right path is ${meant}: check the base URL this client is configured with.`;
  }
  if (!VERSIONED.test(path)) {
    return 'Check the base URL and the path this client is configured with.';
  }
  const known = NOT_OFFERED.find(([pattern]) => pattern.test(path));
  return known?.[1] ?? 'This part of the protocol is not offered, or the path is misspelt.';
}

/** Does nothing for errors that have another cause. */
export function noteRefusal(edge: Edge, exchange: Exchange, error: GatewayError): void {
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
  edge.access.accessLog.add(entry, readCredentials(exchange.headers, exchange.query));
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
  edge: Edge,
  exchange: Exchange,
  match: Exclude<RouteMatch, { kind: 'route' }>,
): Promise<boolean> {
  const { request, path } = exchange;
  const files = edge.consoleFiles;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (files === undefined || match.kind !== 'unknown' || !isRead) return false;
  const file = files.find(path);
  if (file !== undefined) await sendFile(edge, exchange, file);
  else if (path === '/' || isPageRequest(edge, exchange)) sendPage(edge, exchange);
  else return false;
  return true;
}

/** Pages of the console have paths without an ending that begin like no route of ours. */
function isPageRequest({ routes }: Edge, { path, headers }: Exchange): boolean {
  if (!headers.accept?.includes('text/html')) return false;
  const [, first = ''] = path.split('/');
  if (path.includes('.') || first === 'assets') return false;
  return !routes.routes.some((route) => route.path.split('/')[1] === first);
}

function sendPage(edge: Edge, exchange: Exchange): void {
  const page = edge.consoleFiles?.page();
  if (page === undefined) return;
  sendText(edge, exchange, {
    status: 200,
    text: page.html,
    type: 'text/html; charset=utf-8',
    headers: [...GUARDS, 'cache-control', 'no-store', 'content-security-policy', page.policy],
  });
}

async function sendFile(edge: Edge, exchange: Exchange, file: ConsoleFile): Promise<void> {
  const { headers } = exchange;
  const { type, etag } = file;
  const list = [...GUARDS, 'etag', etag, 'vary', 'accept-encoding'];
  list.push('cache-control', file.isHashed ? FOREVER : 'no-cache');
  // An image opened by itself is a page too.
  list.push('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  if (headers['if-none-match']?.split(',').some((tag) => tag.trim() === etag)) {
    return sendText(edge, exchange, { status: 304, type, headers: list });
  }
  const accepted = headers['accept-encoding'] ?? '';
  const coding = file.codings.find(({ name }) => acceptsCoding(accepted, name));
  if (coding !== undefined) list.push('content-encoding', coding.name);
  const text = (await coding?.body()) ?? file.content;
  sendText(edge, exchange, { status: 200, text, type, headers: list });
}
