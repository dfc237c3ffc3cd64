// The upstream's schema rules, written down a second time as the oracle of the tests.

import { isJsonObject, type JsonValue } from '../lib/json.ts';

const TYPES = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'];
const TEXT_KEYS = ['title', 'description', 'format', 'pattern'];
const COUNT_KEYS = [
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
];
const KEYS = new Set([
  'type',
  'nullable',
  'enum',
  'items',
  'properties',
  'required',
  'propertyOrdering',
  'minimum',
  'maximum',
  'anyOf',
  'default',
  'example',
  ...TEXT_KEYS,
  ...COUNT_KEYS,
]);
const FORMATS: Record<string, readonly string[]> = {
  STRING: ['enum', 'date-time'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
};

/** Everything the strict upstream would refuse; empty for a schema it takes. */
export function violations(node: JsonValue | undefined, at = ''): string[] {
  if (!isJsonObject(node)) return [`${at}: not an object`];
  const type = typeof node.type === 'string' ? node.type.toUpperCase() : '';
  const found = Object.keys(node)
    .filter((key) => !KEYS.has(key))
    .map((key) => `${at}.${key}: unknown`);
  const say = (text: string): number => found.push(`${at}: ${text}`);
  if (node.type !== undefined && !TYPES.includes(type)) say('type');
  if (type === '' && !(Array.isArray(node.anyOf) && node.anyOf.length > 0)) say('type missing');
  if (node.anyOf !== undefined && Object.keys(node).length > 1) say('fields beside anyOf');
  if ((type === 'ARRAY') !== (node.items !== undefined)) say('items');
  return [
    ...found,
    ...valueViolations(node, type).map((text) => `${at}: ${text}`),
    ...objectViolations(node, at, type),
    ...childViolations(node, at),
  ];
}

function valueViolations(node: { readonly [key: string]: JsonValue }, type: string): string[] {
  const isGiven = (key: string): boolean => node[key] !== undefined;
  const found = [
    ...TEXT_KEYS.filter((key) => isGiven(key) && typeof node[key] !== 'string'),
    ...COUNT_KEYS.filter((key) => isGiven(key) && !Number.isInteger(Number(node[key]))),
    ...['minimum', 'maximum'].filter((key) => isGiven(key) && !Number.isFinite(Number(node[key]))),
  ];
  if (isGiven('nullable') && typeof node.nullable !== 'boolean') found.push('nullable');
  if (typeof node.format === 'string' && !(FORMATS[type] ?? []).includes(node.format)) {
    found.push('format');
  }
  const isGoodList = Array.isArray(node.enum) && node.enum.every(isFilledText);
  if (isGiven('enum') && !(type === 'STRING' && isGoodList)) found.push('enum');
  return found;
}

function objectViolations(
  node: { readonly [key: string]: JsonValue },
  at: string,
  type: string,
): string[] {
  const names = isJsonObject(node.properties) ? Object.keys(node.properties) : [];
  const found: string[] = [];
  if ((type === 'OBJECT') !== names.length > 0) found.push(`${at}: properties`);
  for (const key of ['required', 'propertyOrdering']) {
    const list = node[key] ?? [];
    if (!Array.isArray(list)) found.push(`${at}: ${key}`);
    else if (list.some((name) => typeof name !== 'string' || !names.includes(name))) {
      found.push(`${at}: ${key} names no property`);
    }
  }
  return found;
}

function childViolations(node: { readonly [key: string]: JsonValue }, at: string): string[] {
  const found: string[] = [];
  if (isJsonObject(node.properties)) {
    for (const [name, child] of Object.entries(node.properties)) {
      found.push(...violations(child, `${at}.${name}`));
    }
  }
  if (node.items !== undefined) found.push(...violations(node.items, `${at}[]`));
  if (Array.isArray(node.anyOf)) {
    for (const [index, child] of node.anyOf.entries()) {
      found.push(...violations(child, `${at}|${index}`));
    }
  }
  return found;
}

function isFilledText(value: JsonValue): boolean {
  return typeof value === 'string' && value !== '';
}
