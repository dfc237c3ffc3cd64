// Asks the upstream what is no answer of a model: token counts, the model list, quotas; and embeddings.

import type { EmbedAnswer, Embedding, EmbedInput } from '../../canonical/embedding.ts';
import { GatewayError, invalidRequest } from '../../canonical/error.ts';
import type { ModelTask, UpstreamModel } from '../../canonical/model.ts';
import type { UpstreamQuota } from '../../canonical/quota.ts';
import { readTokenCount } from '../../canonical/usage.ts';
import type { Clock } from '../../lib/clock.ts';
import { definedFields, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import {
  countOf,
  flagOf,
  itemsOf,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  vectorOf,
} from '../../lib/read-values.ts';
import { isMissingCall, isMissingList, pathFault } from '../errors.ts';
import type { UpstreamClient } from '../transport/client.ts';
import type { AccountAccess, TokenCount, UpstreamCall, UpstreamEmbedCall } from '../upstream.ts';
import { readMedia } from './endings.ts';
import { traitsOf } from './models.ts';
import type { EmbedFormName, GenerateProfile, ModelMethod } from './profiles.ts';
import { modelRequest, requestOf } from './requests.ts';

type CountCall = Omit<UpstreamCall, 'stream'>;

/** Whom to ask. */
interface Asked {
  readonly client: Pick<UpstreamClient, 'readObject'>;
  readonly profile: GenerateProfile;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** An upstream that refused whole requests is not sent one to count for this long. */
const CONTENTS_FOR_MS = 60 * 60 * 1000;
/** An upstream that passes over what it does not know finds nothing to count. */
const MIN_WHOLE_COUNT = 2;

/** The counter throws GatewayError with `failure` set. */
export function createTokenCounter({ client, profile, clock }: Asked) {
  let contentsUntil = Number.NEGATIVE_INFINITY;
  const count = async (call: CountCall, body: JsonObject): Promise<TokenCount> => {
    const answer = await client.readObject(modelRequest(profile, 'countTokens', { ...call, body }));
    const total = readTokenCount(answer.totalTokens);
    if (total !== undefined) return { total, answer };
    throw pathFault(told`The upstream gave no token count.`);
  };
  /** Whether it was the request that was refused, and not the form. */
  const takesWhole = async (call: CountCall): Promise<boolean> => {
    const body = { contents: contentsOf(call) };
    try {
      return (await count(call, wholeRequest({ ...call, body }))).total > 0;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return false;
    }
  };
  /** Undefined where the upstream takes no whole requests. */
  const countWhole = async (call: CountCall): Promise<TokenCount | undefined> => {
    try {
      const counted = await count(call, wholeRequest(call));
      if (counted.total >= MIN_WHOLE_COUNT) return counted;
    } catch (error) {
      if (!isRefusal(error) || (await takesWhole(call))) throw error;
    }
    return undefined;
  };
  const countAsFarAsTaken = async (call: CountCall): Promise<TokenCount> => {
    const uncounted = textBeside(call.body);
    const isTried = uncounted !== undefined && clock.monotonic() >= contentsUntil;
    const whole = isTried ? await countWhole(call) : undefined;
    if (whole !== undefined) return whole;
    const counted = await count(call, { contents: contentsOf(call) });
    if (isTried) contentsUntil = clock.monotonic() + CONTENTS_FOR_MS;
    return uncounted === undefined ? counted : { ...counted, uncounted };
  };
  return async (call: CountCall): Promise<TokenCount> => {
    switch (profile.countForm) {
      case 'whole-request':
        return count(call, wholeRequest(call));
      case 'request-fields':
        return count(call, requestFields(call.body));
      case 'whole-or-contents':
        return countAsFarAsTaken(call);
      default:
        return profile.countForm satisfies never;
    }
  };
}

/** Safety settings do not change the count, and some upstreams refuse them here. */
function wholeRequest({ body, modelId }: CountCall): JsonObject {
  const { safetySettings, ...request } = body;
  return { generateContentRequest: { model: `models/${modelId}`, ...request } };
}

function contentsOf({ body }: CountCall): JsonValue {
  return body.contents ?? [];
}

/** Vertex AI, "CountTokensRequest". */
function requestFields(body: JsonObject): JsonObject {
  const { contents, systemInstruction, tools, generationConfig } = body;
  return definedFields({ contents, systemInstruction, tools, generationConfig }) ?? {};
}

/** What counts beside the contents: the system text, and tools as they are written. */
function textBeside({ systemInstruction, tools }: JsonObject): string | undefined {
  const written = itemsOf(tools).length > 0 ? JSON.stringify(tools) : '';
  const texts = objectsOf(objectOf(systemInstruction)?.parts).map(({ text }) => text);
  const system = texts.filter((text) => typeof text === 'string').join('\n');
  return `${system}${written}` || undefined;
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.failure === undefined) return false;
  const { kind, status } = error.failure;
  return kind === 'rejected' && status !== 413;
}

/** Far above any real list; a list that goes on for longer goes round in circles. */
const MAX_PAGES = 50;

/**
 * The models that generate or embed content, each once, ids without `models/`. None when the upstream may
 * refuse the list and does: the account may serve all the same.
 * @throws GatewayError with `failure` set.
 */
export async function listModels(
  { client, profile }: Pick<Asked, 'client' | 'profile'>,
  access: AccountAccess,
  signal: AbortSignal,
): Promise<readonly UpstreamModel[]> {
  const models = new Map<string, UpstreamModel>();
  const query: Record<string, string> = { pageSize: String(profile.listPageSize) };
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const request = requestOf(profile, { access, signal }, profile.listPath, query);
      const answer = await client.readObject(request);
      for (const item of objectsOf(answer.models ?? answer.publisherModels)) {
        const model = readModel(item);
        if (model !== undefined) models.set(model.id, model);
      }
      const next = textOf(answer.nextPageToken);
      if (next === undefined || next === query.pageToken) break;
      query.pageToken = next;
    }
  } catch (error) {
    if (isMissingList(error) && profile.mayRefuseList) return [];
    throw error;
  }
  return [...models.values()];
}

/** What the methods of a model amount to; undefined when neither the list nor anybody else says. */
function readTasks(
  { supportedGenerationMethods: methods }: JsonObject,
  id: string,
): readonly ModelTask[] | undefined {
  if (!Array.isArray(methods)) return traitsOf(id).embeds ? ['embed'] : undefined;
  return TASK_METHODS.filter(([, method]) => methods.includes(method)).map(([task]) => task);
}

const TASK_METHODS: readonly (readonly [ModelTask, method: string])[] = [
  ['generate', 'generateContent'],
  ['embed', 'embedContent'],
];

function readModel(model: JsonObject): UpstreamModel | undefined {
  const id = textOf(model.name)?.replace(/^(?:publishers\/[^/]+\/)?models\//, '') ?? '';
  const tasks = readTasks(model, id);
  if (id === '' || tasks?.length === 0) return undefined;
  return {
    id,
    displayName: textOf(model.displayName),
    description: textOf(model.description),
    inputTokenLimit: countOf(model.inputTokenLimit) || undefined,
    outputTokenLimit: countOf(model.outputTokenLimit ?? model.maxOutputTokens) || undefined,
    supportsThinking: flagOf(model.thinking ?? model.supportsThinking),
    tasks,
  };
}

type ModelRow = UpstreamQuota['models'][number];

/** An upstream without the call is not asked again for this long. */
const NONE_FOR_MS = 60 * 60 * 1000;
const TIERS = ['ultra', 'pro', 'free'] as const;

/**
 * Answers undefined for an upstream that has no such call. Whether it has one is the upstream's
 * property and not the account's, so that one account's 404 spares the others the question.
 */
export function createQuotaReader({ client, profile, clock }: Asked) {
  const { quotaPath } = profile;
  let noneUntil = Number.NEGATIVE_INFINITY;
  return async (access: AccountAccess, signal: AbortSignal): Promise<UpstreamQuota | undefined> => {
    if (quotaPath === undefined) return undefined;
    signal.throwIfAborted();
    if (clock.monotonic() < noneUntil) return undefined;
    try {
      const request = requestOf(profile, { access, signal }, quotaPath);
      return readQuotaAnswer(await client.readObject(request));
    } catch (error) {
      if (!isMissingCall(error)) throw error;
      noneUntil = clock.monotonic() + NONE_FOR_MS;
      return undefined;
    }
  };
}

/**
 * `{tier, project, models: [{name, remainingFraction, remainingAmount, resetTime}]}`; what cannot be read
 * is left out. Undefined when it is no such document: a list of models, as upstreams give that answer
 * every path with it, has rows, but neither a fraction nor a reset time in any of them.
 */
function readQuotaAnswer(answer: JsonObject): UpstreamQuota | undefined {
  const word = trimmedOf(answer.tier)?.toLowerCase();
  const tier = TIERS.find((known) => known === word);
  const projectId = trimmedOf(answer.project);
  const rows = objectsOf(answer.models);
  const isOfQuota = rows.some(hasFigure);
  if (!isOfQuota && tier === undefined && projectId === undefined) return undefined;
  const models = new Map<string, ModelRow>();
  for (const row of isOfQuota ? rows.flatMap(readRow) : []) models.set(row.id, row);
  return { tier, projectId, models: [...models.values()] };
}

function hasFigure({ remainingFraction, resetTime }: JsonObject): boolean {
  return numberOf(remainingFraction) !== undefined || readTime(resetTime) !== undefined;
}

/** Beside rows with figures one without a fraction means 0, which proto-JSON may leave out. */
function readRow(row: JsonObject): ModelRow[] {
  const id = (trimmedOf(row.name) ?? trimmedOf(row.id))?.replace(/^models\//, '') ?? '';
  if (id === '') return [];
  const fraction = numberOf(row.remainingFraction) ?? 0;
  return [
    {
      id,
      remainingFraction: Math.min(Math.max(fraction, 0), 1),
      remainingCalls: countsCalls(row) ? countOf(row.remainingAmount) : undefined,
      resetsAt: readTime(row.resetTime),
    },
  ];
}

/** Amounts may be of tokens instead. */
function countsCalls({ tokenType }: JsonObject): boolean {
  return tokenType === undefined || trimmedOf(tokenType)?.toUpperCase() === 'REQUESTS';
}

/** A time stamp of RFC 3339, as google.protobuf.Timestamp is written in JSON. */
function readTime(value: JsonValue | undefined): number | undefined {
  const at = Date.parse(trimmedOf(value) ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function trimmedOf(value: JsonValue | undefined): string | undefined {
  return textOf(value)?.trim() || undefined;
}

// Has the upstream embed contents: in batches, in order, each batch given as soon as it is there.

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
  const request = modelRequest(profile, method, { ...call, body });
  const answer = await client.readObject({ ...request, holdsVectors: true });
  const { embeddings, usage } = form.decode(answer);
  if (embeddings.length !== bodies.length) {
    throw pathFault(
      told`The upstream gave ${embeddings.length} vectors for ${bodies.length} inputs.`,
    );
  }
  return {
    embeddings: embeddings.map(readEmbedding),
    promptTokens: readTokenCount(usage?.promptTokenCount),
    media: readMedia(usage?.promptTokenDetails ?? usage?.promptTokensDetails),
    nativeUsages: usage === undefined ? [] : [usage],
  };
}

function readEmbedding(value: JsonValue): Embedding {
  const native = objectOf(value);
  const values = vectorOf(native?.values);
  if (native === undefined || values === undefined) {
    throw pathFault(told`The upstream gave an embedding without a vector.`);
  }
  return { values, native };
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
    const instance: JsonObject = { content: onlyText(body.content) };
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

function onlyText(value: JsonValue | undefined): string {
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
