// Writes model listings in the Messages shape, with the chat protocol's keys beside it.

import {
  type ListedModel,
  pickModelPage,
  writeListElement,
  writeListFrame,
} from '../../canonical/model.ts';
import type { JsonObject } from '../../lib/json.ts';
import { isMessagesFamily } from '../../wire/vocabulary.ts';

/** A page of the list: `limit`, `after_id` and `before_id` as the protocol defines them. */
export function writeModelList(models: readonly ListedModel[], query: URLSearchParams): JsonObject {
  const stages = [...query.getAll('lifecycle'), ...query.getAll('lifecycle[]')];
  // Every listed model is active.
  const isAsked = stages.length === 0 || stages.includes('active');
  const { page, hasMore } = pickModelPage(isAsked ? models : [], query);
  return { ...writeListFrame(page, hasMore), data: page.map(writeModel) };
}

/** The same list, restricted to the names this protocol's own clients recognise. */
export function writeFamilyList(
  models: readonly ListedModel[],
  query: URLSearchParams,
): JsonObject {
  const family = models.filter((model) => isMessagesFamily(model.id));
  return writeModelList(family, query);
}

export function writeModel(model: ListedModel) {
  return {
    ...writeListElement(model),
    max_input_tokens: model.inputTokenLimit ?? null,
    max_tokens: model.outputTokenLimit ?? null,
    lifecycle: 'active' as const,
    line: null,
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
  };
}
