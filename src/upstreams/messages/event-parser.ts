// Which events of a stream say one text and nothing else: the deltas of a block.

import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { TextEvent } from '../transport/repeated-texts.ts';

/** The string that each kind of delta carries. */
const FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
]);

export function findTextDelta(event: JsonObject): TextEvent | undefined {
  const { type, delta } = event;
  if (type !== 'content_block_delta' || !isJsonObject(delta)) return undefined;
  const field = FIELDS.get(delta.type);
  const text = field === undefined ? undefined : delta[field];
  if (field === undefined || typeof text !== 'string') return undefined;
  return { field, text, write: (said) => ({ ...event, delta: { ...delta, [field]: said } }) };
}
