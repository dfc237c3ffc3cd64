// Reads the arguments of a tool call in the history: JSON text, as the model wrote it.

import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { EXCESS_WORDS, type JsonBudget, JsonExcessError } from '../../lib/json-survey.ts';
import type { ReadContext } from './read-context.ts';

/** The arguments are JSON text; '' and `null` mean none. Some clients send the object itself. */
export function readArguments(
  value: JsonValue | undefined,
  path: string,
  context: ReadContext,
): JsonObject {
  if (value === undefined || value === null) return {};
  if (isJsonObject(value)) {
    context.receipt.add(
      'repaired',
      path,
      told`Arguments are JSON text; the object was taken as it is.`,
    );
    return value;
  }
  if (typeof value !== 'string') {
    throw invalidRequest(path, `${path} must be a string of JSON.`, 'invalid-type');
  }
  if (value.trim() === '') return {};
  const parsed = parseArguments(value, path, context.jsonBudget);
  if (isJsonObject(parsed)) return parsed;
  if (parsed === null) return {};
  context.receipt.add(
    'repaired',
    path,
    told`Arguments that are no object are sent as {"value": …}.`,
  );
  return { value: parsed };
}

function parseArguments(text: string, path: string, budget: JsonBudget): JsonValue {
  try {
    return parseJson(text, budget);
  } catch (error) {
    throw invalidRequest(path, `${path} ${faultOf(error)}.`, 'invalid-json');
  }
}

function faultOf(error: unknown): string {
  if (!(error instanceof JsonExcessError)) return 'is not valid JSON';
  const words = EXCESS_WORDS[error.excess];
  return error.excess === 'tokens' ? `${words}, with the arguments before it` : words;
}
