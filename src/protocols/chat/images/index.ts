// The image surface of the OpenAI-style protocol: drawing and editing, whole and streamed.

import { invalidRequest } from '../../../canonical/error.ts';
import type { GenerateCall, RouteInput } from '../../protocol.ts';
import { readString } from '../fields.ts';
import { type ImageRequest, readEdit, readGeneration } from './read-request.ts';
import { createImageWriter, requireDrawing, writeImages } from './write-answer.ts';

/** @throws GatewayError 400 naming the field */
export function readGenerationCall(input: RouteInput): GenerateCall {
  return toCall(readGeneration(input), input);
}

/** @throws GatewayError 400 naming the field */
export function readEditCall(input: RouteInput): GenerateCall {
  return toCall(readEdit(input), input);
}

/** @throws GatewayError 400 always: no upstream varies a picture without being told how */
export function refuseVariations(): never {
  throw invalidRequest(
    'image',
    'Variations without a prompt are not available; send the picture to /v1/images/edits with a ' +
      'prompt that says what to change.',
    'unsupported',
  );
}

/** Several images are several calls: the models that draw give one at a time. */
function toCall(
  { model, stream, requests, settings }: ImageRequest,
  input: RouteInput,
): GenerateCall {
  return {
    protocol: 'chat',
    model,
    stream,
    bodySession: readString(input.body, 'user'),
    canonical: () => requests[0],
    fanOut:
      requests.length === 1
        ? undefined
        : { requests, takesPartial: true, isStreamedApart: true, check: requireDrawing },
    createStreamWriter: (context) => createImageWriter(context, settings),
    writeReply: (reply, context) => writeImages(reply, context, settings),
  };
}
