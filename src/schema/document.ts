// One client's schema as a document: where each part of it is and what its references point to; its depth limit, type
// words, and bounds as draft 2020-12 writes them.

import { mapItems } from '../lib/collections.ts';
import { isJsonObject, isRawNumber, type JsonObject, type JsonValue } from '../lib/json.ts';

/** A schema at its place in the document, with the references that led there. */
export interface Located {
  readonly schema: JsonValue;
  /** Path below the schema's root, such as `.properties.city`. */
  readonly path: string;
  readonly refs: ReferenceChain | undefined;
  readonly depth: number;
}

/** The pointers being resolved around a place, innermost first. */
interface ReferenceChain {
  readonly pointer: string;
  readonly outer: ReferenceChain | undefined;
}

interface ReferenceTarget {
  /** JSON pointer; the same for every spelling of one target. */
  readonly pointer: string;
  readonly path: string;
  readonly schema: JsonValue;
}

export class SchemaDocument {
  readonly #root: JsonValue;
  #named: Map<string, ReferenceTarget> | undefined;

  constructor(root: JsonValue) {
    this.#root = root;
  }

  /** The target of a `$ref`; undefined when it stands outside the document or nowhere. */
  resolve(reference: string): ReferenceTarget | undefined {
    const root = this.#root;
    if (reference === '' || reference === '#') return { pointer: '', path: '', schema: root };
    if (reference.startsWith('#/')) return followPointer(root, reference.slice(1));
    this.#named ??= indexNames(root);
    return this.#named.get(reference);
  }
}

/** The path of a member: `.name`, or `["odd name"]` where a dot would not read well. */
export function memberPath(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`;
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? `${parent}.${key}` : `${parent}[${JSON.stringify(key)}]`;
}

/** A part of a located schema; `keys` are the members passed on the way. */
export function locateInside(
  outer: Located,
  schema: JsonValue,
  keys: readonly (string | number)[],
): Located {
  return {
    schema,
    path: keys.reduce<string>(memberPath, outer.path),
    refs: outer.refs,
    depth: outer.depth + 1,
  };
}

export function isResolving(chain: ReferenceChain | undefined, pointer: string): boolean {
  for (let link = chain; link !== undefined; link = link.outer) {
    if (link.pointer === pointer) return true;
  }
  return false;
}

/** JSON pointers, RFC 6901, with the percent-encoding of URI fragments undone. */
function followPointer(root: JsonValue, pointer: string): ReferenceTarget | undefined {
  let schema: JsonValue | undefined = root;
  let path = '';
  const steps = decodeFragment(pointer).split('/').slice(1);
  for (const step of steps) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(schema)) {
      schema = /^\d+$/.test(key) ? schema[Number(key)] : undefined;
      path = memberPath(path, Number(key));
    } else {
      schema = isJsonObject(schema) && Object.hasOwn(schema, key) ? schema[key] : undefined;
      path = memberPath(path, key);
    }
    if (schema === undefined) return undefined;
  }
  return { pointer: `/${steps.join('/')}`, path, schema };
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** Anchors (`#name`) and ids of the whole document. Walks without recursion: depth is the client's. */
function indexNames(root: JsonValue): Map<string, ReferenceTarget> {
  const named = new Map<string, ReferenceTarget>();
  const waiting: ReferenceTarget[] = [{ pointer: '', path: '', schema: root }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { schema: outer } = place;
    if (isJsonObject(outer)) nameTarget(named, outer, place);
    const members = Array.isArray(outer) ? outer.entries() : Object.entries(outer ?? {});
    for (const [key, schema] of members) {
      if (!isJsonObject(schema) && !Array.isArray(schema)) continue;
      const pointer = `${place.pointer}/${key}`;
      waiting.push({ pointer, path: memberPath(place.path, key), schema });
    }
  }
  return named;
}

function nameTarget(
  named: Map<string, ReferenceTarget>,
  schema: JsonObject,
  target: ReferenceTarget,
): void {
  for (const name of [schema.$anchor, schema.$dynamicAnchor]) {
    if (typeof name === 'string') named.set(`#${name}`, target);
  }
  for (const name of [schema.$id, schema.id]) {
    if (typeof name === 'string' && !named.has(name)) named.set(name, target);
  }
}

// Where schemas stand in a schema.

const ALONE: ReadonlySet<string> = new Set([
  ...['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'],
]);
export const SCHEMA_LISTS: ReadonlySet<string> = new Set([
  ...['anyOf', 'oneOf', 'allOf', 'prefixItems'],
]);
export const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  ...['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'],
]);

/** The value of a keyword with the schemas in it mapped; the same value where nothing changes. */
export function mapSchemas(
  keyword: string,
  value: JsonValue,
  map: (schema: JsonValue) => JsonValue,
): JsonValue {
  if (ALONE.has(keyword)) return map(value);
  if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) return mapItems(value, map);
  if (!SCHEMA_MAPS.has(keyword) || !isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, one]) => [name, map(one)] as const);
  const isSame = members.every(([name, one]) => one === value[name]);
  return isSame ? value : Object.fromEntries(members);
}

// How deep a schema may be: upstreams take JSON of 100 levels (protobuf's own limit), the request around it included.

/**
 * Objects and lists around the deepest object or array that is declared. A few levels are left for the request around
 * the schema, and for the plain values below.
 */
export const MAX_LEVEL = 84;
/** Of a schema that goes as it came. */
const MAX_LEVELS = 90;

/** True for a schema that cannot go upstream as it is. */
export function isTooDeep(schema: JsonValue | undefined, levels = MAX_LEVELS): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return levels === 0 || Object.values(schema).some((item) => isTooDeep(item, levels - 1));
}

// The type words of JSON Schema, the near misses clients send, and the case they are written in.

const TYPE_NAMES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;

export type TypeName = (typeof TYPE_NAMES)[number];

const NEAR_MISSES = new Map<string, TypeName>([
  ['str', 'string'],
  ['text', 'string'],
  ['int', 'integer'],
  ['long', 'integer'],
  ['float', 'number'],
  ['double', 'number'],
  ['decimal', 'number'],
  ['bool', 'boolean'],
  ['list', 'array'],
  ['tuple', 'array'],
  ['dict', 'object'],
  ['map', 'object'],
  ['none', 'null'],
]);

/** Formats the upstream takes, by type (generate-content `Schema.format`). */
const FORMATS: Partial<Record<TypeName, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** The type a word means; `any` for words that allow everything; undefined for unknown words. */
export function readTypeName(word: JsonValue): TypeName | 'any' | undefined {
  if (typeof word !== 'string') return undefined;
  const lower = word.toLowerCase();
  if (lower === 'any' || lower === 'type_unspecified') return 'any';
  return TYPE_NAMES.find((name) => name === lower) ?? NEAR_MISSES.get(lower);
}

/** True for words the upstream takes as they are: all lower or all upper case. */
export function isOfficialTypeWord(word: JsonValue): word is string {
  if (typeof word !== 'string') return false;
  return TYPE_NAMES.some((name) => word === name || word === name.toUpperCase());
}

export function isKnownFormat(type: TypeName, format: string): boolean {
  return FORMATS[type]?.includes(format) ?? false;
}

/** The types both sides allow; an integer is a number. */
export function intersectTypes(left: readonly TypeName[], right: readonly TypeName[]): TypeName[] {
  const both = new Set<TypeName>();
  for (const type of left) {
    if (right.includes(type)) both.add(type);
    else if (type === 'integer' && right.includes('number')) both.add('integer');
    else if (type === 'number' && right.includes('integer')) both.add('integer');
  }
  return [...both];
}

/** The type all values have; texts stand in for values of several types. */
export function typeOfValues(values: readonly JsonValue[]): TypeName {
  if (values.every(Array.isArray)) return 'array';
  if (values.every(isJsonObject)) return 'object';
  if (values.every((value) => typeof value === 'number' || isRawNumber(value))) return 'number';
  if (values.every((value) => typeof value === 'boolean')) return 'boolean';
  return 'string';
}

export const NUMBER_BOUNDS: readonly string[] = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
];
const COUNT_BOUNDS: readonly string[] = [
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
];
const BOUNDS: ReadonlySet<string> = new Set([...NUMBER_BOUNDS, ...COUNT_BOUNDS]);

export function isBound(key: string): boolean {
  return BOUNDS.has(key);
}

/** Under which name a bound is written, and its value; undefined for one without a meaning. */
export function writeBound(
  key: string,
  value: JsonValue,
  schema: JsonObject,
): readonly [name: string, value: JsonValue] | undefined {
  if (COUNT_BOUNDS.includes(key)) {
    const count = numberOf(value);
    const isCount = count !== undefined && Number.isInteger(count) && count >= 0;
    return isCount ? [key, count] : undefined;
  }
  // Up to draft 4 an exclusive bound was a flag beside the bound.
  if (typeof value === 'boolean') return undefined;
  const bound = numberOf(value);
  if (bound === undefined) return isRawNumber(value) ? [key, value] : undefined;
  const exclusive = EXCLUSIVE.get(key);
  const isFlagged = exclusive !== undefined && schema[exclusive] === true;
  return [isFlagged ? exclusive : key, bound];
}

const EXCLUSIVE: ReadonlyMap<string, string> = new Map([
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
]);

/** Generate-content clients write counts as texts: they are of 64 bits there. */
function numberOf(value: JsonValue): number | undefined {
  if (typeof value === 'number') return value;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
