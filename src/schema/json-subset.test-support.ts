// The keywords of JSON Schema that upstreams document, as the oracle of the tests.

import {
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  readNumber,
} from '../lib/json.ts';

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'format'],
  number: ['enum', 'format', 'minimum', 'maximum'],
  integer: ['enum', 'format', 'minimum', 'maximum'],
  boolean: [],
  null: [],
  array: ['items', 'prefixItems', 'minItems', 'maxItems'],
  object: ['properties', 'required', 'propertyOrdering', 'additionalProperties'],
};
const ANYWHERE = ['type', 'anyOf', 'title', 'description'];

/** Everything a narrow reader of the documents would refuse; empty for a schema it takes. */
export function jsonViolations(node: JsonValue | undefined, at = ''): string[] {
  if (!isJsonObject(node)) return [`${at}: not an object`];
  const types = Array.isArray(node.type) ? node.type : node.type === undefined ? [] : [node.type];
  const [type = 'any', also = 'null', ...more] = types;
  const isKnown = typeof type === 'string' && (type === 'any' || Object.hasOwn(KEYWORDS, type));
  const found: string[] = [];
  if (!isKnown || also !== 'null' || more.length > 0) found.push('type');
  if (Array.isArray(node.type) && types.length < 2) found.push('type list');
  const takes = [...ANYWHERE, ...(KEYWORDS[String(type)] ?? [])];
  found.push(...Object.keys(node).filter((key) => !takes.includes(key)));
  found.push(...valueViolations(node, String(type)), ...objectViolations(node));
  return [...found.map((text) => `${at}: ${text}`), ...childViolations(node, at)];
}

function valueViolations(node: JsonObject, type: string): string[] {
  const found: string[] = [];
  for (const key of ['title', 'description', 'format']) {
    if (node[key] !== undefined && typeof node[key] !== 'string') found.push(key);
  }
  for (const key of ['minimum', 'maximum']) {
    if (node[key] !== undefined && readNumber(node[key]) === undefined) found.push(key);
  }
  for (const key of ['minItems', 'maxItems']) {
    if (node[key] !== undefined && !Number.isInteger(node[key])) found.push(key);
  }
  const { format, enum: values } = node;
  if (typeof format === 'string' && !(FORMATS[type] ?? []).includes(format)) found.push('format');
  if (values !== undefined && !(Array.isArray(values) && isGoodList(values, type))) {
    found.push('enum');
  }
  return found;
}

/** Values of the one type beside them. */
function isGoodList(values: readonly JsonValue[], type: string): boolean {
  if (values.length === 0) return false;
  if (type === 'string') return values.every((value) => typeof value === 'string' && value !== '');
  return values.every((value) => typeof value === 'number' || isRawNumber(value));
}

function objectViolations(node: JsonObject): string[] {
  const names = isJsonObject(node.properties) ? Object.keys(node.properties) : [];
  return ['required', 'propertyOrdering'].filter((key) => {
    const list = node[key] ?? [];
    return !Array.isArray(list) || list.some((name) => !names.includes(String(name)));
  });
}

function childViolations(node: JsonObject, at: string): string[] {
  const { properties = {}, additionalProperties = true, items, prefixItems, anyOf } = node;
  const found = Object.entries(properties ?? {}).flatMap(([name, child]) =>
    jsonViolations(child, `${at}.${name}`),
  );
  if (typeof additionalProperties !== 'boolean') {
    found.push(...jsonViolations(additionalProperties, `${at}.*`));
  }
  if (items !== undefined) found.push(...jsonViolations(items, `${at}[]`));
  const isArray = node.type === 'array' || (Array.isArray(node.type) && node.type[0] === 'array');
  if (isArray && items === undefined && prefixItems === undefined) found.push(`${at}: no items`);
  for (const list of [prefixItems, anyOf]) {
    if (list === undefined) continue;
    if (!Array.isArray(list) || list.length === 0) found.push(`${at}: list`);
    else found.push(...list.flatMap((child, index) => jsonViolations(child, `${at}[${index}]`)));
  }
  return found;
}
