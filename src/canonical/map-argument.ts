// The one argument that holds all arguments of a tool whose argument names are free.

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../lib/json.ts';

/** Where the upstream takes objects of declared members alone, a map goes as the JSON text of this argument. */
export const MAP_ARGUMENT = 'entries';

export function wrapMapArguments(input: JsonObject): JsonObject {
  const isWrapped = unwrapMapArguments(input) !== undefined;
  return isWrapped ? input : { [MAP_ARGUMENT]: JSON.stringify(input) };
}

/** The arguments inside; undefined when they did not come as that one argument. */
export function unwrapMapArguments(input: JsonObject): JsonObject | undefined {
  const { [MAP_ARGUMENT]: held, ...others } = input;
  if (held === undefined || Object.keys(others).length > 0) return undefined;
  const value = typeof held === 'string' ? tryParse(held) : held;
  return isJsonObject(value) ? value : undefined;
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
