// Takes a request through routing, authentication and the choice of protocol to its route.

import { GatewayError } from '../canonical/error.ts';
import type { AdminRoute } from './admin-route.ts';
import type { Edge, Exchange } from './edge.ts';
import { authenticate } from './gates/authenticate.ts';
import { readJsonBody } from './gates/body.ts';
import { authenticateConsole } from './gates/console.ts';
import { preflightHeaders } from './gates/cors.ts';
import { readCredentials } from './gates/credentials.ts';
import type { PeerInput } from './gates/locality.ts';
import { sendError, sendJson } from './respond.ts';
import type { EdgeRoute, RouteMatch, RouteOffer } from './routes.ts';
import { runRoute } from './run-route.ts';

/** @throws GatewayError, or anything unforeseen, to render in the protocol of `exchange`. */
export async function answer(edge: Edge, exchange: Exchange): Promise<void> {
  const method = exchange.request.method ?? 'GET';
  if (method === 'OPTIONS') return sendPreflight(edge, exchange);
  const match = edge.routes.match(method, exchange.path);
  if (match.kind !== 'route') return refuseRoute(edge, exchange, match);
  const { route, pathModel } = match;
  if (route.kind === 'health') return sendHealth(edge, exchange);
  if (route.kind === 'admin') return runAdminRoute(edge, exchange, route.route);
  exchange.clientKeyId = authenticateExchange(edge, exchange);
  const offer = pickOffer(edge, exchange, route);
  exchange.protocol = offer.protocol;
  await runRoute(edge, exchange, { route: offer.route, pathModel });
}

function sendPreflight(edge: Edge, { headers, settings, response, requestId }: Exchange): void {
  const list = ['x-request-id', requestId, 'allow', 'GET, HEAD, POST, OPTIONS'];
  if (edge.activity.draining) list.push('connection', 'close');
  response.writeHead(204, [...list, ...preflightHeaders(headers, settings.corsOrigins)]);
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
  const wayOut =
    match.meant === undefined
      ? 'Check the base URL and the path this client is configured with.'
      : `The right path is ${match.meant}: check the base URL this client is configured with.`;
  const message = `There is no ${path} here. ${wayOut}`;
  return new GatewayError({ kind: 'not-found', source: 'client', message });
}

/** @throws GatewayError unauthenticated */
function authenticateExchange(edge: Edge, exchange: Exchange): string {
  const { headers, settings, query } = exchange;
  return authenticate({
    mode: settings.authMode,
    keys: edge.keyRing(settings),
    credentials: readCredentials(headers, query),
    corsOrigins: settings.corsOrigins,
    peer: peerOf(exchange),
  }).clientKeyId;
}

async function runAdminRoute(edge: Edge, exchange: Exchange, route: AdminRoute): Promise<void> {
  const { request, response, headers, settings, query, requestId, abort } = exchange;
  authenticateConsole({
    password: settings.consolePassword,
    credentials: readCredentials(headers, new URLSearchParams()),
    peer: peerOf(exchange),
  });
  const { maxBodyBytes: maxBytes } = settings;
  const hasBody = route.method !== 'GET';
  const body = hasBody
    ? await readJsonBody({ request, response, maxBytes, clock: edge.clock })
    : {};
  const answered = await route.run({ body, query, requestId, signal: abort.signal });
  sendJson(edge, exchange, { status: 200, body: answered });
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
