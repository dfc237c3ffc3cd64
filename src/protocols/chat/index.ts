// The Chat Completions client protocol: its routes and how each is read and answered.

import { createReceipt } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { once } from '../../lib/once.ts';
import type { ClientProtocol, GenerateCall, ProtocolRoute, RouteInput } from '../protocol.ts';
import { writeError } from './errors.ts';
import { writeModel, writeModels } from './models.ts';
import { readBodySession, readChatHead, readChatRequest } from './read-request.ts';
import { createRelayCall } from './relay.ts';
import {
  RESPONSES_WEB_SOCKET,
  readCompactCall,
  readInputTokensCall,
  readResponsesCall,
} from './responses/index.ts';
import { findEarlier } from './responses/previous-response.ts';
import { ChatWriter } from './write-events.ts';
import { writeReply } from './write-reply.ts';

/** @param more routes of surfaces that are read and answered elsewhere */
export function createChatProtocol(more: readonly ProtocolRoute[] = []): ClientProtocol {
  return { name: 'chat', routes: [...ROUTES, ...more], writeError };
}

const ROUTES: readonly ProtocolRoute[] = [
  {
    operation: 'generate',
    method: 'POST',
    path: '/v1/chat/completions',
    readCall: readChatCall,
  },
  {
    operation: 'generate',
    method: 'POST',
    path: '/v1/responses',
    recordedAs: 'responses',
    readCall: readResponsesCall,
    findEarlier,
    webSocket: RESPONSES_WEB_SOCKET,
  },
  {
    operation: 'count-tokens',
    method: 'POST',
    path: '/v1/responses/input_tokens',
    recordedAs: 'responses',
    readCall: readInputTokensCall,
    findEarlier,
  },
  {
    operation: 'generate',
    method: 'POST',
    path: '/v1/responses/compact',
    readCall: readCompactCall,
    findEarlier,
  },
  { operation: 'list-models', method: 'GET', path: '/v1/models', writeModels },
  { operation: 'get-model', method: 'GET', path: '/v1/models/{model}', writeModel },
];

/**
 * The whole body is read where it is translated, as one in the older form always is: a relayed one is the upstream's to
 * judge. What is left out in reading is lost only there.
 */
function readChatCall({ body, headers, receipt: told }: RouteInput): GenerateCall {
  const isOlder = isInOlderForm(body);
  const receipt = isOlder ? told : createReceipt();
  const read = once(() => readChatRequest(body, receipt));
  const { model, stream } = (isOlder ? undefined : readChatHead(body)) ?? read();
  return {
    protocol: 'chat',
    model,
    stream,
    bodySession: readBodySession(body),
    get request() {
      return read().canonical;
    },
    createStreamWriter: (context) => new ChatWriter(context, read().answer),
    writeReply: (reply, context) => writeReply(reply, context, read().answer),
    relay: isOlder ? undefined : createRelayCall({ body, headers }, read),
  };
}

/** With `functions` and their calls, the deprecated form of tools, which most services of the wire do not take. */
function isInOlderForm({ functions, messages }: JsonObject): boolean {
  if (Array.isArray(functions) && functions.length > 0) return true;
  if (!Array.isArray(messages)) return false;
  for (const message of messages) {
    if (!isJsonObject(message)) continue;
    if (message.role === 'function' || isJsonObject(message.function_call)) return true;
  }
  return false;
}
