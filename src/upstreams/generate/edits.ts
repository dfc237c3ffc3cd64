// Edits of JSON that share whatever stays as it was.

import type { JsonObject, JsonValue } from '../../lib/json.ts';

/** New values by key; undefined removes the key. */
export type FieldEdits = Readonly<Record<string, JsonValue | undefined>>;

/** The object with some fields replaced or removed, in its old order; the same object when none differs. */
export function editFields(object: JsonObject, edits: FieldEdits): JsonObject {
  const changed = new Map(Object.entries(edits).filter(([key, value]) => object[key] !== value));
  if (changed.size === 0) return object;
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(object)) {
    const edited = changed.has(key) ? changed.get(key) : value;
    if (edited !== undefined) entries.push([key, edited]);
    changed.delete(key);
  }
  for (const [key, value] of changed) {
    if (value !== undefined) entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

/** The list with every item edited, items that became undefined left out; the same list when none changed. */
export function editItems(
  list: JsonValue[],
  edit: (item: JsonValue, index: number) => JsonValue | undefined,
): JsonValue[] {
  let isChanged = false;
  const items: JsonValue[] = [];
  for (const [index, item] of list.entries()) {
    const edited = edit(item, index);
    isChanged ||= edited !== item;
    if (edited !== undefined) items.push(edited);
  }
  return isChanged ? items : list;
}
