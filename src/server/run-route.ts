// Runs the operation of a matched route: model lists, token counts, whole and streamed responses.

import { clientError, clientGone, type GatewayError } from '../canonical/error.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from '../lib/chunked-json.ts';
import { createId } from '../lib/ids.ts';
import { sizeOf } from '../lib/json.ts';
import type { GenerateCall, ProtocolRoute, RouteInput } from '../protocols/protocol.ts';
import { turn } from '../stream/scheduler.ts';
import { EVENT_STREAM_TYPE } from '../stream/sse.ts';
import { answerInBackground } from './background.ts';
import {
  answerInTime,
  bodyInput,
  metered,
  observeBody,
  observeCall,
  observeRoute,
  readCallContext,
} from './call-context.ts';
import type { Exchange } from './edge.ts';
import { readJsonBody } from './gates/body.ts';
import { isMultipart, readMultipart } from './gates/multipart.ts';
import { answerKept, countFound } from './kept-answers.ts';
import { type AnswerBody, sendAnswer, sendJson, sendText } from './respond.ts';
import { answerStream } from './stream-response.ts';

interface MatchedRoute {
  readonly route: ProtocolRoute;
  readonly pathModel: string;
  /** The model of a body that names none. */
  readonly deployment?: string | undefined;
}

/** @throws GatewayError, or anything unforeseen, while no answer has begun. */
export async function runRoute(
  exchange: Exchange,
  { route, pathModel, deployment }: MatchedRoute,
): Promise<void> {
  const { edge } = exchange;
  observeRoute(exchange, { route, pathModel });
  switch (route.operation) {
    case 'list-models': {
      const models = (await edge.models.list()).filter(({ id }) => isAllowed(exchange, id));
      const body = route.writeModels(models, exchange.query);
      return sendJson(exchange, { status: 200, body });
    }
    case 'get-model': {
      const model = await edge.models.get(pathModel);
      if (model === undefined || !isAllowed(exchange, pathModel)) {
        const meant = edge.models.meant(pathModel, (id) => isAllowed(exchange, id));
        throw noSuchModel(pathModel, meant);
      }
      return sendJson(exchange, { status: 200, body: route.writeModel(model) });
    }
    case 'count-tokens': {
      const call = route.readCall(await readInput(exchange, { route, pathModel, deployment }));
      if (exchange.heldBytes >= STEPWISE_FROM_BYTES) await makeRoom(exchange, call);
      observeCall(exchange, { model: call.model });
      const context = readCallContext(exchange);
      return metered(exchange, { call, operation: 'count-tokens' }, () =>
        answerWhole(exchange, async () => ({
          body: await edge.dispatcher.countTokens(call, context),
        })),
      );
    }
    case 'embed': {
      const call = route.readCall(await readInput(exchange, { route, pathModel, deployment }));
      if (exchange.heldBytes >= STEPWISE_FROM_BYTES) await nextTurn();
      observeCall(exchange, call);
      const context = readCallContext(exchange);
      return metered(exchange, { call, operation: 'embed' }, () =>
        answerWhole(exchange, () => edge.dispatcher.embed(call, context)),
      );
    }
    case 'generate': {
      const reader = (exchange.turn && route.webSocket) ?? route;
      const call = reader.readCall(await readInput(exchange, { route, pathModel, deployment }));
      if (exchange.heldBytes >= STEPWISE_FROM_BYTES) await makeRoom(exchange, call);
      const { model, background, writeAtOnce } = call;
      const stream = background === undefined ? call.stream : background.reader !== undefined;
      const asked = edge.observer?.readsRequests === true ? call : undefined;
      observeCall(exchange, { model, stream, asked });
      if (writeAtOnce !== undefined) {
        return metered(exchange, { call, operation: 'count-tokens' }, async () => {
          const createdAt = Math.floor(edge.clock.now() / 1000);
          const text = writeAtOnce({ model, createId, createdAt });
          sendText(exchange, { status: 200, text, type: EVENT_STREAM_TYPE });
        });
      }
      return metered(exchange, { call, operation: 'generate' }, () => {
        if (background !== undefined) {
          return answerInBackground(exchange, { ...call, background });
        }
        return stream ? answerStream(exchange, call) : answerGenerated(exchange, call);
      });
    }
    case 'kept-answers':
      return answerKept(exchange, route, pathModel);
    default:
      route satisfies never;
  }
}

/**
 * Between two long pieces of work, reading a large body and writing what goes upstream. A schema is several times in
 * memory while it is said in the words of the upstream. @throws GatewayError as `takeMore`
 */
async function makeRoom(exchange: Exchange, { request }: Pick<GenerateCall, 'request'>) {
  const { tools, outputFormat } = request;
  exchange.edge.bodies.takeMore(exchange, sizeOf([tools, outputFormat], 0));
  await nextTurn();
}

function noSuchModel(name: string, meant: string | undefined): GatewayError {
  const hint = meant === undefined ? '' : ` Did you mean ${JSON.stringify(meant)}?`;
  const message = `There is no model ${JSON.stringify(name)}. The model list endpoint names all there are.${hint}`;
  return clientError('not-found', message, { reason: 'model-not-found', field: 'model' });
}

/** What a key may not use is not there for it. */
function isAllowed({ edge, clientKeyId }: Exchange, model: string): boolean {
  const { keys } = edge.access;
  return keys.isEmpty || keys.allows(clientKeyId, model);
}

type ReadingRoute = Extract<ProtocolRoute, { operation: 'generate' | 'count-tokens' | 'embed' }>;

async function readInput(
  exchange: Exchange,
  { route, pathModel, deployment }: MatchedRoute & { readonly route: ReadingRoute },
): Promise<RouteInput> {
  const { edge, request, query, headers, receipt } = exchange;
  // Not before: what is refused without its body is answered at once, also to who has closed its side by now.
  await turn.requests.reach();
  if (request.destroyed || request.socket.destroyed) throw clientGone();
  if (exchange.turn?.refusal !== undefined) throw exchange.turn.refusal;
  const source = bodyInput(exchange);
  const bodies = 'bodies' in route ? route.bodies : undefined;
  const isForm =
    bodies === 'multipart' ||
    (bodies === 'json-or-multipart' && isMultipart(request.headers['content-type']));
  const { fields: body, files } = isForm
    ? await readMultipart(source)
    : { fields: await readJsonBody(source), files: undefined };
  exchange.abort.signal.throwIfAborted();
  if (deployment !== undefined) body.model ||= deployment;
  observeBody(exchange, { body, files });
  const input = { pathModel, query, headers, body, files, receipt };
  if (route.findEarlier === undefined) return input;
  const stored = edge.responseStores.of(exchange.clientKeyId);
  const responses = exchange.turn?.responsesOver(stored) ?? stored;
  return {
    ...input,
    responses,
    earlier: await route.findEarlier(body, countFound(responses, exchange)),
  };
}

async function answerWhole(exchange: Exchange, run: () => Promise<AnswerBody>): Promise<void> {
  await answerInTime(exchange, async () => {
    const answer = await run();
    await turn.toClients.reach();
    await sendAnswer(exchange, answer);
  });
}

async function answerGenerated(exchange: Exchange, call: GenerateCall): Promise<void> {
  const { textType, answersBytes } = call;
  await answerInTime(exchange, async () => {
    const answer = await exchange.edge.dispatcher.generate(call, readCallContext(exchange));
    if (answer.kind === 'stream') throw new Error('A whole answer was asked for, a stream came.');
    const { body } = answer;
    await call.kept?.();
    await turn.toClients.reach();
    if (answersBytes === true) {
      const text = Buffer.from(String(body.base64), 'base64');
      sendText(exchange, { status: 200, text, type: String(body.mediaType) });
    } else if (textType !== undefined) {
      sendText(exchange, { status: 200, text: String(body.text), type: textType });
    } else await sendAnswer(exchange, answer);
  });
}
