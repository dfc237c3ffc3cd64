// The lifecycle of one request: its state, a client that disconnects, its line in the log.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { asGatewayError, type GatewayError } from '../canonical/error.ts';
import { createReceipt } from '../canonical/receipt.ts';
import { createTimedId } from '../lib/ids.ts';
import { answer, noteRefusal } from './answer.ts';
import { observeEnd } from './call-context.ts';
import { onSocket } from './connections.ts';
import type { Edge, Exchange } from './edge.ts';
import { clientGone } from './gates/body.ts';
import { readClientAddress } from './gates/locality.ts';
import { sendError } from './respond.ts';
import { readHeaderMap } from './settings.ts';

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
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
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

export interface ExchangeParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: string;
}

function createExchange(edge: Edge, { request, response, path, query }: ExchangeParts): Exchange {
  const headers = readHeaderMap(request.headers);
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
        : createTimedId('req_', clock.now()),
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
            trustedProxies: edge.trustedProxies(settings),
          }),
    abort: new AbortController(),
    receipt: createReceipt(),
    record: { attempts: [], timings: {} },
    protocol: undefined,
    clientKeyId: '',
    heldBytes: 0,
    listIndex: -1,
    isAnswered: false,
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
    if (observed !== undefined) observeEnd(exchange, { observed, status });
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
