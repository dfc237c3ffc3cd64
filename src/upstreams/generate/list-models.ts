// Reads the upstream's own model list.

import { GatewayError } from '../../canonical/error.ts';
import type { ModelTask } from '../../canonical/model.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import type { AccountAccess, UpstreamModel } from '../upstream.ts';
import { traitsOf } from './capabilities.ts';
import type { UpstreamClient } from './client.ts';
import type { GenerateProfile } from './profiles/profile.ts';
import { listRequest } from './requests.ts';

/** Far above any real list; a list that goes on for longer goes round in circles. */
const MAX_PAGES = 50;

export interface ListOptions {
  readonly client: UpstreamClient;
  readonly profile: GenerateProfile;
  readonly access: AccountAccess;
  readonly signal: AbortSignal;
}

/**
 * The models that generate or embed content, each once, ids without `models/`. None when the upstream may
 * refuse the list and does: the account may serve all the same.
 * @throws GatewayError with `failure` set.
 */
export async function listModels(options: ListOptions): Promise<readonly UpstreamModel[]> {
  try {
    return await readList(options);
  } catch (error) {
    if (options.profile.mayRefuseList && isRefusal(error)) return [];
    throw error;
  }
}

/** Statuses of a list that is not there, or not for this account. */
const REFUSED = [403, 404, 405, 501];

function isRefusal(error: unknown): boolean {
  const status = error instanceof GatewayError ? error.failure?.status : undefined;
  return status !== undefined && REFUSED.includes(status);
}

async function readList(options: ListOptions): Promise<readonly UpstreamModel[]> {
  const { client, profile, access, signal } = options;
  const models = new Map<string, UpstreamModel>();
  let token = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await client.readObject(listRequest(profile, access, { token, signal }));
    for (const model of readModels(answer.models ?? answer.publisherModels))
      models.set(model.id, model);
    const next = textOf(answer.nextPageToken) ?? '';
    if (next === '' || next === token) break;
    token = next;
  }
  return [...models.values()];
}

function readModels(list: JsonValue | undefined): UpstreamModel[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isJsonObject).flatMap(readModel);
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

function readModel(model: JsonObject): UpstreamModel[] {
  const id = textOf(model.name)?.replace(/^(?:publishers\/[^/]+\/)?models\//, '') ?? '';
  const tasks = readTasks(model, id);
  if (id === '' || tasks?.length === 0) return [];
  const thinks = model.thinking ?? model.supportsThinking;
  return [
    {
      id,
      displayName: textOf(model.displayName),
      description: textOf(model.description),
      inputTokenLimit: readLimit(model.inputTokenLimit),
      outputTokenLimit: readLimit(model.outputTokenLimit ?? model.maxOutputTokens),
      supportsThinking: typeof thinks === 'boolean' ? thinks : undefined,
      tasks,
    },
  ];
}

function readLimit(value: JsonValue | undefined): number | undefined {
  const limit = typeof value === 'string' ? Number(value) : readNumber(value);
  return limit !== undefined && Number.isSafeInteger(limit) && limit > 0 ? limit : undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
