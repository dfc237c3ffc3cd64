// Reads the upstream's own model list.

import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import type { AccountAccess, UpstreamModel } from '../upstream.ts';
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
 * The models that generate content, each once, ids without `models/`.
 * @throws GatewayError with `failure` set.
 */
export async function listModels(options: ListOptions): Promise<readonly UpstreamModel[]> {
  const { client, profile, access, signal } = options;
  const models = new Map<string, UpstreamModel>();
  let token = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await client.readObject(listRequest(profile, access, { token, signal }));
    for (const model of readModels(answer.models)) models.set(model.id, model);
    const next = textOf(answer.nextPageToken) ?? '';
    if (next === '' || next === token) break;
    token = next;
  }
  return [...models.values()];
}

function readModels(list: JsonValue | undefined): UpstreamModel[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isJsonObject).filter(generatesContent).flatMap(readModel);
}

/** Lists that say nothing about methods hold nothing else. */
function generatesContent({ supportedGenerationMethods: methods }: JsonObject): boolean {
  return !Array.isArray(methods) || methods.includes('generateContent');
}

function readModel(model: JsonObject): UpstreamModel[] {
  const id = textOf(model.name)?.replace(/^models\//, '') ?? '';
  if (id === '') return [];
  const thinks = model.thinking ?? model.supportsThinking;
  return [
    {
      id,
      displayName: textOf(model.displayName),
      description: textOf(model.description),
      inputTokenLimit: readLimit(model.inputTokenLimit),
      outputTokenLimit: readLimit(model.outputTokenLimit ?? model.maxOutputTokens),
      supportsThinking: typeof thinks === 'boolean' ? thinks : undefined,
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
