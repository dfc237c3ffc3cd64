// Reads JSON of others as far as it is what it should be; anything else is as if it were not there.

import { isJsonObject, type JsonObject, type JsonValue, readNumber } from './json.ts';

const NONE: readonly never[] = [];

/** A text that is not empty. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function flagOf(value: JsonValue | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** A number that is not endless; proto-JSON writes those of 64 bits as texts. */
export function numberOf(value: JsonValue | undefined): number | undefined {
  const text = textOf(value)?.trim();
  const number = text ? Number(text) : readNumber(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A whole number that is not negative. */
export function countOf(value: JsonValue | undefined): number | undefined {
  const count = numberOf(value) ?? -1;
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** A limit of tokens; 0 is none. */
export function limitOf(value: JsonValue | undefined): number | undefined {
  const limit = readNumber(value);
  return limit !== undefined && Number.isSafeInteger(limit) && limit > 0 ? limit : undefined;
}

export function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function itemsOf(list: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(list) ? list : NONE;
}

/** A list of numbers that are not endless, and nothing else; undefined where it is empty. */
export function vectorOf(list: JsonValue | undefined): readonly number[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  // Vectors are long and many: the usual one is taken as it is.
  if (list.every((item): item is number => Number.isFinite(item))) return list;
  const numbers = list.map(readNumber);
  return numbers.every((item): item is number => Number.isFinite(item)) ? numbers : undefined;
}

export function objectsOf(list: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : NONE;
}

/** The first of `keys` that the object says something under. */
export function usedKey<Key extends string>(
  object: Readonly<Partial<Record<Key, unknown>>>,
  keys: readonly Key[],
): Key | undefined {
  for (const key of keys) if ((object[key] ?? null) !== null) return key;
  return undefined;
}

/** By names in lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The first of a header that came several times. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
