// The embeddings route of the OpenAI-style protocol (`openai` resources/embeddings.d.ts).

import type { EmbedInput } from '../../canonical/embedding.ts';
import { invalidRequest } from '../../canonical/error.ts';
import { definedFields, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { ANYTHING, objectOf, STRING, wordOf } from '../../protocols/body-schema.ts';
import {
  COUNT,
  each,
  missingField,
  readAll,
  unsupported,
  wrongType,
} from '../../protocols/chat/schema.ts';
import type { EmbedCall, RouteInput } from '../../protocols/protocol.ts';
import { CHAT_WIRE } from '../../wire/chat.ts';
import { requireModel } from '../requests.ts';

const BODY = objectOf({
  ...each(['model', 'user'], STRING),
  encoding_format: wordOf(['float', 'base64'] as const),
  input: ANYTHING,
  dimensions: COUNT,
});

/** The API's own limit (`openai` resources/embeddings.d.ts, `input`). */
const MAX_INPUTS = 2048;

/** @throws GatewayError 400 naming the field */
export function readEmbeddingCall({ body: sent, receipt }: RouteInput): EmbedCall {
  const body = readAll(sent, BODY, { path: '', receipt });
  const model = requireModel(body.model);
  const dimensions = readNumber(body.dimensions);
  const inputs: readonly EmbedInput[] = readTexts(body.input).map((text) =>
    dimensions === undefined ? { text } : { text, dimensions },
  );
  const form = body.encoding_format ?? 'float';
  return {
    protocol: 'chat',
    model,
    inputs: () => inputs,
    showsUsage: true,
    writeEmbeddings: ({ embeddings, promptTokens }) =>
      writeList(
        embeddings.map(({ values }, index) => {
          const vector = toUnitLength(values);
          const embedding = form === 'base64' ? writeBase64(vector) : [...vector];
          return { object: 'embedding', index, embedding };
        }),
        model,
        promptTokens,
      ),
    relay: {
      wire: CHAT_WIRE,
      bodies: inputs.map(({ text, dimensions }) => {
        const { encoding_format, user } = sent;
        const settings = definedFields({ dimensions, encoding_format, user });
        return { input: text, ...settings };
      }),
      // The vectors as the upstream wrote them, numbered over all of its answers.
      writeEmbeddings: ({ embeddings, promptTokens }) =>
        writeList(
          embeddings.map(({ native }, index) => ({ ...native, index })),
          model,
          promptTokens,
        ),
    },
  };
}

function writeList(data: JsonObject[], model: string, promptTokens = 0): JsonObject {
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  return { object: 'list', data, model, usage };
}

function readTexts(value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === null) throw missingField('input');
  if (!Array.isArray(value)) return [readText(value, 'input')];
  if (value.length === 0) throw invalidRequest('input', 'input is empty; send at least one text.');
  if (value.length > MAX_INPUTS) {
    const message = `input holds ${value.length} texts; at most ${MAX_INPUTS} fit in one request.`;
    throw invalidRequest('input', message);
  }
  return value.map((text, index) => readText(text, `input[${index}]`));
}

/**
 * @throws GatewayError 400 for token numbers: they do not say which model's they are, and read as
 * another's they are another text.
 */
function readText(value: JsonValue, path: string): string {
  if (typeof value === 'number' || Array.isArray(value)) {
    throw unsupported(
      path,
      "inputs of token numbers are not supported; send the text itself, as LangChain's " +
        'OpenAIEmbeddings does with check_embedding_ctx_length=False.',
    );
  }
  if (typeof value !== 'string') throw wrongType(path, 'a string');
  if (value === '') throw invalidRequest(path, `${path} is empty; there is nothing to embed.`);
  return value;
}

const BYTES_PER_FLOAT = 4;
/** What single precision itself may be off by. */
const LENGTH_TOLERANCE = 1e-4;

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
