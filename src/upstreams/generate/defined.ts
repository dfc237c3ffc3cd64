// Builds wire objects from fields that may be absent.

import type { JsonObject, JsonValue } from '../../lib/json.ts';

/** A wire type whose fields may also be given as undefined. */
export type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The fields that are there; undefined when none is. */
export function definedFields(
  fields: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject | undefined {
  const entries = Object.entries(fields).filter((entry): entry is [string, JsonValue] => {
    return entry[1] !== undefined;
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
