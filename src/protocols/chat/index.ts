// The Chat Completions client protocol: its routes and how each is read and answered.

import type { ClientProtocol, GenerateCall, ProtocolRoute, RouteInput } from '../protocol.ts';
import { readAudioCall } from './audio/index.ts';
import { readCompletionCall } from './completions/index.ts';
import { readEmbeddingCall } from './embeddings/index.ts';
import { writeError } from './errors.ts';
import { readEditCall, readGenerationCall, refuseVariations } from './images/index.ts';
import { writeModel, writeModels } from './models.ts';
import { readBodySession, readChatRequest } from './read-request.ts';
import { CONVERSATION_ROUTES } from './responses/conversations.ts';
import { findEarlier } from './responses/earlier.ts';
import { readCompactCall, readInputTokensCall, readResponsesCall } from './responses/index.ts';
import { KEPT_ANSWER_ROUTES } from './responses/kept-answers.ts';
import { createChatWriter } from './write-events.ts';
import { writeReply } from './write-reply.ts';

export function createChatProtocol(): ClientProtocol {
  return { name: 'chat', routes: ROUTES, writeError };
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
  ...KEPT_ANSWER_ROUTES,
  ...CONVERSATION_ROUTES,
  {
    operation: 'generate',
    method: 'POST',
    path: '/v1/completions',
    readCall: readCompletionCall,
  },
  {
    operation: 'generate',
    method: 'POST',
    path: '/v1/images/generations',
    readCall: readGenerationCall,
  },
  {
    operation: 'generate',
    method: 'POST',
    path: '/v1/images/edits',
    bodies: 'json-or-multipart',
    readCall: readEditCall,
  },
  {
    operation: 'generate',
    method: 'POST',
    path: '/v1/images/variations',
    bodies: 'json-or-multipart',
    readCall: refuseVariations,
  },
  {
    operation: 'generate',
    method: 'POST',
    path: '/v1/audio/transcriptions',
    bodies: 'multipart',
    readCall: (input) => readAudioCall(input, 'transcribe'),
  },
  {
    operation: 'generate',
    method: 'POST',
    path: '/v1/audio/translations',
    bodies: 'multipart',
    readCall: (input) => readAudioCall(input, 'translate'),
  },
  { operation: 'embed', method: 'POST', path: '/v1/embeddings', readCall: readEmbeddingCall },
  { operation: 'list-models', method: 'GET', path: '/v1/models', writeModels },
  { operation: 'get-model', method: 'GET', path: '/v1/models/{model}', writeModel },
];

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
