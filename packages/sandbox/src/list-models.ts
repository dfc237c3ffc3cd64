// The model list, in pages.

import { badRequest } from './errors.ts';
import type { JsonObject } from './json.ts';
import { SANDBOX_MODELS, writeModel } from './models.ts';

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/**
 * `{models, nextPageToken?}`; a page token is the position to go on from.
 * @throws SandboxError 400 when pageSize or pageToken is no whole number.
 */
export function listModels(query: URLSearchParams): JsonObject {
  const size = Math.min(readCount(query, 'pageSize') || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const from = readCount(query, 'pageToken');
  const models = SANDBOX_MODELS.slice(from, from + size).map(writeModel);
  const next = from + size;
  return { models, ...(next < SANDBOX_MODELS.length && { nextPageToken: String(next) }) };
}

function readCount(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  if (!/^\d{0,6}$/.test(text)) {
    throw badRequest([{ field: name, description: 'must be a whole number' }]);
  }
  return Number(text);
}
