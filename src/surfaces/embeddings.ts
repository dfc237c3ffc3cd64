// Embedding requests: one or several texts of the OpenAI-style protocol (`openai` resources/embeddings.d.ts), one content or
// a batch of them of the Generate-Content protocol.

import { endianness } from 'node:os';
import type { EmbedAnswer, EmbedInput } from '../canonical/embedding.ts';
import { invalidRequest } from '../canonical/error.ts';
import { plainModelName } from '../canonical/model.ts';
import { memberPath } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { ANYTHING, objectOf, STRING, wordOf } from '../protocols/body-schema.ts';
import {
  COUNT,
  check,
  each,
  missingField,
  noteUnread,
  unsupported,
  wrongType,
} from '../protocols/chat/schema.ts';
import { normalizeParts } from '../protocols/generate/normalize-body.ts';
import { fieldError, normalizeMessage, type Place } from '../protocols/generate/schema.ts';
import type { EmbedCall, RouteInput } from '../protocols/protocol.ts';
import { CHAT_WIRE } from '../wire/chat.ts';
import { EMBED_BATCH, EMBED_REQUEST, GENERATE_WIRE, type ValueOf } from '../wire/generate.ts';
import { requireModel } from './requests.ts';

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
  const { value: body, unknown } = check(sent, BODY, '');
  const model = requireModel(body.model);
  const dimensions = readNumber(body.dimensions);
  const inputs: readonly EmbedInput[] = readTexts(body.input).map((text) =>
    dimensions === undefined ? { text } : { text, dimensions },
  );
  const form = body.encoding_format ?? 'float';
  const settings = settingsIn(sent);
  return {
    protocol: 'chat',
    model,
    inputs() {
      noteUnread(unknown, { path: '', receipt });
      return inputs;
    },
    texts: () => inputs.map(({ text }) => text),
    showsUsage: true,
    writeEmbeddings: ({ embeddings, promptTokens }) =>
      writeList(
        embeddings.map(({ values }, index) => {
          const embedding = writeVector(toUnitLength(values), form);
          return { object: 'embedding', index, embedding };
        }),
        model,
        promptTokens,
      ),
    relay: {
      wire: CHAT_WIRE,
      bodies: inputs.map(({ text }) => ({ ...settings, input: text })),
      // The vectors as the upstream wrote them, numbered over all of its answers; local servers know one form only.
      writeEmbeddings: ({ embeddings, promptTokens }) =>
        writeList(
          embeddings.map(({ native, values }, index) => {
            const isAsForm = (typeof native.embedding === 'string') === (form === 'base64');
            const embedding = isAsForm ? native.embedding : undefined;
            return { ...native, index, embedding: embedding ?? writeVector(values, form) };
          }),
          model,
          promptTokens,
        ),
    },
  };
}

/** Without the form of the vectors: official clients ask for base64 unasked, which many services refuse or get wrong. */
function settingsIn({ model: _, input: _texts, encoding_format: _form, ...settings }: JsonObject) {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
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

function writeVector(values: readonly number[], form: 'float' | 'base64'): JsonValue {
  return form === 'base64' ? writeBase64(values) : [...values];
}

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
  const bytes = Buffer.from(new Float32Array(values).buffer);
  if (endianness() === 'BE') bytes.swap32();
  return bytes.toString('base64');
}

type EmbedRequest = ValueOf<typeof EMBED_REQUEST>;

/** More than the official API takes at once: batches are divided on their way. */
const MAX_REQUESTS = 2048;

/** `POST …:embedContent`: `{content, taskType?, title?, outputDimensionality?}` → `{embedding}`. */
export function readEmbedCall(input: RouteInput, model: string): EmbedCall {
  const place = { path: '', receipt: input.receipt };
  const request = normalizeMessage(input.body, EMBED_REQUEST, place);
  const entry = { ...place, body: readEmbedBody(request, model, place) };
  return toCall(model, [entry], ([embedding]) => ({ embedding: embedding ?? {} }));
}

/** `POST …:batchEmbedContents`: `{requests: [{model, content, …}]}` → `{embeddings}`. */
export function readBatchEmbedCall(input: RouteInput, model: string): EmbedCall {
  const { receipt } = input;
  const batch = normalizeMessage(input.body, EMBED_BATCH, { path: '', receipt });
  noteProject(batch, { path: '', receipt });
  checkModel(batch, model, '');
  const { requests = [] } = batch;
  if (requests.length === 0) {
    throw fieldError('requests', 'must hold at least one request.', 'missing-field');
  }
  if (requests.length > MAX_REQUESTS) {
    const text = `holds ${requests.length} requests; at most ${MAX_REQUESTS} fit in one batch.`;
    throw fieldError('requests', text);
  }
  const entries = requests.map((request, index) => {
    const place = { path: `requests[${index}]`, receipt };
    return { ...place, body: readEmbedBody(request, model, place) };
  });
  return toCall(model, entries, (embeddings) => ({ embeddings: [...embeddings] }));
}

/** A body as it goes upstream, and where it stood. */
interface Entry extends Place {
  readonly body: EmbedRequest;
}

function toCall(
  model: string,
  entries: readonly Entry[],
  wrap: (embeddings: readonly JsonObject[]) => JsonObject,
): EmbedCall {
  return {
    protocol: 'generate',
    model,
    inputs: () => entries.map(readInput),
    texts: () =>
      entries.flatMap(({ body }) => (body.content?.parts ?? []).map(({ text = '' }) => text)),
    relay: {
      wire: GENERATE_WIRE,
      bodies: entries.map(({ body }) => body),
      writeEmbeddings: ({ embeddings, nativeUsages }) => ({
        ...wrap(embeddings.map(({ native }) => native)),
        ...writeUsage(joinUsages(nativeUsages)),
      }),
    },
    // The API itself gives no figure where none was counted.
    showsUsage: false,
    writeEmbeddings: ({ embeddings, promptTokens }: EmbedAnswer) => ({
      ...wrap(embeddings.map(({ values }) => ({ values: [...values] }))),
      ...writeUsage(promptTokens === undefined ? undefined : { promptTokenCount: promptTokens }),
    }),
  };
}

function readEmbedBody(request: EmbedRequest, model: string, place: Place): EmbedRequest {
  checkModel(request, model, place.path);
  noteProject(request, place);
  const { model: _model, project: _project, content, ...body } = request;
  const path = memberPath(place.path, 'content');
  if (content === undefined) throw fieldError(path, 'is required.', 'missing-field');
  const parts = normalizeParts(content, { path, receipt: place.receipt });
  if (parts.length === 0) {
    throw invalidRequest(`${path}.parts[0].text`, `${path} holds nothing but empty text.`);
  }
  return { ...body, content: { ...content, parts } };
}

/** The vectors of one call are of one model: the one in the path. */
function checkModel(
  { model: named }: Pick<EmbedRequest, 'model'>,
  model: string,
  parent: string,
): void {
  if (named === undefined || plainModelName(named) === model) return;
  const text = `must be the model of the path, models/${model}.`;
  throw fieldError(memberPath(parent, 'model'), text);
}

function noteProject({ project }: Pick<EmbedRequest, 'project'>, place: Place): void {
  if (project === undefined) return;
  const path = memberPath(place.path, 'project');
  place.receipt.add('dropped', path, told`The project is the one of the account that is used.`);
}

/** For upstreams of other wires, which know texts and lengths alone. @throws GatewayError for what is no text. */
function readInput({ body, path, receipt }: Entry): EmbedInput {
  const texts = (body.content?.parts ?? []).map(({ text }, index) => {
    if (text !== undefined) return text;
    const place = memberPath(path, `content.parts[${index}]`);
    throw invalidRequest(place, `${place}: the upstream in use embeds texts only.`, 'unsupported');
  });
  const { embedContentConfig, content: _content, ...own } = body;
  const { outputDimensionality, title, ...others } = { ...embedContentConfig, ...own };
  const placeOf = (name: string): string =>
    memberPath(path, name in own ? name : `embedContentConfig.${name}`);
  for (const name of Object.keys(others)) {
    receipt.add('dropped', placeOf(name), told`The upstream has no such setting.`);
  }
  if (title !== undefined) {
    receipt.add('approximated', placeOf('title'), told`The title was put before the text.`);
    texts.unshift(`${title}\n`);
  }
  return { text: texts.join('\n'), dimensions: outputDimensionality };
}

function writeUsage(usage: JsonObject | undefined): JsonObject {
  return usage === undefined ? {} : { usageMetadata: usage };
}

/** A single count stays as it came; of several, each figure is the sum, and so is each modality's. */
function joinUsages(usages: readonly JsonObject[]): JsonObject | undefined {
  const [first, ...rest] = usages;
  if (first === undefined || rest.length === 0) return first;
  const names = new Set(usages.flatMap((usage) => Object.keys(usage)));
  const joined = [...names].map((name) => [name, joinValues(usages.map((usage) => usage[name]))]);
  return Object.fromEntries(joined.filter(([, value]) => value !== undefined));
}

/** Undefined for what is neither a figure nor a list of modalities: it is about a single call. */
function joinValues(values: readonly (JsonValue | undefined)[]): JsonValue | undefined {
  const figures = values.map(readNumber).filter((figure) => figure !== undefined);
  if (figures.length > 0) return figures.reduce((sum, figure) => sum + figure, 0);
  const details = values.flatMap((value) => (Array.isArray(value) ? value : []));
  return details.length === 0 ? undefined : joinDetails(details.filter(isJsonObject));
}

function joinDetails(details: readonly JsonObject[]): JsonObject[] {
  const counts = new Map<string, number>();
  for (const detail of details) {
    const modality = typeof detail.modality === 'string' ? detail.modality : 'MODALITY_UNSPECIFIED';
    counts.set(modality, (counts.get(modality) ?? 0) + (readNumber(detail.tokenCount) ?? 0));
  }
  return [...counts].map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
