// Takes a request through routing, authentication and the choice of protocol to its route.

import { asGatewayError, GatewayError } from '../canonical/error.ts';
import { answerConsoleFile } from './answer-console-file.ts';
import type { Edge, Exchange } from './edge.ts';
import { authenticate } from './gates/authenticate.ts';
import { preflightHeaders } from './gates/cors.ts';
import { type KeyRing, readCredentials } from './gates/credentials.ts';
import type { PeerInput } from './gates/locality.ts';
import { sayWayOut } from './missing-path.ts';
import { noteRefusal } from './note-refusal.ts';
import { sendError, sendJson } from './respond.ts';
import type { EdgeRoute, RouteMatch, RouteOffer } from './routes.ts';
import { runAdminRoute } from './run-admin.ts';
import { runRoute } from './run-route.ts';

/** @throws GatewayError, or anything unforeseen, to render in the protocol of `exchange`. */
export async function answer(edge: Edge, exchange: Exchange): Promise<void> {
  try {
    await answerMatched(edge, exchange);
  } catch (error) {
    noteRefusal(edge, exchange, asGatewayError(error));
    throw error;
  }
}

async function answerMatched(edge: Edge, exchange: Exchange): Promise<void> {
  const method = exchange.request.method ?? 'GET';
  const match = edge.routes.match(method, exchange.path);
  if (match.kind === 'route' && match.route.kind === 'health') return sendHealth(edge, exchange);
  if (exchange.settings.addressFilter.enabled) {
    edge.door.addresses.enter(exchange.clientAddress);
  }
  if (method === 'OPTIONS') return sendPreflight(edge, exchange);
  if (match.kind !== 'route') {
    if (answerConsoleFile(edge, exchange, match)) return;
    return refuseRoute(edge, exchange, match);
  }
  const { route, parameter } = match;
  if (route.kind === 'health') return sendHealth(edge, exchange);
  if (route.kind === 'admin') {
    const peer = peerOf(exchange);
    return runAdminRoute(edge, exchange, { route: route.route, parameter, peer });
  }
  exchange.clientKeyId = authenticateExchange(edge, exchange);
  const offer = pickOffer(edge, exchange, route);
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

/** Coding CLIs try a WebSocket first; this answer, and no other, makes them go on over HTTP at once. */
function refuseUpgrade(edge: Edge, exchange: Exchange): void {
  const message = `${exchange.path} speaks HTTP only; send a POST.`;
  const error = new GatewayError({ kind: 'upgrade-refused', source: 'client', message });
  sendError(edge, exchange, error, ['upgrade', 'HTTP/1.1']);
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
  const isWebSocket = exchange.headers.upgrade?.toLowerCase() === 'websocket';
  if (match.kind === 'wrong-method' && isWebSocket) {
    refuseUpgrade(edge, exchange);
    return;
  }
  const error = routeError(exchange, match);
  const allow = match.kind === 'wrong-method' ? ['allow', match.allow.join(', ')] : [];
  sendError(edge, exchange, error, allow);
}

function routeError(
  { path, request }: Exchange,
  match: Exclude<RouteMatch, { kind: 'route' }>,
): GatewayError {
  if (match.kind === 'wrong-method') {
    const message = `${path} does not take ${request.method}; use ${match.allow.join(', ')}.`;
    return new GatewayError({ kind: 'method-not-allowed', source: 'client', message });
  }
  const message = `There is no ${path} here. ${sayWayOut(path, match.meant)}`;
  return new GatewayError({ kind: 'not-found', source: 'client', message });
}

/** @throws GatewayError unauthenticated, rate-limited, or forbidden by a rule of the key */
function authenticateExchange(edge: Edge, exchange: Exchange): string {
  const { headers, settings, query, clientAddress: address } = exchange;
  const credentials = readCredentials(headers, query);
  const { clientKeyId } = authenticate({
    mode: settings.authMode,
    keys: withPersonKeys(edge, edge.keyRing(settings)),
    credentials,
    corsOrigins: settings.corsOrigins,
    checkGuess: (guess) => edge.door.guesses.check({ address, credentials, ...guess }),
    peer: peerOf(exchange),
  });
  exchange.clientKeyId = clientKeyId;
  if (!edge.door.keyGate.isEmpty) edge.door.keyGate.enter(clientKeyId, address);
  return clientKeyId;
}

/** A person's key decides before the others that are shown: beside it nobody learns whether a guess is right. */
function withPersonKeys({ door }: Edge, ring: KeyRing): KeyRing {
  const { keyGate } = door;
  if (keyGate.isEmpty) return ring;
  return {
    isEmpty: false,
    find: (credentials) => keyGate.identify(credentials) ?? ring.find(credentials),
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
  { offers }: Extract<EdgeRoute, { kind: 'protocol' }>,
): RouteOffer {
  const [first] = offers;
  if (offers.length === 1) return first;
  const protocol = edge.protocols.pickListProtocol(headers, query);
  return offers.find((offer) => offer.protocol === protocol) ?? first;
}
