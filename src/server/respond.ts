// Writes whole answers: JSON, errors in the client's own protocol, and the headers that all answers have.

import type { IncomingMessage } from 'node:http';
import { ATTEMPTS_HEADER } from '../canonical/call-record.ts';
import {
  asGatewayError,
  type ErrorKind,
  errorStatus,
  type GatewayError,
} from '../canonical/error.ts';
import { RECEIPT_HEADER, summarizeReceipt } from '../canonical/receipt.ts';
import type { WholeAnswer } from '../dispatch/dispatcher.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { cutLongTexts, writeParts } from '../lib/json-parts.ts';
import { writeSentence } from '../lib/localized-message.ts';
import { relieveMemory } from '../lib/memory-limit.ts';
import type { ClientProtocol, ErrorReply } from '../protocols/protocol.ts';
import { FOREIGN_API } from '../wire/vocabulary.ts';
import { endAnswer } from './connections.ts';
import { corsHeaders } from './cors.ts';
import type { Exchange } from './edge.ts';
import { writeLimits } from './limit-headers.ts';

interface JsonAnswer {
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

interface TextAnswer extends Omit<JsonAnswer, 'body'> {
  /** Bytes where the text was compressed; the headers say how. Absent for answers without a body. */
  readonly text?: string | Buffer;
  readonly type?: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Does nothing when an answer has begun or the client has left. */
export function sendJson(exchange: Exchange, { body, ...rest }: JsonAnswer): void {
  const text = JSON.stringify(body);
  sendText(exchange, { ...rest, text, type: JSON_TYPE });
}

/** In characters: it may wait long for a slow reader, as text and as bytes. */
const LARGE_ANSWER = 1_048_576;

/** As `sendJson`. */
export function sendText(exchange: Exchange, answer: TextAnswer): void {
  const { edge, request, response } = exchange;
  if (response.headersSent || response.destroyed) return;
  const { status, text, type } = answer;
  if (typeof text === 'string') exchange.record.sentBody?.add(text);
  const headers = baseHeaders(exchange);
  if (type !== undefined) headers.push('content-type', type);
  if (text !== undefined) {
    if (text.length >= LARGE_ANSWER) {
      relieveMemory();
      edge.bodies.add(exchange, 2 * text.length);
    }
    headers.push('content-length', String(Buffer.byteLength(text)));
  }
  if (answer.headers !== undefined) headers.push(...answer.headers);
  if (isStillSending(request)) {
    if (!edge.activity.closesConnections) headers.push('connection', 'close');
    response.writeHead(status, headers);
    lingeringClose(exchange, { text, clock: edge.clock });
    return;
  }
  if (!request.complete) drainBody(request, edge.clock);
  response.writeHead(status, headers);
  endAnswer(response, text, edge.clock);
}

/** More than is kept of an answer in its record. */
const RECORDED_BYTES = 1_048_576;

export type AnswerBody = Pick<WholeAnswer, 'body' | 'heldBytes'>;

/** The text of a large one is never there as a whole beside its bytes, and others have their turn while it is written. */
export async function sendAnswer(
  exchange: Exchange,
  { body, heldBytes = 0 }: AnswerBody,
): Promise<void> {
  if (heldBytes === 0) return sendJson(exchange, { status: 200, body });
  const { bodies } = exchange.edge;
  bodies.add(exchange, heldBytes);
  const text = await writeParts(cutLongTexts(body, (json) => json));
  bodies.add(exchange, -heldBytes);
  exchange.record.sentBody?.add(text.toString('utf8', 0, RECORDED_BYTES));
  sendText(exchange, { status: 200, text, type: JSON_TYPE });
}

/** Renders an error once, through the protocol of the path. Unknown errors become `internal` and are logged with their cause. */
export function sendError(
  exchange: Exchange,
  thrown: unknown,
  extraHeaders: readonly string[] = [],
): void {
  const error = asGatewayError(thrown);
  exchange.record.error ??= error;
  if (error.kind === 'client-gone' || exchange.response.headersSent) return;
  if (error.kind === 'internal') logInternal(exchange, error);
  const isAdmin = isAdminPath(exchange.path);
  const { status, body } = isAdmin ? writeAdminError(error) : writeClientError(exchange, error);
  const headers = [...retryHeaders(error, status), ...extraHeaders];
  if (isAdmin) headers.push('cache-control', 'no-store');
  if (status === 401) headers.push('www-authenticate', 'Bearer realm="isthmus"');
  sendJson(exchange, { status, body, headers });
}

function writeClientError(exchange: Exchange, error: GatewayError): ErrorReply {
  const { requestId, path } = exchange;
  if (path.startsWith('/mcp/')) return writeRpcError(error);
  if (FOREIGN_API.test(path)) return { status: errorStatus(error), body: { error: error.message } };
  return protocolOf(exchange).writeError(error, { requestId, path });
}

/** JSON-RPC 2.0, "Error object"; the rest of the range for servers is used as the MCP SDKs do. */
const RPC_CODES: Readonly<Partial<Record<ErrorKind, number>>> = {
  'invalid-request': -32_600,
  internal: -32_603,
};
const RPC_PARSE_ERROR = -32_700;
const RPC_SERVER_ERROR = -32_000;

/** Answers of the transport itself belong to no request (MCP, "Streamable HTTP"). */
function writeRpcError(error: GatewayError): ErrorReply {
  const { kind, reason, message, field } = error;
  const isSyntax = reason === 'invalid-json';
  const code = isSyntax ? RPC_PARSE_ERROR : (RPC_CODES[kind] ?? RPC_SERVER_ERROR);
  const data = { kind: reason ?? kind, ...(field === undefined ? {} : { field }) };
  const body = { jsonrpc: '2.0', error: { code, message, data }, id: null };
  return { status: errorStatus(error), body };
}

/** In whose shape errors are written. */
export function protocolOf(exchange: Exchange): ClientProtocol {
  const { edge, protocol, path, headers, query } = exchange;
  return protocol ?? edge.protocols.protocolForPath(path, headers, query);
}

export function logInternal(exchange: Exchange, error: GatewayError): void {
  const { edge, requestId, path } = exchange;
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
function drainBody(request: IncomingMessage, clock: Clock): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared === 0) return;
  const timer = clock.startTimer(REST_MS, () => request.socket.destroySoon());
  request.once('close', () => timer.cancel());
  request.resume();
}

/** Closes once the client has stopped sending: closing before would lose it the answer. */
function lingeringClose(
  exchange: Exchange,
  { text, clock }: { readonly text: string | Buffer | undefined; readonly clock: Clock },
): void {
  const { request, response } = exchange;
  const finish = (): void => {
    timer.cancel();
    response.end();
  };
  const timer = clock.startTimer(LINGER_MS, finish);
  request.once('close', finish);
  if (request.method !== 'HEAD' && text !== undefined) response.write(text);
  exchange.isAnswered = true;
  request.resume();
}

/** Wait told to clients when nobody knows how long it takes. */
const DEFAULT_RETRY_AFTER_MS = 1_000;
/** Clients do not wait longer than this by themselves. */
const MAX_CLIENT_WAIT_MS = 60_000;
const RETRY_STATUSES = new Set([429, 502, 503, 504, 529]);
/** 4xx that SDKs retry, and may. */
const RETRYABLE_CLIENT_STATUSES = new Set([408, 409, 425, 429]);
const SAFE_MODEL_NAME = /^[\x21-\x7e]{1,256}$/;

/** Names and values alternating. */
export function baseHeaders(exchange: Exchange): string[] {
  const { edge, requestId, settings, record, receipt, headers } = exchange;
  // Chat SDKs read the first, Messages SDKs the second.
  const list = ['x-request-id', requestId, 'request-id', requestId];
  list.push('x-content-type-options', 'nosniff');
  if (edge.activity.closesConnections) list.push('connection', 'close');
  const lost = receipt.entries.length === 0 ? undefined : summarizeReceipt(receipt);
  if (lost !== undefined) list.push(RECEIPT_HEADER, lost);
  if (record.isSandbox) list.push('x-isthmus-sandbox', '1');
  if (record.isEstimate) list.push('x-isthmus-estimate', 'tokens');
  const model = record.upstreamModel ?? record.routedModel;
  if (model !== undefined && SAFE_MODEL_NAME.test(model)) list.push('x-isthmus-model', model);
  if (record.attempts.length > 0) list.push(ATTEMPTS_HEADER, String(record.attempts.length));
  if (exchange.limits !== undefined) list.push(...limitHeaders(exchange));
  // Server Timing (W3C): durations in milliseconds.
  const { upstreamMs } = record.timings;
  const upstream = upstreamMs === undefined ? '' : `, upstream;dur=${upstreamMs.toFixed(1)}`;
  const totalMs = edge.clock.monotonic() - exchange.startedAt;
  list.push('server-timing', `total;dur=${totalMs.toFixed(1)}${upstream}`);
  if (settings.corsOrigins.length > 0) list.push(...corsHeaders(headers, settings.corsOrigins));
  return list;
}

/** `retry-after` where waiting helps, `x-should-retry: false` where trying again does not. */
function retryHeaders(error: GatewayError, status: number): readonly string[] {
  if (!RETRY_STATUSES.has(status)) {
    const final = status >= 400 && status < 500 && !RETRYABLE_CLIENT_STATUSES.has(status);
    return final ? ['x-should-retry', 'false'] : [];
  }
  const waitsForPerson = error.kind === 'upstream-auth' && error.retryAfterMs === undefined;
  const waitMs = Math.max(1, Math.ceil(error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS));
  const list = ['retry-after', String(Math.ceil(waitMs / 1000)), 'retry-after-ms', String(waitMs)];
  const isFinal = waitMs > MAX_CLIENT_WAIT_MS || waitsForPerson;
  return isFinal ? [...list, 'x-should-retry', 'false'] : list;
}

/** Where its key has limits, in the form of the client's own protocol. */
function limitHeaders(exchange: Exchange): readonly string[] {
  const { limits, edge } = exchange;
  if (limits === undefined) return [];
  const family = protocolOf(exchange).name === 'messages' ? 'messages' : 'chat';
  return writeLimits(limits(), { family, now: edge.clock.now() });
}

/** True for paths whose errors are `{error: {code, message, field?}}`, also where nothing exists. */
export function isAdminPath(path: string): boolean {
  if (path.startsWith('/api/')) return !FOREIGN_API.test(path);
  return path === '/metrics' || path === '/api' || path.startsWith('/oauth/');
}

/** `code` is the reason where there is one, else the kind of error. */
function writeAdminError(error: GatewayError): {
  readonly status: number;
  readonly body: JsonObject;
} {
  const { kind, reason, sentence, field } = error;
  const message = writeSentence(sentence);
  const content = { code: reason ?? kind, message, ...(field === undefined ? {} : { field }) };
  return { status: errorStatus(error), body: { error: content } };
}
