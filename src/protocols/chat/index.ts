// The Chat Completions client protocol: its routes and how each is read and answered.

import type { ClientProtocol, GenerateCall, RouteInput } from '../protocol.ts';
import { writeError } from './errors.ts';
import { writeModel, writeModels } from './models.ts';
import { readBodySession, readChatRequest } from './read-request.ts';
import { createChatWriter } from './write-events.ts';
import { writeReply } from './write-reply.ts';

/** POST /v1/chat/completions, GET /v1/models, GET /v1/models/{model}. */
export function createChatProtocol(): ClientProtocol {
  return {
    name: 'chat',
    routes: [
      {
        operation: 'generate',
        method: 'POST',
        path: '/v1/chat/completions',
        readCall: readChatCall,
      },
      { operation: 'list-models', method: 'GET', path: '/v1/models', writeModels },
      { operation: 'get-model', method: 'GET', path: '/v1/models/{model}', writeModel },
    ],
    writeError,
  };
}

/** Reads eagerly: no upstream speaks this wire, so that every call is translated. */
function readChatCall({ body, receipt }: RouteInput): GenerateCall {
  const { model, stream, canonical, answer } = readChatRequest(body, receipt);
  return {
    protocol: 'chat',
    model,
    stream,
    bodySession: readBodySession(body),
    canonical: () => canonical,
    createStreamWriter: (context) => createChatWriter(context, answer),
    writeReply: (reply, context) => writeReply(reply, context, answer),
  };
}
