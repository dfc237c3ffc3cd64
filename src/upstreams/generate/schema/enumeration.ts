// Writes listed values: the upstream takes lists of non-empty texts only.

import { told } from '../../../canonical/receipt.ts';
import {
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  readNumber,
} from '../../../lib/json.ts';
import { addHint, type Cleaning, type Facets } from './facets.ts';
import { freezeNode } from './finish-node.ts';
import { sayJson, sayList, sayValues } from './plain-words.ts';
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
  if (!mayList(cleaning, values)) {
    addHint(facets, `one of ${sayInFull(cleaning, values)}`);
    cleaning.note('approximated', enumeration.path, told`these values cannot be listed`);
    facets.impliedType ??= typeOfValues(values);
    return undefined;
  }
  if (cleaning.form === 'json-schema' && values.some((value) => typeof value !== 'string')) {
    return writeKinds(cleaning, facets, values);
  }
  return writeTexts(cleaning, facets, values);
}

function mayList(cleaning: Cleaning, values: readonly JsonValue[]): boolean {
  if (values.length > Math.min(MAX_VALUES, cleaning.valuesLeft)) return false;
  cleaning.valuesLeft -= values.length;
  return !values.some(isComposite);
}

function sayInFull(cleaning: Cleaning, values: readonly JsonValue[]): string {
  if (cleaning.listedLeft <= 0) return sayList(values);
  const words = sayValues(values);
  cleaning.listedLeft -= words.length;
  return words;
}

export interface EnumerationNode {
  /** Undefined for alternatives of several types, which stand in the fields. */
  readonly type: TypeName | undefined;
  readonly fields: JsonObject;
}

/** Values that are not all texts, in JSON Schema: a list for each type. */
function writeKinds(
  cleaning: Cleaning,
  facets: Facets,
  values: readonly JsonValue[],
): EnumerationNode {
  const texts = values.filter((value) => typeof value === 'string');
  const numbers = values.filter((value) => readNumber(value) !== undefined);
  const kinds = [
    ...(texts.length === 0 ? [] : [writeTexts(cleaning, facets, texts)]),
    ...(numbers.length === 0 ? [] : [numberKind(facets, numbers)]),
    ...(values.some((value) => typeof value === 'boolean') ? [BOOLEAN_KIND] : []),
  ];
  const [first, ...others] = kinds;
  if (first !== undefined && others.length === 0) return first;
  const anyOf = kinds.map(({ type, fields }) => freezeNode({ ...(type && { type }), ...fields }));
  return { type: undefined, fields: { anyOf } };
}

const BOOLEAN_KIND: EnumerationNode = { type: 'boolean', fields: {} };

function numberKind(facets: Facets, numbers: readonly JsonValue[]): EnumerationNode {
  const declared = facets.types?.find((type) => type === 'integer' || type === 'number');
  const areWhole = numbers.every((value) => Number.isInteger(readNumber(value)));
  return { type: declared ?? (areWhole ? 'integer' : 'number'), fields: { enum: [...numbers] } };
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
    cleaning.note('approximated', facets.enumeration?.path ?? '', told`said in the description`);
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
    cleaning.note('approximated', path, told`the values are sent as texts`);
    const declared = facets.types?.find((type) => type === 'integer' || type === 'number');
    if (declared !== undefined) addHint(facets, `${declared} as text`);
  }
  const texts = [...new Set(values.map(asText))];
  const filled = texts.filter((text) => text !== '');
  if (filled.length < texts.length) {
    addHint(facets, filled.length === 0 ? 'always ""' : 'or ""');
    cleaning.note('approximated', path, told`the empty text cannot be listed`);
  }
  return { type: 'string', fields: filled.length === 0 ? {} : { enum: filled } };
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isComposite(value: JsonValue): boolean {
  return Array.isArray(value) || isJsonObject(value);
}

/** The type all values have; texts stand in for values of several types. */
export function typeOfValues(values: readonly JsonValue[]): TypeName {
  if (values.every(Array.isArray)) return 'array';
  if (values.every(isJsonObject)) return 'object';
  if (values.every((value) => typeof value === 'number' || isRawNumber(value))) return 'number';
  if (values.every((value) => typeof value === 'boolean')) return 'boolean';
  return 'string';
}
