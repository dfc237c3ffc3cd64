// Puts fields that have no effect into the receipt, so that a client learns what was not understood.

import { memberPath } from '../../canonical/field-reader.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { isJsonObject } from '../../lib/json.ts';
import type { ReadContext } from './read-context.ts';

export interface NoteOptions {
  readonly known: ReadonlySet<string>;
  /** Path of the object; '' for the body. */
  readonly path: string;
  readonly context: ReadContext;
}

/** Notes every field outside `known` that says something. */
export function noteUnreadFields(object: JsonObject, { known, path, context }: NoteOptions): void {
  for (const key of Object.keys(object)) {
    if (known.has(key) || saysNothing(object[key])) continue;
    context.receipt.add('dropped', memberPath(path, key), 'This field has no effect here.');
  }
}

/** Absent, null and empty values ask for nothing. */
export function saysNothing(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
