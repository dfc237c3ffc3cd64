// Writes listed values: the upstream takes lists of non-empty texts only.

import { isJsonObject, isRawNumber, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { addHint, type Cleaning, type Facets } from './facets.ts';
import { sayJson, sayList } from './plain-words.ts';
import type { TypeName } from './schema-type.ts';

/** Longer lists are described; upstreams refuse schemas with very many values. */
const MAX_VALUES = 1000;

/**
 * The type and values of a schema with `enum` or `const`; undefined when the values cannot be
 * listed (they are described then and the rest of the schema decides).
 */
export function writeEnumeration(cleaning: Cleaning, facets: Facets): EnumerationNode | undefined {
  const { enumeration } = facets;
  if (enumeration === undefined) return undefined;
  const values = enumeration.values.filter((value) => value !== null);
  if (values.length < enumeration.values.length && allowsNull(facets)) facets.nullable = true;
  if (values.length === 0) {
    facets.nullable = false;
    return { type: 'null', fields: {} };
  }
  if (values.every((value) => typeof value === 'boolean')) {
    return writeBooleans(cleaning, facets, values);
  }
  if (values.length > MAX_VALUES || values.some(isComposite)) {
    addHint(facets, `one of ${sayList(values)}`);
    cleaning.note('approximated', enumeration.path, 'these values cannot be listed');
    facets.impliedType ??= typeOfValues(values);
    return undefined;
  }
  return writeTexts(cleaning, facets, values);
}

export interface EnumerationNode {
  readonly type: TypeName;
  readonly fields: JsonObject;
}

function allowsNull(facets: Facets): boolean {
  return facets.types === undefined || facets.types.includes('null');
}

function writeBooleans(
  cleaning: Cleaning,
  facets: Facets,
  values: readonly JsonValue[],
): EnumerationNode {
  if (new Set(values).size === 1) {
    addHint(facets, `always ${sayJson(values[0] ?? null)}`);
    cleaning.note('approximated', facets.enumeration?.path ?? '', 'said in the description');
  }
  return { type: 'boolean', fields: {} };
}

function writeTexts(
  cleaning: Cleaning,
  facets: Facets,
  values: readonly JsonValue[],
): EnumerationNode {
  const path = facets.enumeration?.path ?? '';
  if (values.some((value) => typeof value !== 'string')) {
    cleaning.note('approximated', path, 'the values are sent as texts');
    const declared = facets.types?.find((type) => type === 'integer' || type === 'number');
    if (declared !== undefined) addHint(facets, `${declared} as text`);
  }
  const texts = [...new Set(values.map(asText))];
  const filled = texts.filter((text) => text !== '');
  if (filled.length < texts.length) {
    addHint(facets, filled.length === 0 ? 'always ""' : 'or ""');
    cleaning.note('approximated', path, 'the empty text cannot be listed');
  }
  return { type: 'string', fields: filled.length === 0 ? {} : { enum: filled } };
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isComposite(value: JsonValue): boolean {
  return Array.isArray(value) || isJsonObject(value);
}

function typeOfValues(values: readonly JsonValue[]): TypeName | undefined {
  if (values.every(Array.isArray)) return 'array';
  if (values.every(isJsonObject)) return 'object';
  if (values.every((value) => typeof value === 'number' || isRawNumber(value))) return 'number';
  return 'string';
}
