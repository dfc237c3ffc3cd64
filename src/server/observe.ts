// Tells the monitor of each model request: what it asked for and how it ended.

import { plainModelName } from '../canonical/model-name.ts';
import type { ProtocolRoute, RouteInput } from '../protocols/protocol.ts';
import type { Edge, Exchange, ObservedCall } from './edge.ts';
import { readCredentials } from './gates/credentials.ts';

/** Model lists and kept answers ask no model anything. */
const OPERATIONS: readonly ProtocolRoute['operation'][] = ['generate', 'count-tokens', 'embed'];

/** Call once the request has passed its gates. */
export function observeRoute(
  { observer }: Edge,
  exchange: Exchange,
  { route, pathModel }: { readonly route: ProtocolRoute; readonly pathModel: string },
): void {
  if (observer === undefined || !OPERATIONS.includes(route.operation)) return;
  const { path, operation } = route;
  const protocol = ('recordedAs' in route ? route.recordedAs : undefined) ?? exchange.protocol.name;
  const unread = { bodyModel: undefined, call: undefined, body: undefined };
  exchange.observed = { route: path, operation, protocol, pathModel, ...unread };
  if (observer.keepsBodies) exchange.record.keepsAnswers = true;
  observer.onBegin();
}

/** Call when the body is there, before it is understood. */
export function observeBody(
  { observed, record }: Exchange,
  { body, files }: Pick<RouteInput, 'body' | 'files'>,
): void {
  if (observed === undefined) return;
  const { model } = body;
  // What is refused next should be found by the model it was meant for.
  observed.bodyModel = typeof model === 'string' ? plainModelName(model) : undefined;
  observed.isForm = files !== undefined;
  if (record.keepsAnswers === true) observed.body = body;
}

export function observeCall(
  { observed }: Exchange,
  {
    model,
    stream,
    asked,
  }: { readonly model: string; readonly stream?: boolean } & Pick<ObservedCall, 'asked'>,
): void {
  if (observed === undefined) return;
  observed.call = { model, stream: stream ?? false };
  observed.asked = asked;
}

/** Call when the response is closed. */
export function observeEnd(edge: Edge, exchange: Exchange, status: number): void {
  const { observed } = exchange;
  if (observed !== undefined) tellEnd(edge, exchange, { observed, status });
}

/**
 * For what goes on behind its response: the end of that is not the end of the request. Call what it
 * gives when that has come.
 */
export function observeDetached(edge: Edge, exchange: Exchange): (status: number) => void {
  const { observed } = exchange;
  exchange.observed = undefined;
  return (status) => {
    if (observed !== undefined) tellEnd(edge, exchange, { observed, status });
  };
}

interface End {
  readonly observed: ObservedCall;
  readonly status: number;
}

function tellEnd(edge: Edge, exchange: Exchange, { observed, status }: End): void {
  const { record, request, headers, startedAt } = exchange;
  edge.observer?.onEnd({
    ...observed,
    requestId: exchange.requestId,
    isIdGiven: headers['x-request-id'] === exchange.requestId,
    method: request.method ?? 'POST',
    path: exchange.path,
    status,
    clientKeyId: exchange.clientKeyId,
    clientAddress: exchange.clientAddress,
    userAgent: headers['user-agent'],
    session: headers['x-session-id'] ?? headers['session-id'],
    traceparent: headers.traceparent,
    credentials: readCredentials(headers, exchange.query),
    receipt: exchange.receipt.entries,
    facts: record,
    totalMs: edge.clock.monotonic() - startedAt,
    firstEventMs: record.committedAt === undefined ? undefined : record.committedAt - startedAt,
  });
}
