// Reads the arguments of a call, whatever a compatible upstream puts in their place.

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';

/** The wire has an object. What compatible upstreams put there instead (its JSON text, a list) is not lost. */
export function readArguments(args: JsonValue | undefined): JsonObject {
  if (args === undefined || args === null || args === '') return {};
  if (isJsonObject(args)) return args;
  const value = typeof args === 'string' ? valueOfText(args) : args;
  return isJsonObject(value) ? value : { value };
}

function valueOfText(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
