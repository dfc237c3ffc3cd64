// The arguments of a tool call, joined from its events.

import { isJsonObject, type JsonObject, parseJson } from '../lib/json.ts';

/** By the events' contract the pieces are one JSON object, or nothing for `{}`. @throws Error otherwise. */
export function readCallInput(json: string): JsonObject {
  if (json === '') return {};
  const value = parseJson(json);
  if (!isJsonObject(value)) throw new Error('Tool call arguments are not a JSON object.');
  return value;
}
