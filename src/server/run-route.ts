// Runs the operation of a matched route: model lists, token counts, whole and streamed responses.

import { GatewayError } from '../canonical/error.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from '../lib/chunked-json.ts';
import { createId } from '../lib/ids.ts';
import type { JsonObject } from '../lib/json.ts';
import type { GenerateCall, ProtocolRoute, RouteInput } from '../protocols/protocol.ts';
import { turn } from '../stream/scheduler.ts';
import { answerInBackground } from './background.ts';
import {
  bodyInput,
  metered,
  observeBody,
  observeCall,
  observeRoute,
  readCallContext,
  startDeadline,
} from './call-context.ts';
import type { Edge, Exchange } from './edge.ts';
import { clientGone, readJsonBody } from './gates/body.ts';
import { isMultipart, readMultipart } from './gates/multipart.ts';
import { sendError, sendJson, sendText } from './respond.ts';
import { answerStream } from './stream-response.ts';

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
  observeRoute(edge, exchange, { route, pathModel });
  switch (route.operation) {
    case 'list-models': {
      const models = (await edge.models.list()).filter(({ id }) => isAllowed(edge, exchange, id));
      const body = route.writeModels(models, exchange.query);
      return sendJson(edge, exchange, { status: 200, body });
    }
    case 'get-model': {
      const model = await edge.models.get(pathModel);
      if (model === undefined || !isAllowed(edge, exchange, pathModel))
        throw unknownModel(pathModel);
      return sendJson(edge, exchange, { status: 200, body: route.writeModel(model) });
    }
    case 'count-tokens': {
      const call = route.readCall(await readInput(edge, exchange, { route, pathModel }));
      observeCall(exchange, { model: call.model });
      const context = readCallContext(exchange);
      return metered(edge, exchange, { call, operation: 'count-tokens' }, () =>
        answerWhole(edge, exchange, () => edge.dispatcher.countTokens(call, context)),
      );
    }
    case 'embed': {
      const call = route.readCall(await readInput(edge, exchange, { route, pathModel }));
      observeCall(exchange, call);
      const context = readCallContext(exchange);
      return metered(edge, exchange, { call, operation: 'embed' }, () =>
        answerWhole(edge, exchange, () => edge.dispatcher.embed(call, context)),
      );
    }
    case 'generate': {
      const call = route.readCall(await readInput(edge, exchange, { route, pathModel }));
      // Reading a large body and writing what goes upstream are two long pieces of work.
      if (exchange.heldBytes >= STEPWISE_FROM_BYTES) await nextTurn();
      const { model, background } = call;
      const stream = call.stream && background === undefined;
      const asked = edge.observer?.readsRequests === true ? call : undefined;
      observeCall(exchange, { model, stream, asked });
      return metered(edge, exchange, { call, operation: 'generate' }, () => {
        if (background !== undefined) {
          return answerInBackground(edge, exchange, { ...call, background });
        }
        return stream
          ? answerStream(edge, exchange, call)
          : answerWhole(edge, exchange, () => generateWhole(edge, exchange, call), call.textType);
      });
    }
    case 'kept-answers': {
      const responses = edge.responseStores.of(exchange.clientKeyId);
      const body = route.takesBody === true ? await readKeptBody(edge, exchange) : {};
      const now = Math.floor(edge.clock.now() / 1000);
      const runs = edge.runs.of(exchange.clientKeyId);
      const input = { id: pathModel, query: exchange.query, responses, runs, body, createId, now };
      return sendJson(edge, exchange, { status: 200, body: await route.run(input) });
    }
    default:
      route satisfies never;
  }
}

/** What a key may not use is not there for it. */
function isAllowed({ access }: Edge, { clientKeyId }: Exchange, model: string): boolean {
  return access.keys.isEmpty || access.keys.allows(clientKeyId, model);
}

type ReadingRoute = Extract<ProtocolRoute, { operation: 'generate' | 'count-tokens' | 'embed' }>;

/** Clients may send no body at all where every field is optional. */
async function readKeptBody(edge: Edge, exchange: Exchange): Promise<JsonObject> {
  const { request } = exchange;
  const { headers } = request;
  const isEmpty = headers['transfer-encoding'] === undefined && !Number(headers['content-length']);
  if (isEmpty) return {};
  return readJsonBody(bodyInput(edge, exchange));
}

async function readInput(
  edge: Edge,
  exchange: Exchange,
  { route, pathModel }: { readonly route: ReadingRoute; readonly pathModel: string },
): Promise<RouteInput> {
  const { request, query, headers, receipt } = exchange;
  // Not before: what is refused without its body is answered at once, also to who has closed its side by now.
  await turn.requests.reach();
  if (request.destroyed || request.socket.destroyed) throw clientGone();
  const input = bodyInput(edge, exchange);
  const bodies = 'bodies' in route ? route.bodies : undefined;
  const isForm =
    bodies === 'multipart' ||
    (bodies === 'json-or-multipart' && isMultipart(request.headers['content-type']));
  const { fields: body, files } = isForm
    ? await readMultipart(input)
    : { fields: await readJsonBody(input), files: undefined };
  exchange.abort.signal.throwIfAborted();
  observeBody(exchange, { body, files });
  const responses = edge.responseStores.of(exchange.clientKeyId);
  const findEarlier = 'findEarlier' in route ? route.findEarlier : undefined;
  const earlier = await findEarlier?.(body, responses);
  return { pathModel, query, headers, body, files, responses, receipt, earlier };
}

/** Answers when `run` has the body, or with the reason of an abort as soon as that comes. */
async function answerWhole(
  edge: Edge,
  exchange: Exchange,
  run: () => Promise<JsonObject>,
  textType?: string,
): Promise<void> {
  const { abort, settings } = exchange;
  const deadline = startDeadline(edge.clock, abort, settings.requestTimeoutMs);
  const onAbort = (): void => sendError(edge, exchange, abort.signal.reason);
  abort.signal.addEventListener('abort', onAbort, { once: true });
  try {
    const body = await run();
    await turn.toClients.reach();
    if (textType === undefined) sendJson(edge, exchange, { status: 200, body });
    else sendText(edge, exchange, { status: 200, text: String(body.text), type: textType });
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
