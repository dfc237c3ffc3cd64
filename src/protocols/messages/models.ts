// Writes model listings in the Messages shape, with the chat protocol's keys beside it.

import {
  type ListedModel,
  pickModelPage,
  writeListElement,
  writeListFrame,
} from '../../canonical/model.ts';

import type { JsonObject } from '../../lib/json.ts';
import type { MessagesModel, MessagesModelList } from '../../wire/messages.ts';
import { isMessagesFamily } from '../../wire/vocabulary.ts';

/** A page of the list: `limit`, `after_id` and `before_id` as the protocol defines them. */
export function writeModelList(models: readonly ListedModel[], query: URLSearchParams): JsonObject {
  const { page, hasMore } = pickModelPage(filterLifecycle(models, query), query);
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

/** Every listed model is active. */
function filterLifecycle(
  models: readonly ListedModel[],
  query: URLSearchParams,
): readonly ListedModel[] {
  const stages = [...query.getAll('lifecycle'), ...query.getAll('lifecycle[]')];
  return stages.length === 0 || stages.includes('active') ? models : [];
}
