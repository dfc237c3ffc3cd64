// One page of a list of items, as stored responses and conversations show theirs.

import { invalidRequest } from '../canonical/error.ts';
import type { JsonObject } from '../lib/json.ts';
import { showItem } from '../protocols/chat/responses/response-object.ts';
import { unknownWord } from '../protocols/chat/schema.ts';

const MAX_LISTED = 100;

/** Newest first unless asked otherwise, as the real service lists them. @throws GatewayError 400 */
export function writeItemPage(inOrder: readonly JsonObject[], query: URLSearchParams): JsonObject {
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw unknownWord('order', ['asc', 'desc']);
  const items = order === 'asc' ? inOrder : inOrder.toReversed();
  const after = query.get('after');
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) {
    throw invalidRequest('after', 'after must be the id of an item of this list.');
  }
  const page = items.slice(start, start + readLimit(query)).map(showItem);
  return {
    object: 'list',
    data: page,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: start + page.length < items.length,
  };
}

/** @throws GatewayError 400 */
function readLimit(query: URLSearchParams): number {
  const text = query.get('limit') ?? '20';
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LISTED) return limit;
  throw invalidRequest('limit', `limit must be a whole number from 1 to ${MAX_LISTED}.`);
}
