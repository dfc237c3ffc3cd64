// Reads what an upstream wrote as far as it is what it should be; anything else is as if it were not there.

import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';

const NONE: readonly never[] = [];

/** A text that is not empty. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function itemsOf(list: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(list) ? list : NONE;
}

export function objectsOf(list: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : NONE;
}
