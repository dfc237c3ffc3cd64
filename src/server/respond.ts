// Writes whole answers: JSON with its length, errors in the client's own protocol.

import type { IncomingMessage } from 'node:http';
import { asGatewayError, type GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { isAdminPath, writeAdminError } from './admin-error.ts';
import { baseHeaders, retryHeaders } from './answer-headers.ts';
import type { Edge, Exchange } from './edge.ts';
import { endAnswer } from './end-answer.ts';

export interface JsonAnswer {
  readonly status: number;
  readonly body: JsonObject;
  /** Names and values alternating. */
  readonly headers?: readonly string[];
}

/** A rest of a body up to this size is read and forgotten so that the connection can stay. */
const MAX_FORGOTTEN_BYTES = 1_048_576;
/** How long a client that still sends may take to notice the answer before the connection closes. */
const LINGER_MS = 1_000;
/** How long the rest of a forgotten body may take before the connection closes. */
const REST_MS = 5_000;

export interface TextAnswer extends Omit<JsonAnswer, 'body'> {
  /** Bytes where the text was compressed; the headers say how. */
  readonly text: string | Buffer;
  /** The content type. */
  readonly type: string;
}

/** Does nothing when an answer has begun or the client has left. */
export function sendJson(edge: Edge, exchange: Exchange, { body, ...rest }: JsonAnswer): void {
  const text = JSON.stringify(body);
  sendText(edge, exchange, { ...rest, text, type: 'application/json; charset=utf-8' });
}

/** In characters: it may wait long for a slow reader, as text and as bytes. */
const LARGE_ANSWER = 1_048_576;

/** As `sendJson`. */
export function sendText(edge: Edge, exchange: Exchange, answer: TextAnswer): void {
  const { request, response } = exchange;
  if (response.headersSent || response.destroyed) return;
  const { text } = answer;
  if (text.length >= LARGE_ANSWER) edge.bodies.add(exchange, 2 * text.length);
  const headers = baseHeaders(edge, exchange);
  headers.push('content-type', answer.type);
  headers.push('content-length', String(Buffer.byteLength(text)));
  if (answer.headers !== undefined) headers.push(...answer.headers);
  if (isStillSending(request)) {
    if (!edge.activity.draining) headers.push('connection', 'close');
    response.writeHead(answer.status, headers);
    endLater(exchange, { text, clock: edge.clock });
    return;
  }
  if (!request.complete) forgetRest(request, edge.clock);
  response.writeHead(answer.status, headers);
  endAnswer(response, text, edge.clock);
}

/** Renders an error once, through the protocol of the path. Unknown errors become `internal` and are logged with their cause. */
export function sendError(
  edge: Edge,
  exchange: Exchange,
  thrown: unknown,
  extraHeaders: readonly string[] = [],
): void {
  const error = asGatewayError(thrown);
  exchange.record.error ??= error;
  if (error.kind === 'client-gone' || exchange.response.headersSent) return;
  if (error.kind === 'internal') logInternal(edge, exchange, error);
  const isAdmin = isAdminPath(exchange.path);
  const { status, body } = isAdmin
    ? writeAdminError(error)
    : exchange.protocol.writeError(error, {
        requestId: exchange.requestId,
        path: exchange.path,
      });
  const headers = [...retryHeaders(error, status), ...extraHeaders];
  if (isAdmin) headers.push('cache-control', 'no-store');
  if (status === 401) headers.push('www-authenticate', 'Bearer realm="isthmus"');
  sendJson(edge, exchange, { status, body, headers });
}

export function logInternal(edge: Edge, exchange: Exchange, error: GatewayError): void {
  const { requestId, path } = exchange;
  edge.log.error(
    { requestId, path, err: error.cause ?? error },
    'request failed inside the gateway',
  );
}

function isStillSending(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const declared = request.headers['content-length'];
  if (declared !== undefined) return Number(declared) > MAX_FORGOTTEN_BYTES;
  return request.headers['transfer-encoding'] !== undefined;
}

/** Reads what is left of a body for a while, so that a sender who never ends holds no connection. */
function forgetRest(request: IncomingMessage, clock: Clock): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared === 0) return;
  const timer = clock.startTimer(REST_MS, () => request.socket.destroySoon());
  request.once('close', () => timer.cancel());
  request.resume();
}

/**
 * Sends the answer at once but closes only when the client has stopped sending or a moment has
 * passed: closing a socket with unread bytes resets it, and the client would lose the answer.
 */
function endLater(
  exchange: Exchange,
  { text, clock }: { readonly text: string | Buffer; readonly clock: Clock },
): void {
  const { request, response } = exchange;
  const finish = (): void => {
    timer.cancel();
    response.end();
  };
  const timer = clock.startTimer(LINGER_MS, finish);
  request.once('close', finish);
  if (request.method !== 'HEAD') response.write(text);
  exchange.isAnswered = true;
  request.resume();
}
