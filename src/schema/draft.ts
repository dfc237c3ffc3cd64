// A client's schema in draft 2020-12, for the wires that take JSON Schema: other dialects said in its words.

import { unlessSame } from '../lib/collections.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import {
  isBound,
  mapSchemas,
  readTypeName,
  SCHEMA_LISTS,
  SCHEMA_MAPS,
  writeBound,
} from './document.ts';

/** What a wire adds to a schema whose parts are in the draft. */
type Finish = (schema: JsonObject) => JsonObject;

type Field = readonly [name: string, value: JsonValue];

const TEXTS: ReadonlySet<string> = new Set([
  ...['description', 'title', 'format', 'pattern', '$ref', '$schema'],
]);

/**
 * Types in capitals, `nullable` and counts as texts are those of OpenAPI, as generate-content clients send them; exclusive
 * bounds as flags and a list of `items`, now `prefixItems`, are those of older drafts; a type is none of another language.
 * A keyword without a meaning, or with a value of another kind (`required: null`), is left out: upstreams refuse those.
 * The same object where nothing changes.
 */
export function toDraft(schema: JsonObject, finish: Finish = asItIs): JsonObject {
  const inner = (part: JsonValue): JsonValue => {
    if (isJsonObject(part)) return toDraft(part, finish);
    return typeof part === 'boolean' ? part : {};
  };
  const fields: Field[] = [];
  let isSame = true;
  for (const [key, value] of Object.entries(schema)) {
    const field = draftField(key, value, { schema, inner });
    isSame &&= field !== undefined && field[0] === key && field[1] === value;
    if (field !== undefined) fields.push(field);
  }
  return finish(isSame ? schema : Object.fromEntries(fields));
}

function asItIs(schema: JsonObject): JsonObject {
  return schema;
}

interface Place {
  readonly schema: JsonObject;
  /** The draft of a schema in it. */
  readonly inner: (part: JsonValue) => JsonValue;
}

/** Undefined for what is left out. */
function draftField(key: string, value: JsonValue, { schema, inner }: Place): Field | undefined {
  if (key === 'type') return draftType(value, schema.nullable === true);
  if (isBound(key)) return writeBound(key, value, schema);
  if (key === 'required' && Array.isArray(value)) {
    const names = value.filter((one) => typeof one === 'string');
    return [key, unlessSame<JsonValue>([...new Set(names)], value)];
  }
  // Tuples were lists of `items` in earlier drafts.
  const isTuple = Array.isArray(schema.items);
  if (isTuple && key === 'additionalItems') return ['items', inner(value)];
  const name = isTuple && key === 'items' ? 'prefixItems' : key;
  return isMeant(name, value) ? [name, mapSchemas(name, value, inner)] : undefined;
}

/** False for a keyword without a meaning, or with a value of another kind. */
function isMeant(key: string, value: JsonValue): boolean {
  if (TEXTS.has(key)) return typeof value === 'string';
  if (SCHEMA_MAPS.has(key)) return isJsonObject(value);
  if (SCHEMA_LISTS.has(key) || key === 'enum') return Array.isArray(value) && value.length > 0;
  return key !== 'required' && key !== 'nullable';
}

function draftType(value: JsonValue, isNullable: boolean): Field | undefined {
  const word = readTypeName(value);
  if (word === value && word !== 'any' && !isNullable) return ['type', word];
  const words = Array.isArray(value) ? value : [value];
  const types = words.map(readTypeName);
  const known = new Set<JsonValue>(types.filter((type) => type !== undefined));
  if (types.includes('any') || known.size === 0) return undefined;
  if (isNullable) known.add('null');
  const list = [...known];
  if (Array.isArray(value)) return ['type', unlessSame(list, value)];
  const [only = null, ...others] = list;
  return ['type', others.length === 0 ? only : list];
}
