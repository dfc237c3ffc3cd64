// Short plain words for what a schema says, where the upstream has no keyword for it.

import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';

const MAX_VALUE_LENGTH = 200;
const MAX_LISTED = 20;
/** Characters of a list that is the only place where its values stand. */
const MAX_LIST_LENGTH = 50_000;

/** A value as JSON text, cut to a readable length. */
export function sayValue(value: JsonValue): string {
  return cut(typeof value === 'string' ? value : JSON.stringify(value));
}

export function sayJson(value: JsonValue): string {
  return cut(JSON.stringify(value));
}

/** A limit in words. A pattern stands whole: half of it would say something else. */
export function sayLimit(name: string, value: JsonValue): string {
  return `${name} ${name === 'pattern' && typeof value === 'string' ? value : sayJson(value)}`;
}

export function sayList(values: readonly JsonValue[]): string {
  const shown = values.slice(0, MAX_LISTED).map(sayJson).join(', ');
  return values.length > MAX_LISTED ? `${shown} and ${values.length - MAX_LISTED} more` : shown;
}

/** The values one may choose from, each in full: where no keyword can list them, words have to. */
export function sayValues(values: readonly JsonValue[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  let length = 0;
  const end = texts.findIndex((text) => {
    length += text.length;
    return length > MAX_LIST_LENGTH;
  });
  const shown = end === -1 ? texts : texts.slice(0, Math.max(end, 1));
  const words = shown.length === 1 ? cut(shown[0] ?? '', MAX_LIST_LENGTH) : shown.join(', ');
  const left = texts.length - shown.length;
  return left === 0 ? words : `${words} and ${left} more`;
}

export const ANY_SHAPE = 'any value';

/** What kind of value a schema allows, one level deep: `string`, `array of integer`, `object {a, b}`. */
export function sayOutline(schema: JsonValue | undefined): string {
  if (!isJsonObject(schema)) return ANY_SHAPE;
  const { type, properties, items, enum: values, const: constant, $ref: reference } = schema;
  if (typeof reference === 'string') return cut(reference.split('/').at(-1) || 'the same again');
  if (constant !== undefined) return sayJson(constant);
  if (Array.isArray(values)) return `one of ${sayList(values)}`;
  if (isJsonObject(properties)) return sayMembersOf(properties);
  if (isJsonObject(items)) return `array of ${sayItemType(items)}`;
  if (typeof type === 'string') return cut(type.toLowerCase());
  if (Array.isArray(type)) return cut(type.map(sayValue).join(' or '));
  return ANY_SHAPE;
}

/** A schema may refer to itself from each of its members. */
const saidMembers = new WeakMap<JsonObject, string>();

function sayMembersOf(properties: JsonObject): string {
  const said = saidMembers.get(properties) ?? sayMembers(Object.keys(properties));
  saidMembers.set(properties, said);
  return said;
}

export function sayMembers(names: readonly string[]): string {
  return `object {${cut(names.join(', '))}}`;
}

const SHORT_KEYS = new Set(['const', 'enum', 'type', 'title', 'description', '$ref', '$comment']);

/** When a condition holds: `kind is "a" and size is given`; its own text where that is no simple one. */
export function sayCondition(schema: JsonValue): string {
  if (!isJsonObject(schema)) return sayWhat(schema);
  const { type, properties = {}, required = [], ...others } = schema;
  const isPlain = isJsonObject(properties) && Array.isArray(required);
  const isOfObjects = type === undefined || type === 'object';
  if (!isPlain || !isOfObjects || Object.keys(others).length > 0) return `it is ${sayWhat(schema)}`;
  const parts = Object.entries(properties).map(([name, what]) => `${name} is ${sayWhat(what)}`);
  const given = required.filter((name) => !Object.hasOwn(properties, String(name)));
  const words = [...parts, ...given.map((name) => `${sayValue(name)} is given`)].join(' and ');
  return words === '' ? 'it is an object' : cut(words);
}

/** A value, a list of values or a type in words, anything else as it is written. */
function sayWhat(schema: JsonValue): string {
  return isShort(schema) ? sayOutline(schema) : sayJson(schema);
}

function isShort(schema: JsonValue): schema is JsonObject {
  return isJsonObject(schema) && Object.keys(schema).every((keyword) => SHORT_KEYS.has(keyword));
}

/** What must not be: `not null`, `never if a is given and b is given`. */
export function sayForbidden(schema: JsonValue): string {
  return isShort(schema) ? `not ${sayOutline(schema)}` : `never if ${sayCondition(schema)}`;
}

/** The description followed by the hints: `text (hint; hint)`. */
export function composeDescription(
  descriptions: ReadonlySet<string>,
  hints: ReadonlySet<string>,
): string {
  const text = [...descriptions].join('\n');
  if (hints.size === 0) return text;
  const added = `(${[...hints].join('; ')})`;
  return text === '' ? added : `${text} ${added}`;
}

function sayItemType(items: { readonly type?: JsonValue }): string {
  return typeof items.type === 'string' ? cut(items.type.toLowerCase()) : 'values';
}

export function cut(text: string, most = MAX_VALUE_LENGTH): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}
