// Builds the HTTP requests of this wire, and asks for what is no answer of a model: the model list, vectors.

import type { EmbedAnswer, Embedding, EmbedInput } from '../../canonical/embedding.ts';
import type { ModelTask, UpstreamModel } from '../../canonical/model.ts';
import { MODALITIES, type Modality } from '../../canonical/request.ts';
import { isDenseBase64 } from '../../lib/base64.ts';
import { type JsonObject, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { flagOf, limitOf, objectOf, objectsOf, textOf, vectorOf } from '../../lib/read-values.ts';
import { isMissingCall, pathFault, unreadableAnswer } from '../errors.ts';
import type { ClientRequest, UpstreamClient } from '../transport/client.ts';
import type { AccountAccess, UpstreamCall, UpstreamEmbedCall } from '../upstream.ts';
import { postOf } from '../wire-parts.ts';
import type { ChatProfile } from './profiles.ts';

/** Of a client's headers those that mean something to upstreams of this wire. */
const CLIENT_HEADERS =
  /^(?:openai-(?:organization|project|beta)|http-referer|x-title|x-stainless-.+|user-agent)$/;

/** A POST with the account's credential. */
export function postRequest(
  profile: ChatProfile,
  path: string,
  call: Omit<UpstreamCall, 'stream'>,
): ClientRequest {
  const { clientHeaders = {}, modelId } = call;
  const passed = Object.entries(clientHeaders).filter(([name]) => CLIENT_HEADERS.test(name));
  const request = requestOf(profile, path.replace('{model}', encodeURIComponent(modelId)), call);
  const headers = { ...Object.fromEntries(passed), ...request.headers };
  return { ...request, ...postOf(call), headers };
}

/** A GET with the account's credential. */
function requestOf(
  { auth, headers, query }: Pick<ChatProfile, 'auth' | 'headers' | 'query'>,
  path: string,
  { access, signal }: Pick<UpstreamCall, 'access' | 'signal'>,
): ClientRequest {
  const { credential, proxyUrl } = access;
  const parameters = new URLSearchParams(query);
  const key =
    auth === 'bearer' ? { authorization: `Bearer ${credential}` } : { [auth.header]: credential };
  return {
    method: 'GET',
    path: parameters.size === 0 ? path : `${path}?${parameters}`,
    // Local servers ask for no key, and an empty one is none.
    headers: credential === '' ? headers : { ...headers, ...key },
    proxyUrl,
    secrets: credential === '' ? [] : [credential],
    signal,
  };
}

/** Whom to ask. */
interface Asked {
  readonly client: Pick<UpstreamClient, 'readObject' | 'readObjects'>;
  readonly profile: ChatProfile;
}

/**
 * The models of `GET /models`, each once. None where the upstream has no such list: the account may serve all the same.
 * @throws GatewayError with `failure` set.
 */
export async function listModels(
  { client, profile }: Asked,
  access: AccountAccess,
  signal: AbortSignal,
): Promise<readonly UpstreamModel[]> {
  const models = new Map<string, UpstreamModel>();
  try {
    const answer = await client.readObjects(
      requestOf(profile, profile.paths.models, { access, signal }),
    );
    const [{ data, models: listed } = {}] = answer;
    // Together AI gives the list itself; objects of other kinds are another answer.
    const bare = answer.filter(({ object }) => object === 'model');
    for (const item of objectsOf(data ?? listed ?? bare)) {
      const model = readModel(item);
      if (model !== undefined && !models.has(model.id)) models.set(model.id, model);
    }
  } catch (error) {
    if (!isMissingCall(error)) throw error;
  }
  return [...models.values()];
}

/**
 * Beside `id` services tell more: `context_length`, `top_provider.max_completion_tokens`, `supported_parameters`
 * (OpenRouter), `context_window`, `max_completion_tokens` (Groq), `max_context_length`, `capabilities` (Mistral),
 * `max_model_len` (vLLM), `meta.n_ctx_train` (llama.cpp), `max_input_tokens`, `max_output_tokens` and `mode` (LiteLLM),
 * `display_name` (Together AI); of what it reads `architecture.input_modalities` (OpenRouter) and `capabilities.vision` (Mistral).
 */
function readModel(model: JsonObject): UpstreamModel | undefined {
  const id = textOf(model.id) ?? textOf(model.name) ?? '';
  if (id === '') return undefined;
  const { supported_parameters, top_provider: provider, meta } = model;
  const parameters = Array.isArray(supported_parameters) ? supported_parameters : undefined;
  const lacks = (parameter: string) =>
    parameters?.includes(parameter) === false ? true : undefined;
  const inputTokenLimit =
    limitOf(model.context_length) ??
    limitOf(model.max_model_len) ??
    limitOf(model.context_window) ??
    limitOf(model.max_context_length) ??
    limitOf(model.max_input_tokens) ??
    limitOf(objectOf(meta)?.n_ctx) ??
    limitOf(objectOf(meta)?.n_ctx_train);
  return {
    id,
    displayName: nameOf(model, id),
    description: textOf(model.description),
    inputTokenLimit,
    outputTokenLimit:
      limitOf(objectOf(provider)?.max_completion_tokens) ??
      limitOf(model.max_completion_tokens) ??
      limitOf(model.max_output_tokens),
    supportsThinking: parameters?.includes('reasoning'),
    tasks: readTasks(model, id),
    refusesMedia: readRefusedMedia(model),
    callsFunctions:
      parameters?.includes('tools') ?? flagOf(objectOf(model.capabilities)?.function_calling),
    // Fields that a model does not have are sent all the same, and its service passes over them.
    refusesSchemas: lacks('structured_outputs'),
    refusesLogprobs: lacks('logprobs'),
  };
}

function nameOf({ name, display_name: shown }: JsonObject, id: string): string | undefined {
  return [textOf(shown), textOf(name)].find((one) => one !== undefined && one !== id);
}

/** Their words for what the wire calls `file`, and for the others. */
const LISTED_AS: Readonly<Record<Modality, string>> = {
  image: 'image',
  audio: 'audio',
  video: 'video',
  document: 'file',
};

function readRefusedMedia({ architecture, capabilities }: JsonObject) {
  const read = objectOf(architecture)?.input_modalities;
  if (Array.isArray(read)) return MODALITIES.filter((one) => !read.includes(LISTED_AS[one]));
  return flagOf(objectOf(capabilities)?.vision) === false ? (['image'] as const) : undefined;
}

/** By what the list says (Mistral's `completion_chat`, LM Studio's `type`, LiteLLM's `mode`), else by the word in the id. */
function readTasks(
  { capabilities, type, mode }: JsonObject,
  id: string,
): readonly ModelTask[] | undefined {
  const chats = objectOf(capabilities)?.completion_chat;
  if (type === 'embeddings' || type === 'embedding' || mode === 'embedding') return ['embed'];
  if (/(?:^|[-_/.])embed(?:ding)?s?(?:$|[-_/.:])/i.test(id)) return ['embed'];
  return chats === true || mode === 'chat' ? ['generate'] : undefined;
}

/** `openai` resources/embeddings.d.ts, `input`: at most 2048 texts. */
const MAX_INPUTS = 2048;

/** The wire body of one text; several that agree in all else are one request. */
export function encodeEmbedInput({ text, dimensions }: EmbedInput): JsonObject {
  return dimensions === undefined ? { input: text } : { input: text, dimensions };
}

/**
 * The vectors of `call.bodies` in their order, some at a time.
 * @throws GatewayError with `failure` set.
 */
export async function* embed(asked: Asked, call: UpstreamEmbedCall): AsyncGenerator<EmbedAnswer> {
  for (const bodies of batches(call.bodies)) yield await embedBatch(asked, { ...call, bodies });
}

function* batches(bodies: readonly JsonObject[]): Generator<readonly JsonObject[]> {
  let batch: JsonObject[] = [];
  let settings = '';
  for (const body of bodies) {
    const { input: _input, ...own } = body;
    const said = JSON.stringify(own);
    if (batch.length > 0 && (said !== settings || batch.length === MAX_INPUTS)) {
      yield batch;
      batch = [];
    }
    settings = said;
    batch.push(body);
  }
  if (batch.length > 0) yield batch;
}

async function embedBatch(
  { client, profile }: Asked,
  call: UpstreamEmbedCall,
): Promise<EmbedAnswer> {
  const { bodies, modelId } = call;
  const [first = {}] = bodies;
  const input = bodies.map((one) => one.input ?? '');
  const body = { ...first, model: modelId, input };
  const request = postRequest(profile, profile.paths.embeddings, { ...call, body });
  const answer = await client.readObject({ ...request, holdsVectors: true });
  const data = objectsOf(answer.data);
  if (data.length !== bodies.length) {
    throw pathFault(told`The upstream gave ${data.length} vectors for ${bodies.length} inputs.`);
  }
  const usage = objectOf(answer.usage);
  const embeddings = inOrder(data).map(readEmbedding);
  const length = embeddings[0]?.values.length;
  if (embeddings.some(({ values }) => values.length !== length)) {
    throw unreadableAnswer();
  }
  return {
    embeddings,
    promptTokens: limitOf(usage?.prompt_tokens),
    nativeUsages: usage === undefined ? [] : [usage],
  };
}

/** By their numbers, where these are those of the inputs; as they came where they are none. */
function inOrder(data: readonly JsonObject[]): readonly JsonObject[] {
  const sorted = data.toSorted(
    (one, other) => (readNumber(one.index) ?? 0) - (readNumber(other.index) ?? 0),
  );
  return sorted.every(({ index }, at) => readNumber(index) === at) ? sorted : data;
}

function readEmbedding(native: JsonObject): Embedding {
  const { embedding } = native;
  const values = vectorOf(typeof embedding === 'string' ? readFloats(embedding) : embedding);
  if (values === undefined) {
    throw pathFault(told`The upstream gave an embedding without a vector.`);
  }
  return { values, native };
}

const BYTES_PER_FLOAT = 4;

/** Base64 of single precision, little-endian; nothing for what is none. */
function readFloats(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64');
  if (!isDenseBase64(base64) || bytes.length % BYTES_PER_FLOAT !== 0) return [];
  const length = bytes.length / BYTES_PER_FLOAT;
  return Array.from({ length }, (_, at) => bytes.readFloatLE(at * BYTES_PER_FLOAT));
}
