// Removes from a native body what the upstream does not document: it refuses fields it does not know.

import { told } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { PART_DATA_FIELDS } from '../../wire/generate-fields.ts';
import { editFields, editItems, type FieldEdits } from './edits.ts';
import type { PatchContext } from './patch-context.ts';
import { EXTRA_FIELDS, type ExtraField } from './profiles/profile.ts';

/** What is to be removed, by key: the field itself (undefined), or fields within it. */
type FieldTree = Map<string, FieldTree | undefined>;

interface Place {
  readonly path: string;
  readonly drop: (path: string) => void;
}

/**
 * Objects left empty stay, lists keep their length: the same object when nothing is removed. Only a
 * part left without its data goes, and a turn left without its parts: neither can be sent.
 */
export function patchExtraFields(body: JsonObject, { target, profile }: PatchContext): JsonObject {
  const drop = (path: string): void => {
    target.receipt.add('dropped', path, told`The upstream does not take this field.`);
  };
  const patched = withoutFields(body, refusedBy(profile.extraFields), { path: '', drop });
  const { contents } = patched;
  if (contents === body.contents || !Array.isArray(contents)) return patched;
  return editFields(patched, { contents: editItems(contents, withoutHollowParts) });
}

/** One for each list of a profile, of which there are as few as profiles. */
const refused = new WeakMap<readonly ExtraField[], FieldTree>();

function refusedBy(taken: readonly ExtraField[]): FieldTree {
  const known = refused.get(taken) ?? treeWithout(taken);
  refused.set(taken, known);
  return known;
}

function treeWithout(taken: readonly ExtraField[]): FieldTree {
  const tree: FieldTree = new Map();
  for (const field of EXTRA_FIELDS) {
    if (taken.includes(field)) continue;
    const keys = field.split('.');
    const last = keys.pop() ?? '';
    let node = tree;
    for (const key of keys) {
      const within: FieldTree = node.get(key) ?? new Map();
      node.set(key, within);
      node = within;
    }
    node.set(last, undefined);
  }
  return tree;
}

/** A list on the way stands for each of its items. */
function withoutFields(object: JsonObject, tree: FieldTree, { path, drop }: Place): JsonObject {
  let edits: Record<string, JsonValue | undefined> | undefined;
  for (const [key, within] of tree) {
    const value = object[key];
    if (value === undefined) continue;
    const place = { path: path === '' ? key : `${path}.${key}`, drop };
    if (within === undefined) drop(place.path);
    const edited = within && withoutFieldsOf(value, within, place);
    if (edited !== value) edits = { ...edits, [key]: edited };
  }
  return edits === undefined ? object : editFields(object, edits satisfies FieldEdits);
}

function withoutFieldsOf(value: JsonValue, tree: FieldTree, { path, drop }: Place): JsonValue {
  const edit = (item: JsonValue, at: string): JsonValue =>
    isJsonObject(item) ? withoutFields(item, tree, { path: at, drop }) : item;
  if (!Array.isArray(value)) return edit(value, path);
  return editItems(value, (item, index) => edit(item, `${path}[${index}]`));
}

function withoutHollowParts(content: JsonValue): JsonValue | undefined {
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return content;
  const parts = editItems(content.parts, (part) => (isHollow(part) ? undefined : part));
  return parts.length === 0 ? undefined : editFields(content, { parts });
}

function isHollow(part: JsonValue): boolean {
  return isJsonObject(part) && PART_DATA_FIELDS.every((key) => part[key] === undefined);
}
