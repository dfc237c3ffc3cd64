// JSON Schemas as the Messages and the Chat wire take them: what is no schema, and what strict schemas must hold.

import { isJsonObject, type JsonObject, type JsonValue, readNumber, written } from './json.ts';

export type SchemaPath = readonly (string | number)[];

/** A schema below the root that is an object, and the way to it. */
interface Place {
  readonly schema: JsonObject;
  readonly path: SchemaPath;
}

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const MAPS = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];
const SINGLES = [
  ...['items', 'additionalProperties', 'not', 'contains', 'propertyNames'],
  ...['if', 'then', 'else'],
];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];

/** Undefined for a valid schema. */
export function findSchemaFault(
  root: JsonObject,
): { readonly path: SchemaPath; readonly what: string } | undefined {
  for (const { schema, path } of placesOf(root)) {
    const what = findKeywordFault(schema);
    if (what !== undefined) return { path, what };
  }
  return undefined;
}

function findKeywordFault(schema: JsonObject): string | undefined {
  const type = typesOf(schema).find((one) => !TYPES.includes(written(one)));
  if (type !== undefined) {
    return `${JSON.stringify(type)} is not valid under any of the given schemas`;
  }
  for (const [name, isValid, kind] of KEYWORDS) {
    const value = schema[name];
    if (value !== undefined && !isValid(value)) {
      return `${JSON.stringify(value)} of '${name}' is not ${kind}`;
    }
  }
  return undefined;
}

const isTextList = (value: JsonValue): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
const isFilledList = (value: JsonValue): boolean => Array.isArray(value) && value.length > 0;
const isText = (value: JsonValue): boolean => typeof value === 'string';
const isNumber = (value: JsonValue): boolean => readNumber(value) !== undefined;
const isSchema = (value: JsonValue): boolean => isJsonObject(value) || typeof value === 'boolean';
const isCount = (value: JsonValue): boolean => {
  const number = readNumber(value);
  return number !== undefined && Number.isInteger(number) && number >= 0;
};

type Keyword = readonly [name: string, isValid: (value: JsonValue) => boolean, kind: string];

const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const LENGTHS = ['minLength', 'maxLength'];
const COUNTS = [...LENGTHS, 'minItems', 'maxItems', 'minProperties', 'maxProperties'];

const KEYWORDS: readonly Keyword[] = [
  ['required', isTextList, "of type 'array' of texts"],
  // It may be empty (json-schema.org/draft/2020-12/meta/validation).
  ['enum', Array.isArray, "of type 'array'"],
  ...MAPS.map((name): Keyword => [name, isJsonObject, "of type 'object'"]),
  ...SINGLES.map((name): Keyword => [name, isSchema, "of type 'object', 'boolean'"]),
  ...LISTS.map((name): Keyword => [name, isFilledList, 'a list that is not empty']),
  ...NUMBERS.map((name): Keyword => [name, isNumber, "of type 'number'"]),
  ...COUNTS.map((name): Keyword => [name, isCount, 'a count']),
  ...['description', 'title', 'format', 'pattern', '$ref', '$schema'].map(
    (name): Keyword => [name, isText, "of type 'string'"],
  ),
];

export function typesOf({ type }: JsonObject): readonly JsonValue[] {
  if (type === undefined) return [];
  return Array.isArray(type) ? type : [type];
}

/** The root first, then all that it holds. */
export function placesOf(schema: JsonValue, path: SchemaPath = []): readonly Place[] {
  if (!isJsonObject(schema)) return [];
  const inside: (readonly [JsonValue, SchemaPath])[] = [];
  for (const name of MAPS) {
    const held = schema[name];
    for (const [key, value] of isJsonObject(held) ? Object.entries(held) : []) {
      inside.push([value, [...path, name, key]]);
    }
  }
  for (const name of SINGLES) {
    const held = schema[name];
    if (held !== undefined) inside.push([held, [...path, name]]);
  }
  for (const name of LISTS) {
    const held = schema[name];
    for (const [index, value] of Array.isArray(held) ? held.entries() : []) {
      inside.push([value, [...path, name, index]]);
    }
  }
  return [{ schema, path }, ...inside.flatMap(([value, at]) => placesOf(value, at))];
}

/** What the schema of a structured answer or a strict tool may not hold on the Messages wire; undefined when all is well. */
export function findOpenness(root: JsonValue): string | undefined {
  for (const { schema } of placesOf(root)) {
    const what = findOpenKeyword(schema);
    if (what !== undefined) return what;
  }
  return undefined;
}

function findOpenKeyword(schema: JsonObject): string | undefined {
  const types = typesOf(schema);
  if (types.includes('object') && schema.additionalProperties !== false) {
    return "For 'object' type, 'additionalProperties' must be explicitly set to false";
  }
  const limit = [
    ...(['number', 'integer'] as const).map((type) => [type, NUMBERS] as const),
    ['string', LENGTHS] as const,
  ]
    .filter(([type]) => types.includes(type))
    .flatMap(([type, names]) => names.map((name) => [type, name] as const))
    .find(([, name]) => schema[name] !== undefined);
  if (limit !== undefined) {
    return `For '${limit[0]}' type, properties ${limit[1]} are not supported`;
  }
  if ((readNumber(schema.minItems) ?? 0) > 1) {
    return "For 'array' type, 'minItems' values other than 0 or 1 are not supported";
  }
  return undefined;
}

const NOT_STRICT = ['oneOf', 'allOf', 'not', 'patternProperties', 'dependentSchemas', 'if'];

/** What a strict schema lacks on the Chat wire; undefined when it is one. */
export function findLaxness(
  root: JsonObject,
): { readonly path: SchemaPath; readonly what: string } | undefined {
  for (const { schema, path } of placesOf(root)) {
    const what = path.length === 0 && schema.anyOf !== undefined ? ROOT_UNION : laxnessOf(schema);
    if (what !== undefined) return { path, what };
  }
  return undefined;
}

const ROOT_UNION =
  "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";

function laxnessOf(schema: JsonObject): string | undefined {
  const types = typesOf(schema);
  const isTold = ['$ref', 'anyOf', 'enum', 'const'].some((name) => schema[name] !== undefined);
  if (types.length === 0 && !isTold) return "schema must have a 'type' key.";
  const forbidden = NOT_STRICT.find((name) => schema[name] !== undefined);
  if (forbidden !== undefined) return `'${forbidden}' is not permitted.`;
  if (schema.$ref !== undefined && Object.keys(schema).length > 1) {
    return '$ref cannot have keywords beside it.';
  }
  if (!types.includes('object')) return undefined;
  if (schema.additionalProperties !== false) {
    return "'additionalProperties' is required to be supplied and to be false.";
  }
  const names = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const every =
    "'required' is required to be supplied and to be an array including every key in properties.";
  const missing = names.find((name) => !required.includes(name));
  if (missing !== undefined) return `${every} Missing '${missing}'.`;
  const extra = required.find((name) => !names.includes(name));
  return extra === undefined ? undefined : `${every} Extra required key '${extra}' supplied.`;
}
