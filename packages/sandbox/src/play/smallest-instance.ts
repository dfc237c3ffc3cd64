// The smallest JSON value that conforms to a schema: OpenAPI-like or JSON Schema, types in any case.

import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../json.ts';
import { resolveReference } from '../rules/json-schema.ts';

const MAX_DEPTH = 12;
const DEFAULT_TEXT = 'sandbox';

const TEXT_BY_FORMAT = new Map([
  ['date-time', '2026-01-01T00:00:00Z'],
  ['date', '2026-01-01'],
  ['time', '00:00:00Z'],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
  ['email', 'sandbox@sandbox.example'],
  ['uri', 'https://sandbox.example/'],
  ['url', 'https://sandbox.example/'],
  ['ipv4', '127.0.0.1'],
  ['ipv6', '::1'],
  ['hostname', 'sandbox.example'],
]);

interface Walk {
  readonly root: JsonObject;
  /** What free strings say. */
  readonly text: string;
  readonly depth: number;
}

/** Free strings hold `text`. Patterns are not searched: a string with one may fail it. */
export function smallestInstance(schema: JsonValue, text: string = DEFAULT_TEXT): JsonValue {
  return isJsonObject(schema) ? build(schema, { root: schema, text, depth: 0 }) : null;
}

function build(schema: JsonValue | undefined, walk: Walk): JsonValue {
  if (schema === true) return walk.text;
  if (!isJsonObject(schema) || walk.depth > MAX_DEPTH) return null;
  const inner = { ...walk, depth: walk.depth + 1 };
  if (typeof schema.$ref === 'string') {
    return build(resolveReference(walk.root, schema.$ref), inner);
  }
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum[0] !== undefined) return schema.enum[0];
  if (Array.isArray(schema.allOf)) return build(mergeAll(schema, schema.allOf, walk), inner);
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches) && branches[0] !== undefined) return build(branches[0], inner);
  return buildTyped(schema, inner);
}

function buildTyped(schema: JsonObject, walk: Walk): JsonValue {
  switch (typeOf(schema)) {
    case 'object':
      return buildObject(schema, walk);
    case 'array':
      return buildArray(schema, walk);
    case 'integer':
    case 'number':
      return buildNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return buildString(schema, walk.text);
  }
}

function typeOf(schema: JsonObject): string {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (typeof type === 'string') return type.toLowerCase();
  if (schema.properties !== undefined) return 'object';
  return schema.items !== undefined || schema.prefixItems !== undefined ? 'array' : 'string';
}

/** The required properties; all of them when none is required, so that the value shows something. */
function buildObject(schema: JsonObject, walk: Walk): JsonValue {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const chosen = required.length > 0 ? new Set(required) : new Set(Object.keys(properties));
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => chosen.has(name))
      .map(([name, property]) => [name, build(property, walk)]),
  );
}

function buildArray(schema: JsonObject, walk: Walk): JsonValue {
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const length = Math.min(numberOf(schema.minItems) ?? 0, 100);
  return Array.from({ length }, (_, index) => build(prefix[index] ?? schema.items, walk));
}

function buildNumber(schema: JsonObject): number {
  const isInteger = typeOf(schema) === 'integer';
  const above = numberOf(schema.exclusiveMinimum);
  const below = numberOf(schema.exclusiveMaximum);
  const least =
    numberOf(schema.minimum) ?? (above === undefined ? undefined : next(above, below, isInteger));
  const most = numberOf(schema.maximum) ?? (below === undefined ? undefined : below - 1);
  const value = least ?? Math.min(1, most ?? 1);
  const step = numberOf(schema.multipleOf) ?? 0;
  if (step > 0) return Math.ceil(value / step) * step;
  return isInteger ? Math.ceil(value) : value;
}

/** A number just above `above`: the next integer, or half way to `below`. */
function next(above: number, below: number | undefined, isInteger: boolean): number {
  if (isInteger || below === undefined) return Math.floor(above) + 1;
  return (above + below) / 2;
}

function buildString(schema: JsonObject, text: string): string {
  const format = typeof schema.format === 'string' ? TEXT_BY_FORMAT.get(schema.format) : undefined;
  if (format !== undefined) return format;
  const longest = Math.max(0, numberOf(schema.maxLength) ?? text.length);
  const shortest = Math.min(numberOf(schema.minLength) ?? 0, 10_000);
  return text.slice(0, longest).padEnd(shortest, 'x');
}

function numberOf(value: JsonValue | undefined): number | undefined {
  // int64 fields may be decimal text.
  return typeof value === 'string' && value !== '' ? Number(value) : readNumber(value);
}

/** One schema holding the properties and requirements of all branches. */
function mergeAll(schema: JsonObject, branches: readonly JsonValue[], walk: Walk): JsonObject {
  const { allOf: _merged, ...own } = schema;
  const resolved = branches.map((branch) =>
    isJsonObject(branch) && typeof branch.$ref === 'string'
      ? resolveReference(walk.root, branch.$ref)
      : branch,
  );
  const all = [own, ...resolved].filter(isJsonObject);
  const properties = all.flatMap(({ properties: some }) =>
    isJsonObject(some) ? Object.entries(some) : [],
  );
  const required = all.flatMap(({ required: some }) => (Array.isArray(some) ? some : []));
  return {
    ...Object.fromEntries(all.flatMap((branch) => Object.entries(branch))),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
  };
}
