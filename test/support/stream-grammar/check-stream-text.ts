// One independent check for every stream of every surface: it knows the readers, and nothing of the writers.

import { checkChatStream, checkCompletionStream, type StreamEnd } from './chat.ts';
import { checkGenerateArray, checkGenerateStream } from './generate.ts';
import { checkImageStream, checkTranscriptionStream } from './media.ts';
import { checkMessagesStream } from './messages.ts';
import { checkResponsesStream } from './responses.ts';

export type StreamSurface =
  | 'chat'
  | 'completions'
  | 'responses'
  | 'messages'
  | 'generate'
  | 'generate-array'
  | 'images'
  | 'transcriptions';

const GRAMMARS: Readonly<Record<StreamSurface, (text: string) => StreamEnd>> = {
  chat: checkChatStream,
  completions: checkCompletionStream,
  responses: checkResponsesStream,
  messages: checkMessagesStream,
  generate: checkGenerateStream,
  'generate-array': checkGenerateArray,
  images: checkImageStream,
  transcriptions: checkTranscriptionStream,
};

/** How the stream ended. @throws Error for the first rule it breaks */
export function checkStreamText(surface: StreamSurface, text: string): StreamEnd {
  return GRAMMARS[surface](text);
}
