// Runs the operation of a matched route: model lists, token counts, answers whole and streamed.

import { GatewayError } from '../canonical/error.ts';
import type { JsonObject } from '../lib/json.ts';
import type { GenerateCall, ProtocolRoute, RouteInput } from '../protocols/protocol.ts';
import { readCallContext } from './call-context.ts';
import { startDeadline } from './deadline.ts';
import type { Edge, Exchange } from './edge.ts';
import { readJsonBody } from './gates/body.ts';
import { sendError, sendJson } from './respond.ts';
import { answerStream } from './stream-answer.ts';

export interface MatchedRoute {
  readonly route: ProtocolRoute;
  readonly pathModel: string;
}

/** @throws GatewayError, or anything unforeseen, while no answer has begun. */
export async function runRoute(
  edge: Edge,
  exchange: Exchange,
  { route, pathModel }: MatchedRoute,
): Promise<void> {
  switch (route.operation) {
    case 'list-models': {
      const body = route.writeModels(await edge.models.list(), exchange.query);
      return sendJson(edge, exchange, { status: 200, body });
    }
    case 'get-model': {
      const model = await edge.models.get(pathModel);
      if (model === undefined) throw unknownModel(pathModel);
      return sendJson(edge, exchange, { status: 200, body: route.writeModel(model) });
    }
    case 'count-tokens': {
      const call = route.readCall(await readInput(edge, exchange, pathModel));
      const context = readCallContext(exchange);
      return answerWhole(edge, exchange, () => edge.dispatcher.countTokens(call, context));
    }
    case 'generate': {
      const call = route.readCall(await readInput(edge, exchange, pathModel));
      if (call.stream) return answerStream(edge, exchange, call);
      return answerWhole(edge, exchange, () => generateWhole(edge, exchange, call));
    }
    default:
      route satisfies never;
  }
}

async function readInput(edge: Edge, exchange: Exchange, pathModel: string): Promise<RouteInput> {
  const { request, response, settings, query, headers, receipt } = exchange;
  const body = await readJsonBody({
    request,
    response,
    maxBytes: settings.maxBodyBytes,
    clock: edge.clock,
  });
  exchange.abort.signal.throwIfAborted();
  return { pathModel, query, headers, body, receipt };
}

/** Answers when `run` has the body, or with the reason of an abort as soon as that comes. */
async function answerWhole(
  edge: Edge,
  exchange: Exchange,
  run: () => Promise<JsonObject>,
): Promise<void> {
  const { abort, settings } = exchange;
  const deadline = startDeadline(edge.clock, abort, settings.requestTimeoutMs);
  const onAbort = (): void => sendError(edge, exchange, abort.signal.reason);
  abort.signal.addEventListener('abort', onAbort, { once: true });
  try {
    const body = await run();
    sendJson(edge, exchange, { status: 200, body });
  } finally {
    deadline.cancel();
    abort.signal.removeEventListener('abort', onAbort);
  }
}

async function generateWhole(
  edge: Edge,
  exchange: Exchange,
  call: GenerateCall,
): Promise<JsonObject> {
  const answer = await edge.dispatcher.generate(call, readCallContext(exchange));
  if (answer.kind === 'stream') throw new Error('A whole answer was asked for, a stream came.');
  return answer.body;
}

function unknownModel(id: string): GatewayError {
  return new GatewayError({
    kind: 'not-found',
    source: 'client',
    reason: 'model-not-found',
    field: 'model',
    message: `There is no model ${JSON.stringify(id)}. The model list endpoint names all there are.`,
  });
}
