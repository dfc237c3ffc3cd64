// Two small validators: the client's JSON Schema, and what the upstream lets the model write under a converted one.

import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';

/** The members of an object that a schema declares where it applies; undefined when the value is not valid. */
type Declared = ReadonlySet<string> | undefined;

const NONE: ReadonlySet<string> = new Set();

/**
 * True for a value a client's schema allows of which every member is declared: models write nothing they were not
 * told of. As with `unevaluatedProperties`, a member counts as declared where the declaration applies.
 */
export function isDeclaredInstance(schema: JsonValue, value: JsonValue): boolean {
  const declared = declaredBy(schema, value);
  if (declared === undefined) return false;
  return !isJsonObject(value) || Object.keys(value).every((name) => declared.has(name));
}

function declaredBy(schema: JsonValue, value: JsonValue): Declared {
  if (typeof schema === 'boolean') return schema ? NONE : undefined;
  if (!isJsonObject(schema) || !isAllowed(schema, value)) return undefined;
  const demands = [...parts(schema.allOf), ...casesOf(schema, value)];
  return together([
    ...demands.map((part) => declaredBy(part, value)),
    ...membersOf(schema, value),
    ...(schema.anyOf === undefined ? [] : [declaredByAny(schema.anyOf, value)]),
    ...(schema.oneOf === undefined ? [] : [declaredByOne(schema.oneOf, value)]),
  ]);
}

function together(all: readonly Declared[]): Declared {
  if (all.includes(undefined)) return undefined;
  return new Set(all.flatMap((declared) => [...(declared ?? [])]));
}

function membersOf({ properties }: JsonObject, value: JsonValue): Declared[] {
  if (!isJsonObject(value) || !isJsonObject(properties)) return [];
  return Object.entries(properties)
    .filter(([name]) => Object.hasOwn(value, name))
    .map(([name, part]) => (fits(part, value[name] ?? null) ? new Set([name]) : undefined));
}

function declaredByAny(list: JsonValue, value: JsonValue): Declared {
  const fitting = parts(list).filter((part) => fits(part, value));
  return fitting.length === 0
    ? undefined
    : together(fitting.map((part) => declaredBy(part, value)));
}

function declaredByOne(list: JsonValue, value: JsonValue): Declared {
  const fitting = parts(list).filter((part) => fits(part, value));
  return fitting.length === 1 ? declaredByAny(list, value) : undefined;
}

function fits(schema: JsonValue, value: JsonValue): boolean {
  return declaredBy(schema, value) !== undefined;
}

/** The sides of conditions that hold for a value. */
function casesOf(schema: JsonObject, value: JsonValue): JsonValue[] {
  const found: JsonValue[] = [];
  if (schema.if !== undefined) {
    found.push((fits(schema.if, value) ? schema.then : schema.else) ?? true);
  }
  for (const keyword of ['dependentSchemas', 'dependencies']) {
    for (const [name, part] of Object.entries(schema[keyword] ?? {})) {
      if (isJsonObject(value) && value[name] !== undefined) found.push(part);
    }
  }
  return found;
}

function isAllowed(schema: JsonObject, value: JsonValue): boolean {
  const { type, enum: values, const: constant, required, maximum, items } = schema;
  const types = type === undefined ? undefined : Array.isArray(type) ? type : [type];
  if (types !== undefined && !types.some((name) => isOfType(name, value))) return false;
  const isListed = (list: readonly JsonValue[]) =>
    list.some((item) => JSON.stringify(item) === JSON.stringify(value));
  if (Array.isArray(values) && !isListed(values)) return false;
  if (constant !== undefined && !isListed([constant])) return false;
  if (typeof value === 'number' && typeof maximum === 'number' && value > maximum) return false;
  if (Array.isArray(value) && items !== undefined && !value.every((item) => fits(items, item))) {
    return false;
  }
  return (
    !isJsonObject(value) || parts(required).every((name) => Object.hasOwn(value, String(name)))
  );
}

function isOfType(type: JsonValue, value: JsonValue): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isJsonObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function parts(list: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(list) ? list : [];
}

/**
 * True where a model could give a value under a converted schema, in the form the upstream has for it. Members that
 * only another alternative declares are no matter: alternatives are open, as the client's were.
 */
export function canWrite(
  node: JsonValue | undefined,
  value: JsonValue,
  beside: readonly JsonValue[] = [],
): boolean {
  if (!isJsonObject(node)) return false;
  const { anyOf, type = '', nullable, description = '' } = node;
  if (value === null && (nullable === true || String(description).includes('nullable')))
    return true;
  if (Array.isArray(anyOf)) {
    return anyOf.some((branch) => canWrite(branch, value, [...beside, ...anyOf]));
  }
  switch (String(type).toLowerCase()) {
    case 'string':
      return canWriteText(node, String(description), value);
    case 'object':
      return isJsonObject(value) && canWriteObject(node, value, beside);
    case 'array':
      return Array.isArray(value) && value.every((item) => canWrite(node.items, item));
    default:
      return isAllowed({ ...node, type: String(type).toLowerCase() }, value);
  }
}

function canWriteText(node: JsonObject, description: string, value: JsonValue): boolean {
  if (Array.isArray(node.enum)) {
    return node.enum.includes(typeof value === 'string' ? value : JSON.stringify(value));
  }
  return typeof value === 'string' || description.includes('JSON text');
}

function canWriteObject(
  { properties, required }: JsonObject,
  value: JsonObject,
  beside: readonly JsonValue[],
): boolean {
  if (!parts(required).every((name) => Object.hasOwn(value, String(name)))) return false;
  return Object.entries(value).every(([name, member]) => {
    const node = isJsonObject(properties) ? properties[name] : undefined;
    return node === undefined
      ? beside.some((other) => isJsonObject(other) && declares(other, name))
      : canWrite(node, member);
  });
}

function declares({ properties, anyOf }: JsonObject, name: string): boolean {
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) return true;
  return parts(anyOf).some((branch) => isJsonObject(branch) && declares(branch, name));
}
