// The embeddings surface of the OpenAI-style protocol.

import type { EmbedCall, RouteInput } from '../../protocol.ts';
import { readEmbeddingRequest } from './read-request.ts';
import { writeEmbeddings } from './write-answer.ts';

/** @throws GatewayError 400 naming the field */
export function readEmbeddingCall({ body, receipt }: RouteInput): EmbedCall {
  const { model, inputs, form } = readEmbeddingRequest(body, receipt);
  return {
    protocol: 'chat',
    model,
    inputs: () => inputs,
    showsUsage: true,
    writeEmbeddings: (answer) => writeEmbeddings(answer, { model, form }),
  };
}
