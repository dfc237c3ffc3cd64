// Builds wire objects from fields that may be absent.

import type { JsonObject, JsonValue } from '../../lib/json.ts';

/** A wire type whose fields may also be given as undefined. */
export type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The fields that are there; undefined when none is. */
export function definedFields(
  fields: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject | undefined {
  let defined: JsonObject | undefined;
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    defined ??= {};
    defined[name] = value;
  }
  return defined;
}
