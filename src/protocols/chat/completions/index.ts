// The text completion surface of the OpenAI-style protocol: how a request is read and answered.

import type { GenerateCall, RouteInput } from '../../protocol.ts';
import { readString } from '../fields.ts';
import { readCompletionRequest } from './read-request.ts';
import { createCompletionWriter, writeCompletion } from './write-answer.ts';

/** Several prompts are asked at the same time. @throws GatewayError 400 naming the field */
export function readCompletionCall({ body, receipt }: RouteInput): GenerateCall {
  const { model, stream, requests, settings } = readCompletionRequest(body, receipt);
  return {
    protocol: 'chat',
    model,
    stream,
    bodySession: readString(body, 'user'),
    canonical: () => requests[0],
    fanOut: requests.length === 1 ? undefined : { requests, takesPartial: false },
    createStreamWriter: (context) => createCompletionWriter(context, settings),
    writeReply: (reply, context) => writeCompletion(reply, context, settings),
  };
}
