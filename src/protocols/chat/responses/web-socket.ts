// The Responses surface over a WebSocket: each message of the client asks for one response, each event is a message.

import { invalidRequest } from '../../../canonical/error.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../lib/json.ts';
import { BOOLEAN, openObjectOf, STRING } from '../../body-schema.ts';
import type { ErrorReply, GenerateCall, RouteInput, WebSocketRoute } from '../../protocol.ts';
import { check } from '../schema.ts';
import { readResponsesCall, readWarmUpCall } from './index.ts';
import { NOTHING_EARLIER } from './previous-response.ts';

/** Source: `openai` resources/responses, `ResponsesClientEvent`; developers.openai.com, "WebSocket mode". */
export const RESPONSES_WEB_SOCKET: WebSocketRoute<GenerateCall> = {
  isNotice,
  readCall: readMessage,
  writeError,
  writeConnectionLimit,
};

/** Codex tells when it has worked on a response (codex-rs, `ResponseProcessedWsRequest`). */
function isNotice(text: string): boolean {
  if (!text.includes('response.processed')) return false;
  try {
    const message = parseJson(text);
    return isJsonObject(message) && message.type === 'response.processed';
  } catch {
    // Whoever reads it as a request says what is wrong with it.
    return false;
  }
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

/** An answer that is not there is a 400 here (developers.openai.com, "WebSocket mode", errors). */
function writeError(
  { status, body }: ErrorReply,
  headers: Readonly<Record<string, string>>,
): string {
  const { error } = body;
  const isLost = isJsonObject(error) && error.code === 'previous_response_not_found';
  return JSON.stringify({ type: 'error', status: isLost ? 400 : status, ...body, headers });
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
