// Asks the upstream what is no answer of a model: token counts, the model list, quotas.

import { GatewayError } from '../../canonical/error.ts';
import type { ModelTask } from '../../canonical/model.ts';
import type { Clock } from '../../lib/clock.ts';
import { definedFields, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { isMissingCall, isMissingList, pathFault } from '../errors.ts';
import { countOf, itemsOf, numberOf, objectOf, objectsOf, textOf } from '../read-values.ts';
import type { UpstreamClient } from '../transport/client.ts';
import type {
  AccountAccess,
  TokenCount,
  UpstreamCall,
  UpstreamModel,
  UpstreamQuota,
} from '../upstream.ts';
import { readTokenCount } from './decode.ts';
import { traitsOf } from './models.ts';
import type { GenerateProfile } from './profiles.ts';
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
  const count = async (call: CountCall, body: JsonObject): Promise<number> => {
    const answer = await client.readObject(modelRequest(profile, 'countTokens', { ...call, body }));
    const total = readTokenCount(answer.totalTokens);
    if (total !== undefined) return total;
    throw pathFault(told`The upstream gave no token count.`);
  };
  /** Whether it was the request that was refused, and not the form. */
  const takesWhole = async (call: CountCall): Promise<boolean> => {
    const body = { contents: contentsOf(call) };
    try {
      return (await count(call, wholeRequest({ ...call, body }))) > 0;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return false;
    }
  };
  /** Undefined where the upstream takes no whole requests. */
  const countWhole = async (call: CountCall): Promise<number | undefined> => {
    try {
      const total = await count(call, wholeRequest(call));
      if (total >= MIN_WHOLE_COUNT) return total;
    } catch (error) {
      if (!isRefusal(error) || (await takesWhole(call))) throw error;
    }
    return undefined;
  };
  const countAsFarAsTaken = async (call: CountCall): Promise<TokenCount> => {
    const uncounted = textBeside(call.body);
    const isTried = uncounted !== undefined && clock.monotonic() >= contentsUntil;
    const whole = isTried ? await countWhole(call) : undefined;
    if (whole !== undefined) return { total: whole };
    const total = await count(call, { contents: contentsOf(call) });
    if (isTried) contentsUntil = clock.monotonic() + CONTENTS_FOR_MS;
    return uncounted === undefined ? { total } : { total, uncounted };
  };
  return async (call: CountCall): Promise<TokenCount> => {
    switch (profile.countForm) {
      case 'whole-request':
        return { total: await count(call, wholeRequest(call)) };
      case 'request-fields':
        return { total: await count(call, requestFields(call.body)) };
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
  const thinks = model.thinking ?? model.supportsThinking;
  return {
    id,
    displayName: textOf(model.displayName),
    description: textOf(model.description),
    inputTokenLimit: countOf(model.inputTokenLimit) || undefined,
    outputTokenLimit: countOf(model.outputTokenLimit ?? model.maxOutputTokens) || undefined,
    supportsThinking: typeof thinks === 'boolean' ? thinks : undefined,
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
