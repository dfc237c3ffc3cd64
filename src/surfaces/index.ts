// The routes of rarely used surfaces, by client protocol.

import { MODEL_PREFIXES, readPathModel } from '../protocols/generate/models.ts';
import type { EmbedCall, ProtocolRoute, RouteInput } from '../protocols/protocol.ts';
import { readAudioCall } from './audio/write-answer.ts';
import { readCompletionCall } from './completions.ts';
import { readBatchEmbedCall, readEmbedCall } from './embeddings/generate.ts';
import { readEmbeddingCall } from './embeddings/openai.ts';
import { readEditCall, readGenerationCall, refuseVariations } from './images/write-answer.ts';
import { CONVERSATION_ROUTES, KEPT_ANSWER_ROUTES } from './stored-responses/routes.ts';

export const CHAT_SURFACES: readonly ProtocolRoute[] = [
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
];

export const GENERATE_SURFACES: readonly ProtocolRoute[] = MODEL_PREFIXES.flatMap((prefix) => [
  embedRoute(`${prefix}/models/{model}:embedContent`, readEmbedCall),
  embedRoute(`${prefix}/models/{model}:batchEmbedContents`, readBatchEmbedCall),
]);

function embedRoute(
  path: string,
  read: (input: RouteInput, model: string) => EmbedCall,
): ProtocolRoute {
  const readCall = (input: RouteInput): EmbedCall => read(input, readPathModel(input));
  return { operation: 'embed', method: 'POST', path, readCall };
}
