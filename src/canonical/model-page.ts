// One page of the model list: `limit`, `after_id` and `before_id` (Messages API: List Models).

import type { ListedModel } from './model-list.ts';

/** Largest page that is handed out. */
const MAX_LIMIT = 1000;

interface ModelPage {
  readonly page: readonly ListedModel[];
  /** True when there is more in the direction of paging. */
  readonly hasMore: boolean;
}

/** Without `limit` the page is the whole list, so that clients which never page see everything. */
export function pickModelPage(models: readonly ListedModel[], query: URLSearchParams): ModelPage {
  const limit = readLimit(query.get('limit'));
  const beforeId = query.get('before_id');
  if (beforeId) {
    const end = Math.max(0, indexOf(models, beforeId));
    const start = Math.max(0, end - limit);
    return { page: models.slice(start, end), hasMore: start > 0 };
  }
  const afterId = query.get('after_id');
  const start = afterId ? indexAfter(models, afterId) : 0;
  return { page: models.slice(start, start + limit), hasMore: start + limit < models.length };
}

function readLimit(text: string | null): number {
  if (text === null || !/^\d{1,6}$/.test(text)) return MAX_LIMIT;
  return Math.min(MAX_LIMIT, Math.max(1, Number(text)));
}

/** An unknown id ends the paging: starting over would never end. */
function indexAfter(models: readonly ListedModel[], id: string): number {
  const index = indexOf(models, id);
  return index < 0 ? models.length : index + 1;
}

function indexOf(models: readonly ListedModel[], id: string): number {
  return models.findIndex((model) => model.id === id);
}
