// Runs a route of the admin API: credential, origin, body, then the answer that no cache may keep.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { invalidRequest } from '../canonical/error.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/told.ts';
import { readCaller } from './admin-caller.ts';
import type { AdminAnswer, AdminCaller, AdminRoute } from './admin-route.ts';
import { sendEvents } from './admin-stream.ts';
import { baseHeaders } from './answer-headers.ts';
import { bodyInput } from './body-input.ts';
import { startDeadline } from './deadline.ts';
import type { Edge, Exchange } from './edge.ts';
import { endAnswer } from './end-answer.ts';
import { readJsonBody } from './gates/body.ts';
import { authenticateConsole, type ConsoleEntry, checkBrowserCall } from './gates/console.ts';
import { readCredentials } from './gates/credentials.ts';
import { classifyPeer, type PeerInput } from './gates/locality.ts';
import type { ByteLimits } from './gates/read-bytes.ts';
import { acceptsCoding } from './headers.ts';
import { sendError, sendText } from './respond.ts';

export interface MatchedAdminRoute {
  readonly route: AdminRoute;
  readonly parameter: string;
  readonly peer: PeerInput;
}

const NO_STORE = ['cache-control', 'no-store'] as const;

/** @throws GatewayError, or anything unforeseen, while no answer has begun. */
export async function runAdminRoute(
  edge: Edge,
  exchange: Exchange,
  { route, parameter, peer }: MatchedAdminRoute,
): Promise<void> {
  const { request, headers, settings, query, requestId, abort } = exchange;
  const stranger = readCaller(edge, exchange, peer);
  const { isStillIn, hasShownPassword } = await letIn(edge, exchange, {
    route,
    peer,
    caller: stranger,
  });
  const caller: AdminCaller = { ...stranger, hasShownPassword };
  const body = await readBody(edge, exchange, route);
  const deadline = startDeadline(edge.clock, abort, settings.requestTimeoutMs);
  const onAbort = (): void => sendError(edge, exchange, abort.signal.reason);
  abort.signal.addEventListener('abort', onAbort, { once: true });
  try {
    const answer = await route.run({
      body,
      query,
      parameter,
      ifMatch: headers['if-match'],
      lastEventId: headers['last-event-id'],
      isHead: request.method === 'HEAD',
      requestId,
      caller,
      signal: abort.signal,
    });
    if (answer.kind === 'events') {
      deadline.cancel();
      const isWelcome = (): boolean => isStillIn() && !hasToStayOut(edge, exchange);
      await sendEvents(edge, exchange, answer.frames, isWelcome);
    } else await sendAnswer(edge, exchange, answer);
  } finally {
    deadline.cancel();
    abort.signal.removeEventListener('abort', onAbort);
  }
}

/** By a rule that came while an answer goes on. */
function hasToStayOut({ settings, door }: Edge, { clientAddress }: Exchange): boolean {
  if (!settings().addressFilter.enabled) return false;
  return door.addresses.explain(clientAddress).verdict === 'denied';
}

/** Of routes that ask for no credential. */
const UNASKED: ConsoleEntry = { isStillIn: () => true, hasShownPassword: false };

interface AdminVisit {
  readonly route: AdminRoute;
  readonly peer: PeerInput;
  readonly caller: AdminCaller;
}

/**
 * @throws GatewayError unauthenticated, forbidden or rate-limited
 */
async function letIn(
  edge: Edge,
  exchange: Exchange,
  { route, peer, caller }: AdminVisit,
): Promise<ConsoleEntry> {
  const { method = 'GET' } = exchange.request;
  // Signing in and out change something too: no other page may make a browser do it.
  if (route.access === 'public') {
    if (method !== 'GET' && method !== 'HEAD') checkBrowserCall({ method, peer });
    return UNASKED;
  }
  if (route.access === 'console-or-local' && classifyPeer(peer) === 'local') return UNASKED;
  const entry = await authenticateConsole({
    login: edge.door.login,
    // Not from the address: it stands in histories and logs.
    credentials: readCredentials(exchange.headers, new URLSearchParams()),
    cookie: caller.cookie,
    method,
    address: caller.address,
    peer,
  });
  exchange.clientKeyId = 'console';
  return entry;
}

/** Nobody has shown a credential yet: enough for one, and nothing that costs memory. */
const MOST_OF_STRANGERS = { maxBytes: 16_384, limitOf: told`this route` };

/** However small the limit of model requests is: what is set here must be possible to set again. */
const LEAST_FOR_OPERATORS = 104_857_600;

/** A model request that is tried out here may be as large as there. */
function mostOfOperators({ maxBytes }: ByteLimits): Pick<ByteLimits, 'maxBytes' | 'limitOf'> {
  return { maxBytes: Math.max(maxBytes, LEAST_FOR_OPERATORS), limitOf: told`the admin API` };
}

/** Reads a body where one was sent, and takes none where the route has no use for it. */
async function readBody(
  edge: Edge,
  exchange: Exchange,
  route: AdminRoute,
): Promise<JsonObject | undefined> {
  const { headers } = exchange;
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  const isSent = encoding !== undefined || (length !== undefined && Number(length) > 0);
  if (!isSent) return undefined;
  if (route.method === 'GET' || (route.access === 'public' && route.takesBody !== true)) {
    throw invalidRequest('body', told`${route.method} ${route.path} takes no body.`);
  }
  const input = bodyInput(edge, exchange);
  const limits = route.access === 'public' ? MOST_OF_STRANGERS : mostOfOperators(input);
  const body = await readJsonBody({ ...input, ...limits });
  exchange.abort.signal.throwIfAborted();
  return body;
}

async function sendAnswer(
  edge: Edge,
  exchange: Exchange,
  answer: Exclude<AdminAnswer, { kind: 'events' }>,
): Promise<void> {
  switch (answer.kind) {
    case 'json': {
      const { status, body, revision } = answer;
      const etag = revision === undefined ? [] : ['etag', `"${revision}"`];
      const headers = [...NO_STORE, ...etag, ...cookieOf(answer)];
      const { text, coding } = await compress(JSON.stringify(body), exchange.headers);
      const type = 'application/json; charset=utf-8';
      sendText(edge, exchange, { status, text, type, headers: [...headers, ...coding] });
      break;
    }
    case 'empty':
      sendBare(edge, exchange, { status: 204, headers: cookieOf(answer) });
      break;
    case 'text': {
      const { contentType, text } = answer;
      const headers = ['content-type', contentType, 'content-length', `${Buffer.byteLength(text)}`];
      sendBare(edge, exchange, { status: 200, headers, text });
      break;
    }
    case 'redirect':
      sendBare(edge, exchange, {
        status: 303,
        headers: [
          ...['location', answer.location, ...PAGE_HEADERS, 'content-length', '0'],
          ...cookieOf(answer),
        ],
      });
      break;
    case 'page': {
      const { html, styleHash } = answer;
      sendBare(edge, exchange, { status: 200, headers: pageHeaders(html, styleHash), text: html });
      break;
    }
    default:
      answer satisfies never;
  }
}

/** Below this a list is one packet or two. */
const LEAST_COMPRESSED = 2_048;
const gzipped = promisify(gzip);

/** Lists of records are texts that say the same again and again. */
async function compress(
  text: string,
  { 'accept-encoding': accepted = '' }: Exchange['headers'],
): Promise<{ readonly text: string | Buffer; readonly coding: readonly string[] }> {
  const vary = ['vary', 'accept-encoding'];
  if (text.length < LEAST_COMPRESSED || !acceptsCoding(accepted, 'gzip'))
    return { text, coding: vary };
  return { text: await gzipped(text), coding: [...vary, 'content-encoding', 'gzip'] };
}

function cookieOf({ cookie }: { readonly cookie?: string | undefined }): readonly string[] {
  return cookie === undefined ? [] : ['set-cookie', cookie];
}

interface TextAnswer {
  readonly status: number;
  /** Names and values alternating. */
  readonly headers: readonly string[];
  readonly text?: string;
}

/** Does nothing when an answer has begun or the client has left. */
function sendBare(edge: Edge, exchange: Exchange, { status, headers, text }: TextAnswer): void {
  const { response } = exchange;
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, [...baseHeaders(edge, exchange), ...NO_STORE, ...headers]);
  endAnswer(response, text, edge.clock);
}

/** The address of such a page may hold a code: it goes nowhere else, and nothing else comes in. */
const PAGE_HEADERS = ['referrer-policy', 'no-referrer', 'x-frame-options', 'DENY'] as const;

function pageHeaders(html: string, styleHash: string): readonly string[] {
  const policy =
    `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; ` +
    `form-action 'none'; frame-ancestors 'none'`;
  return [
    ...PAGE_HEADERS,
    ...['content-security-policy', policy],
    ...['content-type', 'text/html; charset=utf-8'],
    ...['content-length', String(Buffer.byteLength(html))],
  ];
}
