// The sound surface of the OpenAI-style protocol: transcriptions and translations of recordings.

import type { GenerateCall, RouteInput } from '../../protocol.ts';
import { type AudioTask, readAudio } from './read-request.ts';
import { createTranscriptionWriter, textTypeOf, writeTranscription } from './write-answer.ts';

/** @throws GatewayError 400 naming the field, 413 for a file that is too large */
export function readAudioCall(input: RouteInput, task: AudioTask): GenerateCall {
  const { model, stream, canonical, settings } = readAudio(input, task);
  return {
    protocol: 'chat',
    model,
    stream,
    bodySession: undefined,
    textType: textTypeOf(settings.format),
    canonical: () => canonical,
    createStreamWriter: () => createTranscriptionWriter(),
    writeReply: (reply) => writeTranscription(reply, settings),
  };
}
