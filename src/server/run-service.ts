// Runs a service route: the limits of the key, the body, then an answer that is written as it comes.

import { asGatewayError, clientError, type GatewayError } from '../canonical/error.ts';
import { JSON_LIMITS, JsonLimitScanner, type JsonObject } from '../lib/json.ts';
import {
  answerInTime,
  bodyInput,
  metered,
  observeBody,
  observeCall,
  observeRoute,
  readCallContext,
  startDeadline,
} from './call-context.ts';
import type { Exchange } from './edge.ts';
import { checkJson, readBytes, readJsonBody, wantBody } from './gates/body.ts';
import { baseHeaders } from './respond.ts';
import type { ServiceAnswer, ServiceInput, ServiceRoute } from './service-route.ts';
import { SocketWriter } from './stream-response.ts';

/** @throws GatewayError, or anything unforeseen, while no answer has begun. */
export async function runService(exchange: Exchange, route: ServiceRoute): Promise<void> {
  const { edge, request, abort, headers, clientKeyId } = exchange;
  if (request.method === 'HEAD' && route.isEndless) {
    throw clientError('method-not-allowed', `${route.path} does not take HEAD.`);
  }
  const reservation = await admit(exchange, route);
  const signals = route.isEndless ? [edge.activity.ending] : [];
  const input: ServiceInput = {
    ...{ headers, query: exchange.query, clientKeyId },
    signal: AbortSignal.any([abort.signal, ...signals]),
    readBytes: () => readText(exchange),
    readJson: () => readJsonBody(bodyInput(exchange)),
    ask: (body, upstreamId) => askModel(exchange, { body, upstreamId, route }),
  };
  try {
    await answerInTime(exchange, async (deadline) => {
      const answer = await route.run(input);
      deadline.cancel();
      await sendAnswer(exchange, answer);
    });
  } finally {
    reservation?.settle({ tokens: 0, images: 0 });
  }
}

function admit({ edge, clientKeyId }: Exchange, { method, modelName }: ServiceRoute) {
  const { keys } = edge.access;
  if (modelName === undefined || keys.isEmpty) return undefined;
  const use = { model: modelName, tokens: 0, images: 0 };
  if (method === 'POST') return keys.admit(clientKeyId, use);
  if (keys.allows(clientKeyId, modelName)) return undefined;
  throw clientError('forbidden', `This key may not use ${modelName}.`, { reason: 'key-rejected' });
}

/** JSON text within the limits of all bodies, not read further. */
function readText(exchange: Exchange): Promise<Buffer> {
  const { request } = exchange;
  checkJson(request);
  const input = bodyInput(exchange);
  wantBody(input);
  return readBytes(request, input, new JsonLimitScanner(JSON_LIMITS));
}

interface Question {
  readonly body: JsonObject;
  readonly upstreamId: string;
  readonly route: ServiceRoute;
}

async function askModel(
  exchange: Exchange,
  { body, upstreamId, route }: Question,
): Promise<JsonObject> {
  const { edge, record, receipt, settings, abort } = exchange;
  const protocol = edge.protocols.all.find(({ name }) => name === 'messages');
  const asked = protocol?.routes.find(({ operation }) => operation === 'generate');
  if (asked?.operation !== 'generate') throw new Error('There is no Messages protocol.');
  exchange.protocol = protocol;
  observeRoute(exchange, { route: { ...asked, path: route.path }, pathModel: '' });
  observeBody(exchange, { body, files: undefined });
  // Its own end: that of the exchange would leave the client without an answer.
  const limit = new AbortController();
  const deadline = startDeadline(edge.clock, limit, settings.requestTimeoutMs);
  try {
    const query = new URLSearchParams();
    const call = asked.readCall({ pathModel: '', query, headers: {}, body, receipt });
    const isRead = edge.observer?.readsRequests === true;
    observeCall(exchange, { model: call.model, asked: isRead ? call : undefined });
    const signal = AbortSignal.any([abort.signal, limit.signal]);
    let reply: JsonObject = {};
    await metered(exchange, { call, operation: 'generate' }, async () => {
      const context = { ...readCallContext(exchange), signal, onlyUpstream: upstreamId };
      const answer = await edge.dispatcher.generate(call, context);
      if (answer.kind === 'stream') throw new Error('A whole answer was asked for.');
      reply = answer.body;
    });
    return reply;
  } catch (thrown) {
    const error = asGatewayError(limit.signal.aborted ? limit.signal.reason : thrown);
    record.error ??= error;
    throw error;
  } finally {
    deadline.cancel();
  }
}

/** Ends when the client leaves, the answer ends or the gateway winds down. */
async function sendAnswer(
  exchange: Exchange,
  { status, headers, body }: ServiceAnswer,
): Promise<void> {
  const { edge, request, response, record } = exchange;
  if (response.headersSent || response.destroyed) return;
  // Proxies must neither store nor collect what should arrive piece by piece.
  const guards = ['cache-control', 'no-store', 'x-accel-buffering', 'no'];
  response.writeHead(status, [...baseHeaders(exchange), ...headers, ...guards]);
  if (body === undefined || request.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  const writer = new SocketWriter(response, edge.clock);
  try {
    for await (const text of body) {
      await writer.write(text);
      if (!writer.isOpen) return;
    }
    writer.end();
  } catch (error) {
    if (edge.activity.ending.aborted) writer.end();
    else cutOff(exchange, asGatewayError(error));
  }
  record.committedAt ??= edge.clock.monotonic();
}

function cutOff({ record, response }: Exchange, error: GatewayError): void {
  record.error ??= error;
  response.destroy();
}
