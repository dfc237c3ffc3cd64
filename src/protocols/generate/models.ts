// The model list and single models, with the keys of all three protocols under the shared prefix.

import { invalidRequest } from '../../canonical/error.ts';
import {
  type ListedModel,
  UNTOLD_LIMITS,
  writeListElement,
  writeListFrame,
  writeNativeElement,
} from '../../canonical/model.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { RouteInput } from '../protocol.ts';
import { fieldError } from './schema.ts';

/** `/v1/models` is one path for three protocols: its answers suit every parser. */
export type ModelPrefix = '/v1' | '/v1beta' | '/v1alpha';

const MAX_PAGE_SIZE = 1000;

/**
 * `{models, nextPageToken?}`. All models, unless the query asks for pages (`pageSize`, `pageToken`).
 * @throws GatewayError (invalid-request) for a page size or token that is none.
 */
export function writeModels(
  models: readonly ListedModel[],
  query: URLSearchParams,
  prefix: ModelPrefix,
): JsonObject {
  const { page, nextPageToken } = pickPage(models, query);
  const body: JsonObject = { models: page.map((model) => writeModel(model, '/v1beta')) };
  if (nextPageToken !== undefined) body.nextPageToken = nextPageToken;
  if (prefix !== '/v1') return body;
  return {
    ...body,
    ...writeListFrame(page, nextPageToken !== undefined),
    data: page.map(writeListElement),
  };
}

/** `maxOutputTokens` and `supportsThinking` are this product's additions. */
export function writeModel(model: ListedModel, prefix: ModelPrefix): JsonObject {
  const own: JsonObject = {
    ...writeNativeElement(model),
    baseModelId: model.id,
    version: '1',
    maxOutputTokens: model.outputTokenLimit ?? UNTOLD_LIMITS.outputTokenLimit,
    supportsThinking: model.supportsThinking,
    temperature: 1,
    maxTemperature: 2,
    topP: 0.95,
    topK: 64,
  };
  return prefix === '/v1' ? { ...own, ...writeListElement(model) } : own;
}

function pickPage(
  models: readonly ListedModel[],
  query: URLSearchParams,
): { page: readonly ListedModel[]; nextPageToken?: string } {
  const start = readPageToken(query.get('pageToken') ?? query.get('page_token'));
  const size = readPageSize(query.get('pageSize') ?? query.get('page_size'));
  const end = size === undefined ? models.length : start + size;
  const page = models.slice(start, end);
  if (end >= models.length) return { page };
  return { page, nextPageToken: Buffer.from(`after:${end}`).toString('base64url') };
}

/** 0 means the service's choice, and more than the largest page means the largest. */
function readPageSize(text: string | null): number | undefined {
  if (text === null || text === '' || text === '0') return undefined;
  if (!/^\d+$/.test(text)) throw fieldError('pageSize', 'must be a whole number, not negative.');
  return Math.min(Number(text), MAX_PAGE_SIZE);
}

function readPageToken(text: string | null): number {
  if (text === null || text === '') return 0;
  const position = /^after:(\d{1,9})$/.exec(Buffer.from(text, 'base64url').toString('utf8'));
  if (position === null) {
    throw fieldError(
      'pageToken',
      'is not one this list gave. Leave it out to start from the beginning.',
    );
  }
  return Number(position[1]);
}

/** Its own guides send clients to `/v1alpha` for fields that are newer than the rest. */
export const MODEL_PREFIXES: readonly ModelPrefix[] = ['/v1beta', '/v1', '/v1alpha'];

/** @throws GatewayError 400 when the path names no model */
export function readPathModel(input: RouteInput): string {
  if (input.pathModel !== '') return input.pathModel;
  throw invalidRequest('model', 'The path must name a model.', 'missing-field');
}
