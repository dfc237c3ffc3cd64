// Reads the keywords that need no look into sub-schemas: type, values, limits, annotations.

import { type Sentence, told } from '../../../canonical/receipt.ts';
import { isJsonObject, type JsonValue, readNumber } from '../../../lib/json.ts';
import { addHint, type Cleaning, type Facets, type LimitName } from './facets.ts';
import { sayList, sayValue } from './plain-words.ts';
import { type Located, memberPath } from './schema-document.ts';
import { intersectTypes, isOfficialTypeWord, readTypeName, type TypeName } from './schema-type.ts';

/** One keyword met while a fragment is gathered. */
export interface KeywordInput {
  readonly cleaning: Cleaning;
  readonly facets: Facets;
  readonly keyword: string;
  readonly value: JsonValue;
  /** Path of the keyword itself. */
  readonly path: string;
  /** The fragment it stands in. */
  readonly fragment: Located;
}

export type KeywordReader = (input: KeywordInput) => void;

const SAID = told`said in the description`;
/** Of a text such as a pattern: half of it would say something else. */
const MAX_SAID_LENGTH = 1000;

export const CONSTRAINT_READERS: readonly (readonly [string, KeywordReader])[] = [
  ['type', readType],
  ['nullable', readNullable],
  ['title', (input) => readText(input, (text) => (input.facets.title ??= text))],
  ['description', (input) => readText(input, (text) => addDescription(input.facets, text))],
  ['default', readSample],
  ['example', readSample],
  ['examples', readExamples],
  ['enum', readEnum],
  ['const', (input) => addValues(input, [input.value])],
  ['format', readFormat],
  ['minimum', (input) => readLimit(input, 'minimum', 'number')],
  ['maximum', (input) => readLimit(input, 'maximum', 'number')],
  ['minItems', (input) => readLimit(input, 'minItems', 'array')],
  ['maxItems', (input) => readLimit(input, 'maxItems', 'array')],
  ['minProperties', (input) => readLimit(input, 'minProperties', 'object')],
  ['maxProperties', (input) => readLimit(input, 'maxProperties', 'object')],
  ['exclusiveMinimum', readExclusive],
  ['exclusiveMaximum', readExclusive],
  ['minLength', (input) => readLimit(input, 'minLength', 'string')],
  ['maxLength', (input) => readLimit(input, 'maxLength', 'string')],
  ['pattern', readPattern],
  ['contentEncoding', (input) => sayKeyword(input, 'encoding', 'string')],
  ['contentMediaType', (input) => sayKeyword(input, 'media type', 'string')],
  ['multipleOf', (input) => sayKeyword(input, 'multiple of', 'number')],
  ['divisibleBy', (input) => sayKeyword(input, 'multiple of', 'number')],
  ['minContains', (input) => sayKeyword(input, 'contains at least', 'array')],
  ['maxContains', (input) => sayKeyword(input, 'contains at most', 'array')],
  ['uniqueItems', (input) => sayFlag(input, 'unique items')],
  ['deprecated', (input) => sayFlag(input, 'deprecated')],
  ['readOnly', (input) => sayFlag(input, 'read only')],
  ['writeOnly', (input) => sayFlag(input, 'write only')],
  ['propertyOrdering', readOrdering],
];

/** Adds plain words for a keyword the upstream does not take. */
export function sayInstead(input: KeywordInput, hint: string): void {
  addHint(input.facets, hint);
  input.cleaning.note('approximated', input.path, SAID);
}

export function noteRepaired(input: KeywordInput, reason: Sentence): void {
  input.cleaning.note('repaired', input.path, reason);
}

function readType(input: KeywordInput): void {
  const { facets, value } = input;
  const words = Array.isArray(value) ? value : [value];
  const types = words.map(readTypeName);
  if (types.includes(undefined)) noteRepaired(input, told`unknown type`);
  if (types.includes('any')) return;
  const known = types.filter((type): type is TypeName => type !== undefined && type !== 'any');
  if (known.length === 0) return;
  if (facets.types === undefined) {
    facets.types = [...new Set(known)];
    facets.writtenType = isOfficialTypeWord(value) ? value : undefined;
    return;
  }
  const both = intersectTypes(facets.types, known);
  if (both.length === 0) {
    input.cleaning.note('dropped', input.path, told`no value has both types`);
    return;
  }
  facets.types = both;
  if (both.length > 1 || readTypeName(facets.writtenType ?? null) !== both[0]) {
    facets.writtenType = undefined;
  }
}

function readNullable(input: KeywordInput): void {
  if (typeof input.value === 'boolean') input.facets.declaredNullable ??= input.value;
  else noteRepaired(input, told`not true or false`);
}

function readText(input: KeywordInput, use: (text: string) => void): void {
  if (typeof input.value === 'string') use(input.value);
  else noteRepaired(input, told`not a text`);
}

function addDescription(facets: Facets, text: string): void {
  if (text !== '') facets.descriptions.add(text);
}

function readSample(input: KeywordInput): void {
  const name = input.keyword === 'default' ? 'default' : 'example';
  if (!input.facets.samples.has(name)) input.facets.samples.set(name, input.value);
}

function readExamples(input: KeywordInput): void {
  const { value } = input;
  const values = isJsonObject(value) ? Object.values(value) : value;
  if (!Array.isArray(values)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  if (values.length > 0) sayInstead(input, `e.g. ${sayList(values)}`);
}

function readEnum(input: KeywordInput): void {
  if (!Array.isArray(input.value)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  if (input.value.length === 0) {
    noteRepaired(input, told`an empty list allows nothing`);
    return;
  }
  addValues(input, input.value);
}

/** Values allowed by several fragments are those allowed by all of them. */
function addValues(input: KeywordInput, values: readonly JsonValue[]): void {
  const { facets, path } = input;
  if (facets.enumeration === undefined) {
    facets.enumeration = { values, path };
    return;
  }
  const allowed = new Set(values.map((value) => JSON.stringify(value)));
  const both = facets.enumeration.values.filter((value) => allowed.has(JSON.stringify(value)));
  if (both.length > 0) facets.enumeration = { values: both, path: facets.enumeration.path };
  else input.cleaning.note('dropped', path, told`no value stands in both lists`);
}

function readFormat(input: KeywordInput): void {
  const { facets, value, path } = input;
  if (typeof value !== 'string' || value === '') {
    noteRepaired(input, told`not a text`);
    return;
  }
  facets.impliedType ??= value.startsWith('int') ? 'integer' : 'string';
  if (facets.format === undefined) facets.format = { name: value, path };
  else if (facets.format.name !== value) sayInstead(input, `format ${sayValue(value)}`);
}

function readLimit(input: KeywordInput, name: LimitName, implied: TypeName): void {
  const { facets, value, path, fragment } = input;
  const limit = limitNumber(value, implied !== 'number');
  if (limit === undefined) {
    noteRepaired(input, told`not a usable number`);
    return;
  }
  facets.impliedType ??= implied;
  if (isExclusiveFlag(fragment, name)) return;
  const known = facets.limits.get(name);
  const tighter =
    known === undefined ||
    (name.startsWith('min') ? limit > toNumber(known.value) : limit < toNumber(known.value));
  if (tighter) facets.limits.set(name, { value, path });
}

/** One keyword holds one pattern; of several all hold. */
function readPattern(input: KeywordInput): void {
  const { facets, value, path } = input;
  if (typeof value !== 'string') {
    noteRepaired(input, told`not a text`);
    return;
  }
  facets.impliedType ??= 'string';
  const known = facets.limits.get('pattern');
  if (known === undefined) facets.limits.set('pattern', { value, path });
  else if (known.value !== value) sayKeyword(input, 'pattern', 'string');
}

/** Draft 4 writes `exclusiveMinimum: true` beside `minimum`. */
function isExclusiveFlag(fragment: Located, name: LimitName): boolean {
  if (!isJsonObject(fragment.schema)) return false;
  if (name === 'minimum') return fragment.schema.exclusiveMinimum === true;
  return name === 'maximum' && fragment.schema.exclusiveMaximum === true;
}

function readExclusive(input: KeywordInput): void {
  const { facets, keyword, value, path, fragment } = input;
  if (value === false || !isJsonObject(fragment.schema)) return;
  const isLower = keyword === 'exclusiveMinimum';
  const written = isLower ? fragment.schema.minimum : fragment.schema.maximum;
  const limit = limitNumber(value === true ? (written ?? null) : value, false);
  if (limit === undefined) {
    noteRepaired(input, told`not a usable number`);
    return;
  }
  facets.impliedType ??= 'number';
  if (isLower) {
    if (limit > (facets.exclusiveMinimum?.value ?? Number.NEGATIVE_INFINITY)) {
      facets.exclusiveMinimum = { value: limit, path };
    }
  } else if (limit < (facets.exclusiveMaximum?.value ?? Number.POSITIVE_INFINITY)) {
    facets.exclusiveMaximum = { value: limit, path };
  }
}

function sayKeyword(input: KeywordInput, label: string, implied: TypeName): void {
  const { value, facets } = input;
  if (typeof value !== 'string' && readNumber(value) === undefined) {
    noteRepaired(input, told`not a usable value`);
    return;
  }
  facets.impliedType ??= implied;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= MAX_SAID_LENGTH) sayInstead(input, `${label} ${text}`);
  else input.cleaning.note('dropped', input.path, told`too long to be said`);
}

function sayFlag(input: KeywordInput, hint: string): void {
  if (input.value === true) sayInstead(input, hint);
  else if (input.value !== false) noteRepaired(input, told`not true or false`);
}

function readOrdering(input: KeywordInput): void {
  if (!Array.isArray(input.value)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  input.facets.ordering ??= input.value.filter((name) => typeof name === 'string');
}

/** A finite number, also one written as text (proto JSON); whole and not negative when it counts. */
function limitNumber(value: JsonValue, counts: boolean): number | undefined {
  const limit = toNumber(value);
  if (!Number.isFinite(limit)) return undefined;
  if (counts && !(Number.isSafeInteger(limit) && limit >= 0)) return undefined;
  return limit;
}

export function toNumber(value: JsonValue): number {
  if (typeof value === 'string' && value.trim() !== '') return Number(value);
  return readNumber(value) ?? Number.NaN;
}

/** The path of a keyword in a fragment. */
export function keywordPath(fragment: Located, keyword: string): string {
  return memberPath(fragment.path, keyword);
}
