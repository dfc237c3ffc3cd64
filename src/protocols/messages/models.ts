// Writes model listings in the Messages shape, with the chat protocol's keys beside it.

import { type ListedModel, writeListElement, writeListFrame } from '../../canonical/model-list.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { MessagesModel, MessagesModelList } from '../../wire/messages.ts';
import { isMessagesFamily } from '../../wire/vocabulary.ts';

/** Largest page the protocol hands out. */
const MAX_LIMIT = 1000;

/** A page of the list: `limit`, `after_id` and `before_id` as the protocol defines them. */
export function writeModelList(models: readonly ListedModel[], query: URLSearchParams): JsonObject {
  const { page, hasMore } = pickPage(filterLifecycle(models, query), query);
  return {
    ...writeListFrame(page, hasMore),
    data: page.map(writeModel),
  } satisfies MessagesModelList;
}

/** The same list, restricted to the names this protocol's own clients recognise. */
export function writeFamilyList(
  models: readonly ListedModel[],
  query: URLSearchParams,
): JsonObject {
  return writeModelList(
    models.filter((model) => isMessagesFamily(model.id)),
    query,
  );
}

export function writeModel(model: ListedModel): MessagesModel {
  return {
    ...writeListElement(model),
    max_input_tokens: model.inputTokenLimit,
    max_tokens: model.outputTokenLimit,
    lifecycle: 'active',
    line: null,
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
  };
}

interface Page {
  readonly page: readonly ListedModel[];
  /** True when there is more in the direction of paging. */
  readonly hasMore: boolean;
}

/** Without `limit` the page is the whole list, so that clients which never page see everything. */
function pickPage(models: readonly ListedModel[], query: URLSearchParams): Page {
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

/** Every listed model is active. */
function filterLifecycle(
  models: readonly ListedModel[],
  query: URLSearchParams,
): readonly ListedModel[] {
  const stages = [...query.getAll('lifecycle'), ...query.getAll('lifecycle[]')];
  return stages.length === 0 || stages.includes('active') ? models : [];
}
