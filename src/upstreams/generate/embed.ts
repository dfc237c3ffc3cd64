// Has the upstream embed contents: in batches, in order, each batch given as soon as it is there.

import { invalidRequest } from '../../canonical/error.ts';
import type { EmbedAnswer, Embedding, EmbedInput } from '../../canonical/request.ts';
import { type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { pathFault } from '../errors.ts';
import { itemsOf, objectOf } from '../read-values.ts';
import type { UpstreamClient } from '../transport/client.ts';
import type { UpstreamEmbedCall } from '../upstream.ts';
import { readTokenCount } from './decode.ts';
import type { EmbedFormName, GenerateProfile, ModelMethod } from './profiles.ts';
import { modelRequest } from './requests.ts';

/**
 * The vectors of `call.bodies` in their order, some at a time.
 * @throws GatewayError with `failure` set, or invalid-request for an input the model cannot take.
 */
export async function* embed(
  client: Pick<UpstreamClient, 'readObject'>,
  profile: GenerateProfile,
  call: UpstreamEmbedCall,
): AsyncGenerator<EmbedAnswer> {
  const form = EMBED_FORMS[profile.embedForm?.(call.modelId) ?? 'content'];
  const batches = piecesOf(call.bodies, form.batchSize);
  for (const group of piecesOf(batches, form.callsAtOnce)) {
    yield* await allOrNone(call.signal, group, (bodies, signal) =>
      embedBatch(client, profile, { call: { ...call, bodies, signal }, form }),
    );
  }
}

/** The wire body of one text. */
export function encodeEmbedInput(input: EmbedInput): JsonObject {
  const body: JsonObject = { content: { parts: [{ text: input.text }] } };
  if (input.task !== undefined) body.taskType = input.task.toUpperCase().replaceAll('-', '_');
  if (input.title !== undefined) body.title = input.title;
  if (input.dimensions !== undefined) body.outputDimensionality = input.dimensions;
  return body;
}

async function embedBatch(
  client: Pick<UpstreamClient, 'readObject'>,
  profile: GenerateProfile,
  { call, form }: { readonly call: UpstreamEmbedCall; readonly form: EmbedForm },
): Promise<EmbedAnswer> {
  const { bodies, modelId } = call;
  const { method, body } = form.encode(bodies, modelId);
  const answer = await client.readObject(modelRequest(profile, method, { ...call, body }));
  const { embeddings, usage } = form.decode(answer);
  if (embeddings.length !== bodies.length) {
    throw pathFault(
      told`The upstream gave ${embeddings.length} vectors for ${bodies.length} inputs.`,
    );
  }
  return {
    embeddings: embeddings.map(readEmbedding),
    promptTokens: readTokenCount(usage?.promptTokenCount),
    nativeUsages: usage === undefined ? [] : [usage],
  };
}

function readEmbedding(value: JsonValue): Embedding {
  const native = objectOf(value);
  const values = readValues(native?.values);
  if (native === undefined || values === undefined) {
    throw pathFault(told`The upstream gave an embedding without a vector.`);
  }
  return { values, native };
}

function readValues(value: JsonValue | undefined): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  // Vectors are long and many: the usual one is taken as it is.
  if (value.every((item): item is number => Number.isFinite(item))) return value;
  const numbers = value.map(readNumber);
  return numbers.every((item): item is number => Number.isFinite(item)) ? numbers : undefined;
}

/** Runs `run` on all items at the same time; the first failure ends the others. */
async function allOrNone<Item, Result>(
  outer: AbortSignal,
  items: readonly Item[],
  run: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const failed = new AbortController();
  const signal = AbortSignal.any([outer, failed.signal]);
  try {
    return await Promise.all(items.map((item) => run(item, signal)));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

function piecesOf<Item>(items: readonly Item[], size: number): Item[][] {
  const pieces: Item[][] = [];
  for (let at = 0; at < items.length; at += size) pieces.push(items.slice(at, at + size));
  return pieces;
}

/** How a family of models takes inputs and returns vectors. */
interface EmbedForm {
  /** How many inputs one call takes. */
  readonly batchSize: number;
  /** How many calls are under way at a time. */
  readonly callsAtOnce: number;
  /** @throws GatewayError (invalid-request) for an input the form cannot say. */
  encode(
    bodies: readonly JsonObject[],
    modelId: string,
  ): { readonly method: ModelMethod; readonly body: JsonObject };
  /** The vectors in order, as the upstream wrote them, and its count. */
  decode(answer: JsonObject): {
    readonly embeddings: readonly JsonValue[];
    readonly usage: JsonObject | undefined;
  };
}

/** The public API refuses larger batches (ai.google.dev, "Embeddings": at most 100 requests). */
const MAX_BATCH_LENGTH = 100;
/** Enough to hide the distance to the upstream, few enough not to look like a burst. */
const SINGLE_CALLS_AT_ONCE = 8;

/** Fields of a request that are settings of the call and no content. */
const SETTINGS = [
  'taskType',
  'title',
  'outputDimensionality',
  'autoTruncate',
  'documentOcr',
  'audioTrackExtraction',
] as const;

/** ai.google.dev, "Embeddings" (`EmbedContentRequest`): one, or several in one call. */
const content: EmbedForm = {
  batchSize: MAX_BATCH_LENGTH,
  callsAtOnce: 1,
  encode(bodies, modelId) {
    const requests = bodies.map((body) => ({ model: `models/${modelId}`, ...body }));
    const [only] = requests;
    return requests.length === 1 && only !== undefined
      ? { method: 'embedContent', body: only }
      : { method: 'batchEmbedContents', body: { requests } };
  },
  decode: ({ embedding, embeddings, usageMetadata }) => ({
    embeddings: embedding === undefined ? itemsOf(embeddings) : [embedding],
    usage: objectOf(usageMetadata),
  }),
};

/** Vertex AI, "Method: models.embedContent": one content a call, its settings in an object. */
const configuredContent: EmbedForm = {
  batchSize: 1,
  callsAtOnce: SINGLE_CALLS_AT_ONCE,
  encode([body = {}]) {
    const settings = settingsOf(body);
    const config = Object.keys(settings).length === 0 ? {} : { embedContentConfig: settings };
    return { method: 'embedContent', body: { content: body.content ?? {}, ...config } };
  },
  decode: content.decode,
};

/**
 * Vertex AI, "Text embeddings API". Its newest model of this form takes one instance a call.
 * Each prediction has a count of its own.
 */
const prediction: EmbedForm = {
  batchSize: 1,
  callsAtOnce: SINGLE_CALLS_AT_ONCE,
  encode([body = {}]) {
    const { taskType, title, documentOcr, audioTrackExtraction, ...parameters } = settingsOf(body);
    if (documentOcr !== undefined || audioTrackExtraction !== undefined) throw textOnly();
    const instance: JsonObject = { content: textOf(body.content) };
    if (taskType !== undefined) instance.task_type = taskType;
    if (title !== undefined) instance.title = title;
    const instances = [instance];
    const isPlain = Object.keys(parameters).length === 0;
    return { method: 'predict', body: isPlain ? { instances } : { instances, parameters } };
  },
  decode({ predictions }) {
    const embeddings = itemsOf(predictions).map((one) => objectOf(one)?.embeddings ?? null);
    const counts = embeddings.map((one) =>
      readNumber(objectOf(objectOf(one)?.statistics)?.token_count),
    );
    const known = counts.filter((count) => count !== undefined);
    const promptTokenCount = known.reduce((sum, count) => sum + count, 0);
    return {
      embeddings,
      usage: known.length === counts.length && known.length > 0 ? { promptTokenCount } : undefined,
    };
  },
};

const EMBED_FORMS: Readonly<Record<EmbedFormName, EmbedForm>> = {
  content,
  'configured-content': configuredContent,
  prediction,
};

/** The settings of a body, wherever the client put them; those at the top are the older form. */
function settingsOf(body: JsonObject): JsonObject {
  const settings: JsonObject = { ...objectOf(body.embedContentConfig) };
  for (const name of SETTINGS) {
    const value = body[name];
    if (value !== undefined) settings[name] = value;
  }
  return settings;
}

function textOf(value: JsonValue | undefined): string {
  const parts = itemsOf(objectOf(value)?.parts);
  const text = objectOf(parts[0])?.text;
  if (parts.length !== 1 || typeof text !== 'string') throw textOnly();
  return text;
}

function textOnly(): Error {
  return invalidRequest(
    'content.parts',
    'content.parts must be one text: this model embeds texts only. Name a model that embeds other ' +
      'media, or send one text per content.',
    'unsupported',
  );
}
