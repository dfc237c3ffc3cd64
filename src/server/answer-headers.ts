// The headers every answer carries, as the flat list node writes fastest.

import type { GatewayError } from '../canonical/error.ts';
import { summarizeReceipt } from '../canonical/receipt.ts';
import type { Edge, Exchange } from './edge.ts';
import { corsHeaders } from './gates/cors.ts';

/** Wait told to clients when nobody knows how long it takes. */
const DEFAULT_RETRY_AFTER_MS = 1_000;
/** Clients do not wait longer than this by themselves. */
const MAX_CLIENT_WAIT_MS = 60_000;
const RETRY_STATUSES = new Set([429, 502, 503, 504, 529]);
/** 4xx that SDKs retry, and may. */
const RETRYABLE_CLIENT_STATUSES = new Set([408, 409, 425, 429]);
const SAFE_MODEL_NAME = /^[\x21-\x7e]{1,256}$/;

/** Names and values alternating. */
export function baseHeaders(edge: Edge, exchange: Exchange): string[] {
  const { requestId, settings, record, receipt, headers } = exchange;
  // Chat SDKs read the first, Messages SDKs the second.
  const list = ['x-request-id', requestId, 'request-id', requestId];
  list.push('x-content-type-options', 'nosniff');
  if (edge.activity.draining) list.push('connection', 'close');
  const lost = summarizeReceipt(receipt);
  if (lost !== undefined) list.push('x-isthmus-receipt', lost);
  if (record.isSandbox) list.push('x-isthmus-sandbox', '1');
  if (record.isEstimate) list.push('x-isthmus-estimate', 'tokens');
  const model = record.upstreamModel ?? record.routedModel;
  if (model !== undefined && SAFE_MODEL_NAME.test(model)) list.push('x-isthmus-model', model);
  if (record.attempts.length > 0) list.push('x-isthmus-attempts', String(record.attempts.length));
  list.push('server-timing', writeTimings(exchange, edge.clock.monotonic()));
  if (settings.corsOrigins.length > 0) list.push(...corsHeaders(headers, settings.corsOrigins));
  return list;
}

/**
 * `retry-after` on every answer that asks to wait, `x-should-retry: false` where trying again is no use.
 * Refused credentials wait for a person unless their end is known, and no client sits out a long wait.
 */
export function retryHeaders(error: GatewayError, status: number): readonly string[] {
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

/** Server Timing (W3C): durations in milliseconds. */
function writeTimings(exchange: Exchange, now: number): string {
  const { upstreamMs, translateMs } = exchange.record.timings;
  let text = `total;dur=${(now - exchange.startedAt).toFixed(1)}`;
  if (upstreamMs !== undefined) text += `, upstream;dur=${upstreamMs.toFixed(1)}`;
  if (translateMs !== undefined) text += `, translate;dur=${translateMs.toFixed(1)}`;
  return text;
}
