// Completes items for showing: clients leave out what the real service fills in, and typed readers want it.

import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';

/** Kinds that have a status wherever they are shown (`openai` resources/responses, `ResponseItem`). */
const WITH_STATUS = new Set<JsonValue | undefined>([
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'tool_search_call',
  'tool_search_output',
]);

/** What items of a kind hold besides. */
const ITEM_DEFAULTS: ReadonlyMap<JsonValue | undefined, JsonObject> = new Map([
  ['shell_call_output', { max_output_length: null }],
  ['tool_search_call', { execution: 'client' }],
  ['tool_search_output', { execution: 'client' }],
]);

/** What parts of content always hold when they are shown. */
const PART_DEFAULTS: ReadonlyMap<JsonValue | undefined, JsonObject> = new Map([
  ['input_image', { detail: 'auto' }],
  ['output_text', { annotations: [] }],
]);

/** The item as lists and single reads hold it; what it says itself stays. */
export function showItem(item: JsonObject): JsonObject {
  const shown = { ...ITEM_DEFAULTS.get(item.type), ...item };
  if (WITH_STATUS.has(item.type)) shown.status = item.status ?? 'completed';
  for (const key of ['content', 'output']) {
    const parts = item[key];
    if (Array.isArray(parts)) shown[key] = parts.map(showPart);
  }
  return shown;
}

function showPart(part: JsonValue): JsonValue {
  if (!isJsonObject(part)) return part;
  return { ...PART_DEFAULTS.get(part.type), ...part };
}
