// Turns a model's arguments back into what the client's own schema says, where cleaning changed it.

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../lib/json.ts';
import { createSchemaDocument, type SchemaDocument } from './schema-document.ts';
import { readTypeName, type TypeName } from './schema-type.ts';

const MAX_FRAGMENTS = 200;
const MAX_DEPTH = 64;

/**
 * Arguments with texts turned into numbers, booleans, listed values and JSON where the schema the
 * client declared allows no text there. Anything that would not survive the way back unchanged
 * (`007`, `01.0`) stays as it is. Never throws; gives the same object when nothing changes.
 */
export function restoreArguments(
  schema: JsonObject | boolean | undefined,
  args: JsonObject,
): JsonObject {
  if (!isJsonObject(schema)) return args;
  const restored = restoreValue(
    { document: createSchemaDocument(schema), depth: 0 },
    [schema],
    args,
  );
  return isJsonObject(restored) ? restored : args;
}

interface Place {
  readonly document: SchemaDocument;
  readonly depth: number;
}

/** `schemas` are all the schemas declared for the value. */
function restoreValue(place: Place, schemas: readonly JsonValue[], value: JsonValue): JsonValue {
  if (place.depth > MAX_DEPTH) return value;
  const fragments = collectFragments(place.document, schemas);
  if (typeof value !== 'string') return restoreInside(place, fragments, value);
  const read = readText(fragments, value);
  return read === value ? value : restoreInside(place, fragments, read);
}

function restoreInside(
  { document, depth }: Place,
  fragments: readonly JsonObject[],
  value: JsonValue,
): JsonValue {
  const inner = { document, depth: depth + 1 };
  if (Array.isArray(value)) {
    const restored = value.map((item, index) =>
      restoreValue(inner, itemSchemas(fragments, index), item),
    );
    return restored.every((item, index) => item === value[index]) ? value : restored;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(
    ([name, member]) =>
      [name, restoreValue(inner, propertySchemas(fragments, name), member)] as const,
  );
  const isSame = entries.every(([name, member]) => member === value[name]);
  return isSame ? value : Object.fromEntries(entries);
}

/** The schemas themselves and everything they refer to or combine, as one flat list. */
function collectFragments(document: SchemaDocument, schemas: readonly JsonValue[]): JsonObject[] {
  const found = new Set<JsonObject>();
  const waiting = [...schemas];
  for (let schema = waiting.shift(); schema !== undefined; schema = waiting.shift()) {
    if (!isJsonObject(schema) || found.has(schema) || found.size >= MAX_FRAGMENTS) continue;
    found.add(schema);
    const { $ref: reference, allOf, anyOf, oneOf } = schema;
    const target = typeof reference === 'string' ? document.resolve(reference) : undefined;
    if (target !== undefined) waiting.push(target.schema);
    for (const branches of [allOf, anyOf, oneOf]) {
      if (Array.isArray(branches)) waiting.push(...branches);
    }
  }
  return [...found];
}

function propertySchemas(fragments: readonly JsonObject[], name: string): JsonValue[] {
  return fragments.flatMap(({ properties, additionalProperties }) => {
    if (isJsonObject(properties) && Object.hasOwn(properties, name))
      return [properties[name] ?? {}];
    return additionalProperties === undefined ? [] : [additionalProperties];
  });
}

function itemSchemas(fragments: readonly JsonObject[], index: number): JsonValue[] {
  return fragments.flatMap(({ items, prefixItems }) => {
    const tuple = Array.isArray(items) ? items : prefixItems;
    const at = Array.isArray(tuple) ? tuple[index] : undefined;
    if (at !== undefined) return [at];
    return items === undefined || Array.isArray(items) ? [] : [items];
  });
}

/** What a text stands for; the text itself when a text is allowed or nothing fits. */
function readText(fragments: readonly JsonObject[], text: string): JsonValue {
  const listed = fragments.flatMap(listedValues);
  if (listed.length > 0) {
    if (listed.includes(text)) return text;
    const meant = listed.find((value) => JSON.stringify(value) === text);
    if (meant !== undefined) return meant;
  }
  const types = new Set(fragments.flatMap(typesOf));
  if (types.has('string')) return text;
  for (const type of types) {
    const value = readAs(type, text);
    if (value !== undefined) return value;
  }
  return text;
}

function listedValues({ enum: values, const: constant }: JsonObject): JsonValue[] {
  if (Array.isArray(values)) return values;
  return constant === undefined ? [] : [constant];
}

function typesOf(fragment: JsonObject): TypeName[] {
  const words = Array.isArray(fragment.type) ? fragment.type : [fragment.type ?? null];
  const types = words.map(readTypeName).filter((type) => type !== undefined && type !== 'any');
  if (types.length > 0) return types;
  if (isJsonObject(fragment.properties) || isJsonObject(fragment.additionalProperties)) {
    return ['object'];
  }
  return fragment.items === undefined && fragment.prefixItems === undefined ? [] : ['array'];
}

function readAs(type: TypeName, text: string): JsonValue | undefined {
  switch (type) {
    case 'string':
      return text;
    case 'number':
      return readExactNumber(text);
    case 'integer': {
      const value = readExactNumber(text);
      return Number.isInteger(value) ? value : undefined;
    }
    case 'boolean':
      return BOOLEAN_WORDS.get(text.trim().toLowerCase());
    case 'null':
      return text === 'null' ? null : undefined;
    case 'array': {
      const value = readJson(text);
      return Array.isArray(value) ? value : undefined;
    }
    case 'object': {
      const value = readJson(text);
      return isJsonObject(value) ? value : undefined;
    }
    default:
      return type satisfies never;
  }
}

const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
]);

/** Only numbers whose own text is the same: leading zeros and version numbers stay texts. */
function readExactNumber(text: string): number | undefined {
  const value = Number(text);
  return Number.isFinite(value) && String(value) === text ? value : undefined;
}

function readJson(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
