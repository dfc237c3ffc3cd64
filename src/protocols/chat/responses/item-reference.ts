// Tells items that stand for one of an earlier answer.

import { type GatewayError, invalidRequest } from '../../../canonical/error.ts';
import { memberPath } from '../../../canonical/field-reader.ts';
import type { JsonObject } from '../../../lib/json.ts';

/** The type may be left out: an id alone is one too (`openai` resources/responses, `ItemReference`). */
export function isReference(item: JsonObject): boolean {
  const { id, type = null } = item;
  if (type !== null) return type === 'item_reference';
  return typeof id === 'string' && Object.keys(item).every((key) => key === 'id' || key === 'type');
}

/**
 * The id of the item this one stands for. A drawing is gone on with by its id, without the picture
 * (platform.openai.com, "Image generation", multi-turn editing).
 */
export function referredId(item: JsonObject): string | undefined {
  if (typeof item.id !== 'string') return undefined;
  return isReference(item) || isBareDrawing(item) ? item.id : undefined;
}

/** @returns 400 naming the id */
export function unknownReference(path: string, id: string): GatewayError {
  return invalidRequest(
    memberPath(path, 'id'),
    `${memberPath(path, 'id')}: no item "${id}" is kept here; send the item itself.`,
    'thread-not-found',
  );
}

/** One that failed has no picture either, and stands for nothing but itself. */
function isBareDrawing({ type, result = null, status = null }: JsonObject): boolean {
  if (type !== 'image_generation_call' || (result !== null && result !== '')) return false;
  return status === null || status === 'completed';
}
