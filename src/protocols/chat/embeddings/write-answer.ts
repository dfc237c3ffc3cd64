// Writes vectors as the OpenAI-style protocol has them (`openai` resources/embeddings.d.ts).

import type { EmbedAnswer } from '../../../canonical/embedding.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { VectorForm } from './read-request.ts';

const BYTES_PER_FLOAT = 4;
/** What single precision itself may be off by. */
const LENGTH_TOLERANCE = 1e-4;

/** `model` is the name the client asked for. */
export function writeEmbeddings(
  { embeddings, promptTokens = 0 }: EmbedAnswer,
  { model, form }: { readonly model: string; readonly form: VectorForm },
): JsonObject {
  return {
    object: 'list',
    data: embeddings.map(({ values }, index) => {
      const vector = toUnitLength(values);
      const embedding = form === 'base64' ? writeBase64(vector) : [...vector];
      return { object: 'embedding', index, embedding };
    }),
    model,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
  };
}

/**
 * Clients of this protocol take dot products for cosines: its vectors have length 1 (OpenAI,
 * "Embeddings FAQ"). Upstreams that shorten vectors leave that to the client.
 */
function toUnitLength(values: readonly number[]): readonly number[] {
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  if (length === 0 || Math.abs(length - 1) <= LENGTH_TOLERANCE) return values;
  return values.map((value) => value / length);
}

/** Single precision, little-endian, whatever the machine: what the official clients decode. */
function writeBase64(values: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(values.length * BYTES_PER_FLOAT);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * BYTES_PER_FLOAT);
  return bytes.toString('base64');
}
