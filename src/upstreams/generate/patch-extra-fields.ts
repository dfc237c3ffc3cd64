// Removes from a native body what the upstream does not document: it refuses fields it does not know.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { editFields, editItems } from './edits.ts';
import type { PatchContext } from './patch-context.ts';
import { EXTRA_FIELDS } from './profiles/profile.ts';

type OnDrop = (path: string) => void;

const PATHS = EXTRA_FIELDS.map((field) => ({ field, keys: field.split('.') }));

/** Objects left empty stay, lists keep their length: the same object when nothing is removed. */
export function patchExtraFields(body: JsonObject, { target, profile }: PatchContext): JsonObject {
  const drop: OnDrop = (path) =>
    target.receipt.add('dropped', path, 'The upstream does not take this field.');
  return PATHS.filter(({ field }) => !profile.extraFields.includes(field)).reduce(
    (patched, { keys }) => withoutField(patched, { keys, path: '' }, drop),
    body,
  );
}

/** The object without the field that `keys` lead to; a list on the way stands for each of its items. */
function withoutField(
  object: JsonObject,
  { keys: [key = '', ...rest], path: parent }: { keys: readonly string[]; path: string },
  drop: OnDrop,
): JsonObject {
  const value = object[key];
  if (value === undefined) return object;
  const path = parent === '' ? key : `${parent}.${key}`;
  if (rest.length === 0) {
    drop(path);
    return editFields(object, { [key]: undefined });
  }
  const within = (item: JsonValue, at: string): JsonValue =>
    isJsonObject(item) ? withoutField(item, { keys: rest, path: at }, drop) : item;
  const edited = Array.isArray(value)
    ? editItems(value, (item, index) => within(item, `${path}[${index}]`))
    : within(value, path);
  return editFields(object, { [key]: edited });
}
