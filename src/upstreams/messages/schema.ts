// The JSON Schema this wire takes: draft 2020-12, an object at the top of a tool's input, closed objects in strict forms.

import type { Receipt } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import {
  isBound,
  MAX_LEVEL,
  NUMBER_BOUNDS,
  readTypeName,
  writeBound,
} from '../../schema/document.ts';

interface SchemaContext {
  readonly receipt: Receipt;
  /** Path of the schema in the client's request, such as `tools[2].input_schema`. */
  readonly path: string;
}

const SCHEMA_MAPS = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];
const SCHEMA_LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const SCHEMAS = [
  ...(['items', 'additionalProperties', 'not', 'contains', 'propertyNames'] as const),
  ...(['if', 'then', 'else'] as const),
];
const TEXTS = ['description', 'title', 'format', 'pattern', '$ref', '$schema'];
const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'] as const;

/** The wire refuses other names of arguments. */
const ARGUMENT_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** The input of a tool: always an object, with no alternatives at its top (Messages API, "Tool use"). */
export function toInputSchema(
  schema: JsonObject | boolean | undefined,
  context: SchemaContext,
): JsonObject {
  if (!isJsonObject(schema)) return { type: 'object', properties: {} };
  const { type: _type, ...node } = flattenTop(normalizeSchema(schema, context), context);
  const properties = isJsonObject(node.properties) ? node.properties : {};
  const named = Object.keys(properties).filter((name) => ARGUMENT_NAME.test(name));
  if (named.length === Object.keys(properties).length) {
    return { type: 'object', ...node, properties };
  }
  const reason = told`Arguments whose names the upstream refuses were left out.`;
  context.receipt.add('dropped', context.path, reason);
  const required = Array.isArray(node.required) ? node.required : [];
  return {
    type: 'object',
    ...node,
    properties: Object.fromEntries(named.map((name) => [name, properties[name] ?? {}])),
    required: required.filter((name) => named.some((known) => known === name)),
  };
}

/** Alternatives of the whole input are told in words, beside all arguments that any of them has. */
function flattenTop(node: JsonObject, { receipt, path }: SchemaContext): JsonObject {
  if (!ALTERNATIVES.some((key) => node[key] !== undefined)) return node;
  const { anyOf, oneOf, allOf, ...rest } = node;
  const given = Object.entries({ anyOf, oneOf, allOf }).filter(([, value]) => value !== undefined);
  const branches = given.flatMap(([, value]) => (Array.isArray(value) ? value : []));
  const properties: JsonObject = {};
  for (const branch of [...branches, rest]) {
    if (isJsonObject(branch) && isJsonObject(branch.properties)) {
      Object.assign(properties, branch.properties);
    }
  }
  receipt.add('approximated', path, told`Alternatives of the whole input are described in words.`);
  const words = `The input must also follow this JSON Schema: ${JSON.stringify(Object.fromEntries(given))}`;
  const description = typeof rest.description === 'string' ? `${rest.description}\n\n` : '';
  return { ...rest, properties, description: description + words };
}

/**
 * The same schema in draft 2020-12: type words in lower case, bounds as numbers, tuples as `prefixItems`. What
 * has no meaning there is left out, as the upstream refuses it.
 */
function normalizeSchema(schema: JsonObject, context: SchemaContext): JsonObject {
  const normalized = normalize(schema, 0);
  if (isJsonObject(normalized.value)) {
    if (normalized.isChanged) {
      const reason = told`The schema was written in the draft the upstream takes.`;
      context.receipt.add('repaired', context.path, reason);
    }
    return normalized.value;
  }
  return {};
}

interface Normalized {
  readonly value: JsonValue;
  readonly isChanged: boolean;
}

function normalize(schema: JsonValue, level: number): Normalized {
  if (typeof schema === 'boolean') return { value: schema, isChanged: false };
  if (!isJsonObject(schema) || level > MAX_LEVEL) return { value: {}, isChanged: true };
  const node: JsonObject = {};
  let isChanged = false;
  for (const [key, value] of Object.entries(schema)) {
    const next = normalizeField(key, value, { schema, level });
    isChanged ||= next.isChanged;
    for (const [name, written] of next.fields) {
      // Unlike assignment, this also makes `__proto__` an ordinary member.
      Object.defineProperty(node, name, {
        ...{ value: written, enumerable: true, configurable: true, writable: true },
      });
    }
  }
  return { value: isChanged ? node : schema, isChanged };
}

interface Field {
  readonly fields: readonly (readonly [string, JsonValue])[];
  readonly isChanged: boolean;
}

const GONE: Field = { fields: [], isChanged: true };

function kept(key: string, value: JsonValue, isChanged = false): Field {
  return { fields: [[key, value]], isChanged };
}

function normalizeField(
  key: string,
  value: JsonValue,
  { schema, level }: { readonly schema: JsonObject; readonly level: number },
): Field {
  if (key === 'type') return normalizeType(value, schema.nullable === true);
  if (key === 'required') return normalizeRequired(value);
  if (SCHEMA_MAPS.includes(key)) return normalizeMembers(key, value, level);
  if (SCHEMA_LISTS.includes(key)) return normalizeItems(key, value, level);
  if (key === 'items' && Array.isArray(value)) {
    return { ...normalizeItems('prefixItems', value, level), isChanged: true };
  }
  if (SCHEMAS.some((name) => name === key)) {
    const one = normalize(value, level + 1);
    return kept(key, one.value, one.isChanged);
  }
  if (isBound(key)) return normalizeBound(key, value, schema);
  const isMeant =
    key !== 'nullable' &&
    (!TEXTS.includes(key) || typeof value === 'string') &&
    (key !== 'enum' || Array.isArray(value));
  return isMeant ? kept(key, value) : GONE;
}

function normalizeRequired(value: JsonValue): Field {
  if (!Array.isArray(value)) return GONE;
  const names = [...new Set(value.filter((name) => typeof name === 'string'))];
  return kept('required', names, names.length !== value.length);
}

function normalizeMembers(key: string, value: JsonValue, level: number): Field {
  if (!isJsonObject(value)) return GONE;
  const members = Object.entries(value).map(
    ([name, member]) => [name, normalize(member, level + 1)] as const,
  );
  if (members.every(([, member]) => !member.isChanged)) return kept(key, value);
  return kept(key, Object.fromEntries(members.map(([name, one]) => [name, one.value])), true);
}

/** Tuples were lists of `items` in earlier drafts. */
function normalizeItems(key: string, value: JsonValue, level: number): Field {
  if (!Array.isArray(value) || value.length === 0) return GONE;
  const list = normalizeList(value, level);
  const isSame = list.every((one) => !one.isChanged);
  return kept(key, isSame ? value : list.map((one) => one.value), !isSame);
}

function normalizeList(list: readonly JsonValue[], level: number): readonly Normalized[] {
  return list.map((item) => normalize(item, level + 1));
}

function normalizeType(value: JsonValue, isNullable: boolean): Field {
  const words = Array.isArray(value) ? value : [value];
  const types = words.map(readTypeName);
  if (types.includes('any')) return GONE;
  const known = new Set<JsonValue>(types.filter((type) => type !== undefined));
  if (known.size === 0) return GONE;
  if (isNullable) known.add('null');
  const list = [...known];
  const [only] = list;
  const written = !Array.isArray(value) && list.length === 1 && only !== undefined ? only : list;
  return kept('type', written, JSON.stringify(written) !== JSON.stringify(value));
}

function normalizeBound(key: string, value: JsonValue, schema: JsonObject): Field {
  const [name, written] = writeBound(key, value, schema) ?? [];
  if (name === undefined || written === undefined) return GONE;
  return kept(name, written, name !== key || written !== value);
}

/** What strict forms have no word for; the model is told it. Source: Messages API, "Structured outputs". */
const UNENFORCED: ReadonlySet<string> = new Set([
  ...NUMBER_BOUNDS,
  ...['minLength', 'maxLength', 'maxItems'],
]);

/**
 * The schema with every object closed and without bounds that are not enforced, which stand in descriptions
 * instead; undefined for one that cannot be closed, as the names of its members are free.
 */
export function toClosedSchema(schema: JsonObject, context: SchemaContext): JsonObject | undefined {
  return closeObject(normalizeSchema(schema, context));
}

/** True for a schema that is taken as it is where it is enforced. */
export function isClosed(schema: JsonObject): boolean {
  return JSON.stringify(closeObject(schema)) === JSON.stringify(schema);
}

function closeObject(schema: JsonObject): JsonObject | undefined {
  const node: JsonObject = {};
  const bounds: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$schema') continue;
    if (UNENFORCED.has(key) || (key === 'minItems' && Number(value) > 1)) {
      bounds.push(`${key}: ${JSON.stringify(value)}`);
      continue;
    }
    const closed = closeField(key, value);
    if (closed === undefined) return undefined;
    node[key === 'oneOf' ? 'anyOf' : key] = closed;
  }
  if (describesObject(node)) {
    if (hasFreeMembers(node)) return undefined;
    node.type ??= 'object';
    node.additionalProperties = false;
  }
  if (bounds.length === 0) return node;
  const words = typeof node.description === 'string' ? `${node.description}\n\n` : '';
  return { ...node, description: `${words}{${bounds.join(', ')}}` };
}

function closeField(key: string, value: JsonValue): JsonValue | undefined {
  if (SCHEMA_MAPS.includes(key) && isJsonObject(value)) {
    const closed = Object.entries(value).flatMap(([name, member]) => {
      const one = close(member);
      return one === undefined ? [] : [[name, one] as const];
    });
    const isWhole = closed.length === Object.keys(value).length;
    return isWhole ? Object.fromEntries(closed) : undefined;
  }
  if (SCHEMA_LISTS.includes(key) && Array.isArray(value)) {
    const list = value.flatMap((item) => close(item) ?? []);
    return list.length === value.length ? list : undefined;
  }
  const isSchema = key !== 'additionalProperties' && SCHEMAS.some((name) => name === key);
  return isSchema ? close(value) : value;
}

function close(schema: JsonValue): JsonValue | undefined {
  return isJsonObject(schema) ? closeObject(schema) : schema;
}

function describesObject({ type, properties }: JsonObject): boolean {
  if (type === undefined) return properties !== undefined;
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}

/** True for an object whose further members are described, or that has no others: answers without any are right too. */
function hasFreeMembers({ properties, additionalProperties: others }: JsonObject): boolean {
  if (others === false) return false;
  if (isJsonObject(others) && Object.keys(others).length > 0) return true;
  return !isJsonObject(properties) || Object.keys(properties).length === 0;
}
