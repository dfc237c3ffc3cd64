// The one argument that holds all arguments of a tool whose argument names are free.

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../lib/json.ts';
import type { JsonBudget } from '../lib/json-survey.ts';

/** Where the upstream takes objects of declared members alone, a map goes as the JSON text of this argument. */
export const MAP_ARGUMENT = 'entries';

export function wrapMapArguments(input: JsonObject, budget: JsonBudget): JsonObject {
  const isWrapped = unwrapMapArguments(input, budget) !== undefined;
  return isWrapped ? input : { [MAP_ARGUMENT]: JSON.stringify(input) };
}

/** The arguments inside; undefined when they did not come as that one argument. */
export function unwrapMapArguments(input: JsonObject, budget?: JsonBudget): JsonObject | undefined {
  const { [MAP_ARGUMENT]: held, ...others } = input;
  if (held === undefined || Object.keys(others).length > 0) return undefined;
  const value = typeof held === 'string' ? tryParse(held, budget) : held;
  return isJsonObject(value) ? value : undefined;
}

function tryParse(text: string, budget: JsonBudget | undefined): JsonValue | undefined {
  try {
    return parseJson(text, budget);
  } catch {
    return undefined;
  }
}
