// The routes of rarely used surfaces, by client protocol.

import { MODEL_PREFIXES, readPathModel } from '../protocols/generate/models.ts';
import type { EmbedCall, GenerateRoute, ProtocolRoute, RouteInput } from '../protocols/protocol.ts';
import { readAudioCall, readSpeechCall } from './audio.ts';
import { readCompletionCall } from './completions.ts';
import { readBatchEmbedCall, readEmbedCall, readEmbeddingCall } from './embeddings.ts';
import { readEditCall, readGenerationCall, refuseVariations } from './images.ts';
import { STORED_RESPONSE_ROUTES } from './stored-responses.ts';

export const CHAT_SURFACES: readonly ProtocolRoute[] = [
  ...STORED_RESPONSE_ROUTES,
  answerRoute('/v1/completions', readCompletionCall),
  answerRoute('/v1/images/generations', readGenerationCall),
  answerRoute('/v1/images/edits', readEditCall, 'json-or-multipart'),
  answerRoute('/v1/images/variations', refuseVariations, 'json-or-multipart'),
  answerRoute(
    '/v1/audio/transcriptions',
    (input) => readAudioCall(input, 'transcribe'),
    'multipart',
  ),
  answerRoute('/v1/audio/translations', (input) => readAudioCall(input, 'translate'), 'multipart'),
  answerRoute('/v1/audio/speech', readSpeechCall),
  { operation: 'embed', method: 'POST', path: '/v1/embeddings', readCall: readEmbeddingCall },
];

function answerRoute(
  path: string,
  readCall: GenerateRoute['readCall'],
  bodies?: GenerateRoute['bodies'],
): ProtocolRoute {
  return { operation: 'generate', method: 'POST', path, bodies, readCall };
}

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
