// The Responses surface of the OpenAI-style protocol: how a request is read, answered and kept.

import { invalidRequest } from '../../../canonical/error.ts';
import { type JsonObject, sizeOf, tryParse } from '../../../lib/json.ts';
import { told } from '../../../lib/localized-message.ts';
import { objectOf } from '../../../lib/read-values.ts';
import type { StoredResponse } from '../../../stored-responses/response-store.ts';
import { BOOLEAN, openObjectOf, STRING } from '../../body-schema.ts';
import type {
  CountTokensCall,
  EarlierItems,
  ErrorReply,
  GenerateCall,
  RouteInput,
  WebSocketRoute,
} from '../../protocol.ts';
import type { ReplyContext } from '../../writers.ts';
import { readBodySession } from '../read-request.ts';
import { check } from '../schema.ts';
import { BackgroundAnswer, QUEUED_EVENTS } from './background.ts';
import { addTurn, NOTHING_EARLIER, outputOf } from './previous-response.ts';
import { compactedResponse, listInputItems, withTrigger } from './read-input.ts';
import { readResponsesRequest } from './read-request.ts';
import { ResponsesWriter, writeResponse } from './write-events.ts';

const NOT_KEPT = told`The answer is not kept: it is too large, or too many others wait to be stored. Send the conversation with the next request.`;

/** @throws GatewayError 400 naming the field */
export function readResponsesCall(input: RouteInput): GenerateCall {
  return readWritableCall(input).call;
}

/**
 * The response that makes ready for a later one, which goes on from it: whole, and without an answer.
 * @throws GatewayError 400 naming the field
 */
function readWarmUpCall(input: RouteInput): GenerateCall {
  const { call, writerOf } = readWritableCall(input);
  return { ...call, writeAtOnce: (context) => writerOf(context).writeWarmUp() };
}

function readWritableCall(input: RouteInput): {
  readonly call: GenerateCall;
  readonly writerOf: (context: ReplyContext) => ResponsesWriter;
} {
  const { body, receipt, responses, earlier } = input;
  const { model, stream, canonical, settings } = readResponsesRequest(body, receipt, earlier);
  const { echo, isStored, previousId, conversationId } = settings;
  let session: string | undefined;
  let keptId: string | undefined;
  const answerOf = (response: JsonObject): StoredResponse | undefined => {
    const { id } = response;
    if (typeof id !== 'string') return undefined;
    keptId = id;
    const named = previousId === undefined ? { session } : {};
    return { id, previousId, ...named, input: listInputItems(body.input), response };
  };
  /** False, and noted, for what there is no room to keep. */
  const put = (response: JsonObject): boolean => {
    const answer = answerOf(response);
    if (answer === undefined) return true;
    // To go on from there is only the output.
    const unstored = { ...answer, response: { output: [...outputOf(response)] } };
    const isKept = isStored ? responses?.put(answer) : responses?.putUnstored?.(unstored);
    if (isKept === false) receipt.add('dropped', 'store', NOT_KEPT);
    return isKept !== false;
  };
  const end = (response: JsonObject): Promise<boolean> | undefined => {
    const answer = answerOf(response);
    return answer && responses?.end(answer);
  };
  const background = settings.isBackground
    ? new BackgroundAnswer({
        ...{ model, echo, put, end, isStreamed: stream },
        // The first events of a stream repeat what was asked.
        size: sizeOf(body) * (stream ? 1 + QUEUED_EVENTS : 1),
      })
    : undefined;
  const keep = (response: JsonObject, { createId, createdAt }: ReplyContext): boolean => {
    const isKept = background !== undefined || put(response);
    if (background?.complete(response, createdAt) === false) return true;
    if (responses !== undefined && conversationId !== undefined) {
      const input = listInputItems(body.input);
      void addTurn(responses, conversationId, { input, output: outputOf(response), createId });
    }
    return isKept;
  };
  /** An answer is kept when it is whole; one that failed is nothing to go on with. */
  const writerOf = (context: ReplyContext): ResponsesWriter => {
    session = context.session;
    return new ResponsesWriter(
      background?.contextOf(context) ?? context,
      settings,
      {
        keep: (response) => keep(response, context),
        fail: (error, response) => background?.fail(error, outputOf(response)),
      },
      background?.reader === undefined ? 0 : QUEUED_EVENTS,
    );
  };
  const call: GenerateCall = {
    protocol: 'chat',
    model,
    // Read as it comes: an answer nobody waits for may take as long as it goes on.
    stream: stream || background !== undefined,
    background,
    ...sessionsOf(body, earlier),
    beginsSession: isStored || responses?.putUnstored !== undefined ? true : undefined,
    request: canonical,
    createStreamWriter: writerOf,
    writeReply: (reply, context) => writeResponse(reply, writerOf(context)),
    kept() {
      if (keptId === undefined) return undefined;
      return responses?.stored(conversationId === undefined ? [keptId] : [keptId, conversationId]);
    },
  };
  return { call, writerOf };
}

/** The cache key of the request counts more than what its conversation is known by. */
function sessionsOf(body: JsonObject, earlier: EarlierItems | undefined) {
  const session = body.prompt_cache_key ? undefined : earlier?.session;
  return { session, bodySession: readBodySession(body) };
}

/** Source: `openai` resources/responses/input-tokens. @throws GatewayError 400 naming the field */
export function readInputTokensCall({ body, receipt, earlier }: RouteInput): CountTokensCall {
  const { model, canonical: request } = readResponsesRequest(body, receipt, earlier);
  return {
    protocol: 'chat',
    model,
    request,
    writeCount: (totalTokens) => ({
      object: 'response.input_tokens',
      input_tokens: totalTokens,
    }),
  };
}

/** A summary to go on from, in place of the conversation so far. @throws GatewayError 400 naming the field */
export function readCompactCall({ body, receipt, earlier }: RouteInput): GenerateCall {
  const asked = withTrigger(body);
  const { model, canonical: request, settings } = readResponsesRequest(asked, receipt, earlier);
  return {
    protocol: 'chat',
    model,
    stream: false,
    ...sessionsOf(body, earlier),
    request,
    createStreamWriter: (context) => new ResponsesWriter(context, settings),
    writeReply: (reply, context) =>
      compactedResponse(writeResponse(reply, new ResponsesWriter(context, settings))),
  };
}

/**
 * Each message of the client asks for one response, each event is a message.
 * Source: `openai` resources/responses, `ResponsesClientEvent`; developers.openai.com, "WebSocket mode".
 */
export const RESPONSES_WEB_SOCKET: WebSocketRoute<GenerateCall> = {
  isNotice,
  readCall: readMessage,
  writeError,
  writeConnectionLimit,
};

/** Codex tells when it has worked on a response (codex-rs, `ResponseProcessedWsRequest`). */
function isNotice(text: string): boolean {
  if (!text.includes('response.processed')) return false;
  // Of what is no JSON whoever reads it as a request says what is wrong with it.
  return objectOf(tryParse(text))?.type === 'response.processed';
}

const MESSAGE = openObjectOf({ type: STRING, generate: BOOLEAN, background: BOOLEAN });

/** Something for a response to stand on that has nothing yet: it answers nothing. */
const OPENING: JsonObject = { type: 'message', role: 'developer', content: '-' };

/** @throws GatewayError 400 naming the field */
function readMessage(input: RouteInput): GenerateCall {
  const { type, generate, background } = check(input.body, MESSAGE, '').value;
  if (type !== 'response.create') {
    const message = 'type: only response.create is taken on this connection.';
    throw invalidRequest('type', message, 'unsupported');
  }
  if (background === true) {
    const message = 'background: send requests for the background with POST /v1/responses.';
    throw invalidRequest('background', message, 'unsupported');
  }
  if ((input.body.stream_id ?? null) !== null) {
    const message =
      'stream_id: a connection has one conversation at a time; leave stream_id out, and open another ' +
      'connection for another conversation.';
    throw invalidRequest('stream_id', message, 'unsupported');
  }
  const { type: _type, generate: _generate, stream_id: _lane, ...asked } = input.body;
  const turn = { ...input, body: { ...asked, stream: true } };
  return generate === false ? readWarmUpCall(withOpening(turn)) : readResponsesCall(turn);
}

/** Instructions and tools are enough to make ready with. */
function withOpening(turn: RouteInput): RouteInput {
  const { input } = turn.body;
  const isEmpty = (input ?? null) === null || (Array.isArray(input) && input.length === 0);
  if (!isEmpty) return turn;
  const { earlier = NOTHING_EARLIER } = turn;
  const history = [...earlier.history, OPENING];
  return { ...turn, body: { ...turn.body, input: [] }, earlier: { ...earlier, history } };
}

function writeError(
  { status, body }: ErrorReply,
  headers: Readonly<Record<string, string>>,
): string {
  return JSON.stringify({ type: 'error', status, ...body, headers });
}

/** In the words of the real service: Codex knows its code (codex-rs, `responses_websocket`). */
function writeConnectionLimit(minutes: number): string {
  const message =
    `Responses websocket connection limit reached (${minutes} minutes). ` +
    'Create a new websocket connection to continue.';
  const code = 'websocket_connection_limit_reached';
  const error = { type: 'invalid_request_error', code, message, param: null };
  return JSON.stringify({ type: 'error', status: 400, error });
}
