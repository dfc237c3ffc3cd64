// Writes the single fields of a node: type, required, order, format, limits.

import { told } from '../../../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../../../lib/json.ts';
import { addHint, type Cleaning, type Facets, type LimitName } from './facets.ts';
import { sayLimit, sayValue } from './plain-words.ts';
import { toNumber } from './read-constraints.ts';
import { isKnownFormat, readTypeName, type TypeName } from './schema-type.ts';

export function typeField(cleaning: Cleaning, facets: Facets, type: TypeName): { type: string } {
  if (cleaning.form === 'json-schema') return { type };
  if (facets.writtenType !== undefined && readTypeName(facets.writtenType) === type) {
    return { type: facets.writtenType };
  }
  return { type: cleaning.upperCase ? type.toUpperCase() : type };
}

export function requiredField(
  cleaning: Cleaning,
  facets: Facets,
  properties: JsonObject,
): JsonObject {
  const required: string[] = [];
  for (const [name, path] of facets.required) {
    if (Object.hasOwn(properties, name)) required.push(name);
    else cleaning.note('dropped', path, told`no such property`);
  }
  return required.length === 0 ? {} : { required };
}

export function orderingField(
  cleaning: Cleaning,
  facets: Facets,
  properties: JsonObject,
): JsonObject {
  const names = Object.keys(properties);
  const given = facets.ordering?.filter((name) => Object.hasOwn(properties, name));
  if (given !== undefined && given.length > 0) return { propertyOrdering: given };
  return cleaning.ordered && names.length > 1 ? { propertyOrdering: names } : {};
}

export function formatField(cleaning: Cleaning, facets: Facets, type: TypeName): JsonObject {
  const { format } = facets;
  if (format === undefined) return {};
  if (isKnownFormat(type, format.name)) return { format: format.name };
  addHint(facets, `format ${sayValue(format.name)}`);
  cleaning.note('approximated', format.path, told`said in the description`);
  return {};
}

/** Limits that mean something for a type. */
export const LIMITS_BY_TYPE: Partial<Record<TypeName, readonly LimitName[]>> = {
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  string: ['minLength', 'maxLength', 'pattern'],
  array: ['minItems', 'maxItems'],
  object: ['minProperties', 'maxProperties'],
};

/** Limits that upstreams document for their own dialect alone. */
const NO_JSON_KEYWORD: ReadonlySet<LimitName> = new Set<LimitName>([
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
]);

export function limitFields(cleaning: Cleaning, facets: Facets, type: TypeName): JsonObject {
  if (type === 'integer' || type === 'number') settleExclusive(cleaning, facets, type);
  const names = LIMITS_BY_TYPE[type] ?? [];
  const fields: [string, JsonValue][] = [];
  for (const [name, { value, path }] of facets.limits) {
    if (!names.includes(name)) cleaning.note('dropped', path, told`has no effect on ${type}`);
    else if (!takesLimit(cleaning, name, value)) {
      addHint(facets, sayLimit(name, value));
      cleaning.note('approximated', path, told`said in the description`);
    } else if (cleaning.form === 'schema') fields.push([name, value]);
    else fields.push([name, typeof value === 'string' ? Number(value) : value]);
  }
  return Object.fromEntries(fields);
}

/** False for what the form has no keyword for, and where `maxItems` would add up to too much. */
function takesLimit(cleaning: Cleaning, name: LimitName, value: JsonValue): boolean {
  if (name === 'maxItems') return takesItems(cleaning, toNumber(value));
  if (name === 'pattern' && !isPlainPattern(String(value))) return false;
  return cleaning.form === 'schema' || !NO_JSON_KEYWORD.has(name);
}

/** What looks around or back: engines that match in linear time have none of it, and refuse the whole request. */
const LOOKS_ELSEWHERE = /\(\?<?[=!]|\\[1-9]|\\k/;

/** True for a regular expression that every engine reads; an escaped backslash escapes nothing. */
function isPlainPattern(pattern: string): boolean {
  if (LOOKS_ELSEWHERE.test(pattern.replaceAll('\\\\', ''))) return false;
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

function takesItems(cleaning: Cleaning, most: number): boolean {
  if (most > cleaning.itemsLeft) return false;
  cleaning.itemsLeft -= most;
  return true;
}

function settleExclusive(cleaning: Cleaning, facets: Facets, type: 'integer' | 'number'): void {
  const { exclusiveMinimum: above, exclusiveMaximum: below } = facets;
  const isWhole = type === 'integer';
  if (above !== undefined) {
    const least = isWhole ? Math.floor(above.value) + 1 : above.value;
    const known = facets.limits.get('minimum');
    if (known === undefined || toNumber(known.value) < least) {
      facets.limits.set('minimum', { value: least, path: above.path });
    }
    if (!isWhole)
      sayBound(cleaning, facets, { words: `more than ${above.value}`, path: above.path });
  }
  if (below !== undefined) {
    const most = isWhole ? Math.ceil(below.value) - 1 : below.value;
    const known = facets.limits.get('maximum');
    if (known === undefined || toNumber(known.value) > most) {
      facets.limits.set('maximum', { value: most, path: below.path });
    }
    if (!isWhole)
      sayBound(cleaning, facets, { words: `less than ${below.value}`, path: below.path });
  }
}

function sayBound(
  cleaning: Cleaning,
  facets: Facets,
  bound: { readonly words: string; readonly path: string },
): void {
  addHint(facets, bound.words);
  cleaning.note('approximated', bound.path, told`the bound itself is allowed upstream`);
}
