// Gathers all fragments of one schema (siblings, `$ref`, `allOf`) into a summary.

import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import {
  addCase,
  addImpossibleCase,
  describeCondition,
  describeForbidden,
  describeList,
  describeOutline,
  describeShape,
  describeValue,
} from './describe.ts';
import {
  intersectTypes,
  isOfficialTypeWord,
  isResolving,
  type Located,
  locateInside,
  memberPath,
  readTypeName,
  resolveReference,
  type TypeName,
  typeOfValues,
} from './document.ts';
import {
  ANYTHING,
  addHint,
  addProperty,
  type ChoiceGroup,
  createSummary,
  joinSources,
  type LimitName,
  type NodeSource,
  type SchemaConversion,
  type SchemaSummary,
  sourceOf,
} from './summary.ts';

/** One keyword met while a fragment is gathered. */
interface KeywordInput {
  readonly conversion: SchemaConversion;
  readonly summary: SchemaSummary;
  readonly keyword: string;
  readonly value: JsonValue;
  /** Path of the keyword itself. */
  readonly path: string;
  /** The fragment it stands in. */
  readonly fragment: Located;
}

type KeywordReader = (input: KeywordInput) => void;

/** Deeper schemas are described, not declared. */
const MAX_SCHEMA_DEPTH = 64;

/** Adds everything a source says. */
export function gatherSource(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  source: NodeSource,
): void {
  for (const located of source.all) gather(conversion, summary, located);
  for (const choice of source.any) summary.choices.push(choice);
}

function gather(conversion: SchemaConversion, summary: SchemaSummary, located: Located): void {
  const { schema, path } = located;
  if (schema === true) return;
  if (schema === false) {
    summary.isUnsatisfiable = true;
    return;
  }
  if (!isJsonObject(schema)) {
    conversion.note('repaired', path, told`not a schema`);
    return;
  }
  if (!mayGather(conversion, summary, located, schema)) return;
  if (summary.keyOrder.length === 0) summary.keyOrder = Object.keys(schema);
  const entries = Object.entries(schema);
  const last = entries.filter(([keyword]) => LAST.has(keyword));
  for (const [keyword, value] of [...entries.filter(([keyword]) => !LAST.has(keyword)), ...last]) {
    readKeyword({
      conversion,
      summary,
      keyword,
      value,
      path: keywordPath(located, keyword),
      fragment: located,
    });
  }
}

/** Reading so many characters costs as much as reading one more keyword, name or item. */
const ENTRY_WEIGHT = 50;
/** More of them than an honest schema has in one place. */
const MANY = 100;

/** What a schema says itself, in characters: keywords, names of members, texts and listed values. */
function weightOf(schema: JsonObject): number {
  const entries = Object.entries(schema);
  let weight = manyWeight(entries.length);
  for (const [keyword, value] of entries) {
    // Bounded by itself.
    if (keyword === 'enum') continue;
    if (SAMPLES.has(keyword) || typeof value !== 'object') weight += JSON.stringify(value).length;
    else if (value !== null) {
      const { length } = Array.isArray(value) ? value : Object.keys(value);
      weight += length + manyWeight(length);
    }
  }
  return weight;
}

function manyWeight(count: number): number {
  return count > MANY ? count * ENTRY_WEIGHT : 0;
}

/** Keywords with values of any form. */
const SAMPLES = new Set(['default', 'example', 'examples', 'const']);

function mayGather(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  { path, depth }: Located,
  schema: JsonObject,
): boolean {
  conversion.fragmentsLeft -= 1;
  const weight = conversion.weights.get(schema);
  if (weight === undefined) conversion.weights.set(schema, weightOf(schema));
  else conversion.repeatedLeft -= weight;
  const isBounded = conversion.fragmentsLeft >= 0 && conversion.repeatedLeft >= 0;
  if (depth <= MAX_SCHEMA_DEPTH && isBounded) return true;
  conversion.losses.add('depth');
  summary.recursionNote ??= 'a value too deep to describe';
  conversion.note(
    'approximated',
    path,
    depth > MAX_SCHEMA_DEPTH
      ? told`deeper than ${MAX_SCHEMA_DEPTH} levels`
      : told`the schema unfolds too far`,
  );
  return false;
}

function readKeyword(input: KeywordInput): void {
  const { keyword, value } = input;
  const reader = READERS.get(keyword);
  if (reader === undefined) {
    if (!SILENT.has(keyword)) input.conversion.note('dropped', input.path, told`unknown keyword`);
  } else if (value === null && keyword !== 'const' && keyword !== 'default') {
    noteRepaired(input, told`null is no value here`);
  } else {
    reader(input);
  }
}

// Reads the keywords that need no look into sub-schemas: type, values, limits, annotations.

const SAID = told`said in the description`;
/** Of a text such as a pattern: half of it would say something else. */
const MAX_SAID_LENGTH = 1000;

const CONSTRAINT_READERS: readonly (readonly [string, KeywordReader])[] = [
  ['type', readType],
  ['nullable', readNullable],
  ['title', (input) => readText(input, (text) => (input.summary.title ??= text))],
  ['description', (input) => readText(input, (text) => addDescription(input.summary, text))],
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
  ['contentEncoding', (input) => describeKeyword(input, 'encoding', 'string')],
  ['contentMediaType', (input) => describeKeyword(input, 'media type', 'string')],
  ['multipleOf', (input) => describeKeyword(input, 'multiple of', 'number')],
  ['divisibleBy', (input) => describeKeyword(input, 'multiple of', 'number')],
  ['minContains', (input) => describeKeyword(input, 'contains at least', 'array')],
  ['maxContains', (input) => describeKeyword(input, 'contains at most', 'array')],
  ['uniqueItems', (input) => describeFlag(input, 'unique items')],
  ['deprecated', (input) => describeFlag(input, 'deprecated')],
  ['readOnly', (input) => describeFlag(input, 'read only')],
  ['writeOnly', (input) => describeFlag(input, 'write only')],
  ['propertyOrdering', readOrdering],
];

/** Adds plain words for a keyword the upstream does not take. */
function describeInstead(input: KeywordInput, hint: string): void {
  addHint(input.summary, hint);
  input.conversion.note('approximated', input.path, SAID);
}

function noteRepaired(input: KeywordInput, reason: Sentence): void {
  input.conversion.note('repaired', input.path, reason);
}

function readType(input: KeywordInput): void {
  const { summary, value } = input;
  const words = Array.isArray(value) ? value : [value];
  const types = words.map(readTypeName);
  if (types.includes(undefined)) noteRepaired(input, told`unknown type`);
  if (types.includes('any')) return;
  const known = types.filter((type): type is TypeName => type !== undefined && type !== 'any');
  if (known.length === 0) return;
  if (summary.types === undefined) {
    summary.types = [...new Set(known)];
    summary.writtenType = isOfficialTypeWord(value) ? value : undefined;
    return;
  }
  const both = intersectTypes(summary.types, known);
  if (both.length === 0) {
    input.conversion.note('dropped', input.path, told`no value has both types`);
    return;
  }
  summary.types = both;
  if (both.length > 1 || readTypeName(summary.writtenType ?? null) !== both[0]) {
    summary.writtenType = undefined;
  }
}

function readNullable(input: KeywordInput): void {
  if (typeof input.value === 'boolean') input.summary.declaredNullable ??= input.value;
  else noteRepaired(input, told`not true or false`);
}

function readText(input: KeywordInput, use: (text: string) => void): void {
  if (typeof input.value === 'string') use(input.value);
  else noteRepaired(input, told`not a text`);
}

function addDescription(summary: SchemaSummary, text: string): void {
  if (text !== '') summary.descriptions.add(text);
}

function readSample(input: KeywordInput): void {
  const name = input.keyword === 'default' ? 'default' : 'example';
  if (!input.summary.samples.has(name)) input.summary.samples.set(name, input.value);
}

function readExamples(input: KeywordInput): void {
  const { value } = input;
  const values = isJsonObject(value) ? Object.values(value) : value;
  if (!Array.isArray(values)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  if (values.length > 0) describeInstead(input, `e.g. ${describeList(values)}`);
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
  const { summary, path } = input;
  if (summary.enumeration === undefined) {
    summary.enumeration = { values, path };
    return;
  }
  const allowed = new Set(values.map((value) => JSON.stringify(value)));
  const both = summary.enumeration.values.filter((value) => allowed.has(JSON.stringify(value)));
  if (both.length > 0) summary.enumeration = { values: both, path: summary.enumeration.path };
  else input.conversion.note('dropped', path, told`no value stands in both lists`);
}

function readFormat(input: KeywordInput): void {
  const { summary, value, path } = input;
  if (typeof value !== 'string' || value === '') {
    noteRepaired(input, told`not a text`);
    return;
  }
  summary.impliedType ??= value.startsWith('int') ? 'integer' : 'string';
  if (summary.format === undefined) summary.format = { name: value, path };
  else if (summary.format.name !== value) describeInstead(input, `format ${describeValue(value)}`);
}

function readLimit(input: KeywordInput, name: LimitName, implied: TypeName): void {
  const { summary, value, path, fragment } = input;
  const limit = limitNumber(value, implied !== 'number');
  if (limit === undefined) {
    noteRepaired(input, told`not a usable number`);
    return;
  }
  summary.impliedType ??= implied;
  if (isExclusiveFlag(fragment, name)) return;
  const known = summary.limits.get(name);
  const tighter =
    known === undefined ||
    (name.startsWith('min') ? limit > toNumber(known.value) : limit < toNumber(known.value));
  if (tighter) summary.limits.set(name, { value, path });
}

/** One keyword holds one pattern; of several all hold. */
function readPattern(input: KeywordInput): void {
  const { summary, value, path } = input;
  if (typeof value !== 'string') {
    noteRepaired(input, told`not a text`);
    return;
  }
  summary.impliedType ??= 'string';
  const known = summary.limits.get('pattern');
  if (known === undefined) summary.limits.set('pattern', { value, path });
  else if (known.value !== value) describeKeyword(input, 'pattern', 'string');
}

/** Draft 4 writes `exclusiveMinimum: true` beside `minimum`. */
function isExclusiveFlag(fragment: Located, name: LimitName): boolean {
  if (!isJsonObject(fragment.schema)) return false;
  if (name === 'minimum') return fragment.schema.exclusiveMinimum === true;
  return name === 'maximum' && fragment.schema.exclusiveMaximum === true;
}

function readExclusive(input: KeywordInput): void {
  const { summary, keyword, value, path, fragment } = input;
  if (value === false || !isJsonObject(fragment.schema)) return;
  const isLower = keyword === 'exclusiveMinimum';
  const written = isLower ? fragment.schema.minimum : fragment.schema.maximum;
  const limit = limitNumber(value === true ? (written ?? null) : value, false);
  if (limit === undefined) {
    noteRepaired(input, told`not a usable number`);
    return;
  }
  summary.impliedType ??= 'number';
  if (isLower) {
    if (limit > (summary.exclusiveMinimum?.value ?? Number.NEGATIVE_INFINITY)) {
      summary.exclusiveMinimum = { value: limit, path };
    }
  } else if (limit < (summary.exclusiveMaximum?.value ?? Number.POSITIVE_INFINITY)) {
    summary.exclusiveMaximum = { value: limit, path };
  }
}

function describeKeyword(input: KeywordInput, label: string, implied: TypeName): void {
  const { value, summary } = input;
  if (typeof value !== 'string' && readNumber(value) === undefined) {
    noteRepaired(input, told`not a usable value`);
    return;
  }
  summary.impliedType ??= implied;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= MAX_SAID_LENGTH) describeInstead(input, `${label} ${text}`);
  else input.conversion.note('dropped', input.path, told`too long to be said`);
}

function describeFlag(input: KeywordInput, hint: string): void {
  if (input.value === true) describeInstead(input, hint);
  else if (input.value !== false) noteRepaired(input, told`not true or false`);
}

function readOrdering(input: KeywordInput): void {
  if (!Array.isArray(input.value)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  input.summary.ordering ??= input.value.filter((name) => typeof name === 'string');
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
function keywordPath(fragment: Located, keyword: string): string {
  return memberPath(fragment.path, keyword);
}

// Reads the keywords that hold sub-schemas: properties, items, choices.

/** Longer lists of property names are said instead of declared. */
const MAX_NAMED_KEYS = 200;

const STRUCTURE_READERS: readonly (readonly [string, KeywordReader])[] = [
  ['properties', readProperties],
  ['required', readRequired],
  ['additionalProperties', readOtherProperties],
  ['unevaluatedProperties', readOtherProperties],
  ['patternProperties', readPatternProperties],
  ['propertyNames', readPropertyNames],
  ['items', readItems],
  ['prefixItems', readTuple],
  ['additionalItems', readFurtherItems],
  ['unevaluatedItems', readFurtherItems],
  ['contains', readContained],
  ['not', readForbidden],
  ['anyOf', readChoice],
  ['oneOf', readChoice],
];

function readProperties(input: KeywordInput): void {
  const { summary, value, fragment } = input;
  if (!isJsonObject(value)) {
    noteRepaired(input, told`not an object`);
    return;
  }
  summary.impliedType ??= 'object';
  for (const [name, schema] of Object.entries(value)) {
    addProperty(summary, name, sourceOf(locateInside(fragment, schema, ['properties', name])));
    // Draft 3 marks the property itself.
    if (isJsonObject(schema) && schema.required === true) summary.required.set(name, input.path);
  }
}

function readRequired(input: KeywordInput): void {
  const { summary, value, path } = input;
  if (typeof value === 'boolean') return;
  if (!Array.isArray(value)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  summary.impliedType ??= 'object';
  for (const [index, name] of value.entries()) {
    if (typeof name === 'string') summary.required.set(name, `${path}[${index}]`);
    else input.conversion.note('repaired', `${path}[${index}]`, told`not a name`);
  }
}

function readOtherProperties(input: KeywordInput): void {
  const { summary, keyword, value, fragment } = input;
  if (value === true) {
    // Beside a list of properties it only says that more of them are no error.
    summary.allowsAdditional ||=
      isJsonObject(fragment.schema) && fragment.schema.properties === undefined;
    return;
  }
  summary.impliedType ??= 'object';
  // No loss, so no note: the model writes only what it is told of, and is told of nothing more.
  if (value === false) {
    summary.isClosed = true;
    return;
  }
  if (!isJsonObject(value)) {
    noteRepaired(input, told`not a schema`);
    return;
  }
  summary.otherProperties ??= locateInside(fragment, value, [keyword]);
  summary.allowsAdditional = true;
}

function readPatternProperties(input: KeywordInput): void {
  if (!isJsonObject(input.value)) {
    noteRepaired(input, told`not an object`);
    return;
  }
  const { summary, fragment, keyword } = input;
  summary.impliedType ??= 'object';
  const patterns = Object.entries(input.value);
  for (const [pattern, schema] of patterns) {
    summary.allowsAdditional = true;
    if (patterns.length === 1 && isWholeMap(input)) {
      summary.otherProperties ??= locateInside(fragment, schema, [keyword, pattern]);
    }
    const shape = describeShape(
      input.conversion,
      locateInside(fragment, schema, [keyword, pattern]),
    );
    describeInstead(input, `properties matching ${describeValue(pattern)}: ${shape}`);
  }
}

/** True where the members of one name pattern are all that JSON Schema has to tell of. */
function isWholeMap({ conversion, fragment: { schema } }: KeywordInput): boolean {
  if (conversion.form !== 'json-schema' || !isJsonObject(schema)) return false;
  return (schema.additionalProperties ?? false) === false;
}

/** A short list of allowed names declares them; anything else is said. */
function readPropertyNames(input: KeywordInput): void {
  const { summary, value, fragment } = input;
  summary.impliedType ??= 'object';
  if (!isJsonObject(value) || !isJsonObject(fragment.schema)) return;
  const names = Array.isArray(value.enum) ? value.enum : [];
  const declared = isJsonObject(fragment.schema.properties) ? fragment.schema.properties : {};
  const others = fragment.schema.additionalProperties ?? true;
  if (names.length > 0 && names.length <= MAX_NAMED_KEYS && others !== false) {
    summary.hasListedNames = true;
    for (const name of names) {
      if (typeof name !== 'string' || Object.hasOwn(declared, name)) continue;
      addProperty(
        summary,
        name,
        sourceOf(locateInside(fragment, others, ['additionalProperties'])),
      );
    }
    return;
  }
  summary.allowsAdditional ||= others !== false;
  // Names are texts, so this says nothing.
  if (value.type === 'string' && Object.keys(value).length === 1) return;
  const words =
    typeof value.pattern === 'string' ? `match ${describeValue(value.pattern)}` : undefined;
  const shape = describeShape(input.conversion, locateInside(fragment, value, [input.keyword]));
  describeInstead(input, `property names: ${words ?? shape}`);
}

function readItems(input: KeywordInput): void {
  if (Array.isArray(input.value)) {
    readTuple(input);
    return;
  }
  const { summary, fragment, keyword, value } = input;
  summary.impliedType ??= 'array';
  summary.items = joinSources(summary.items, sourceOf(locateInside(fragment, value, [keyword])));
}

function readTuple(input: KeywordInput): void {
  const { summary, fragment, keyword, value, path } = input;
  if (!Array.isArray(value)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  summary.impliedType ??= 'array';
  if (summary.tuple !== undefined) {
    input.conversion.note('dropped', path, told`a second list of positions`);
    return;
  }
  summary.tuple = value.map((schema, index) => locateInside(fragment, schema, [keyword, index]));
}

/** Items after the listed positions; without such positions the keyword has no effect. */
function readFurtherItems(input: KeywordInput): void {
  const { summary, fragment, keyword, value } = input;
  if (!isJsonObject(fragment.schema)) return;
  const { items, prefixItems } = fragment.schema;
  const applies = Array.isArray(items) || (Array.isArray(prefixItems) && items === undefined);
  if (applies && typeof value !== 'string') {
    summary.items = joinSources(summary.items, sourceOf(locateInside(fragment, value, [keyword])));
  }
}

function readContained(input: KeywordInput): void {
  const { conversion, fragment, keyword, value } = input;
  const shape = describeShape(conversion, locateInside(fragment, value, [keyword]));
  describeInstead(input, `contains ${shape}`);
}

/** `not: {}` is how some libraries write that there is no value at all. */
function readForbidden(input: KeywordInput): void {
  const { summary, value } = input;
  if (value === false) return;
  if (value === true || (isJsonObject(value) && Object.keys(value).length === 0)) {
    summary.isUnsatisfiable = true;
  } else describeInstead(input, describeForbidden(value));
}

function readChoice(input: KeywordInput): void {
  const { summary, fragment, keyword, value, path } = input;
  if (!Array.isArray(value)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  if (value.length === 0) {
    noteRepaired(input, told`an empty list allows nothing`);
    return;
  }
  summary.choices.push({
    branches: value.map((schema, index) =>
      sourceOf(locateInside(fragment, schema, [keyword, index])),
    ),
    keyword: keyword === 'oneOf' ? 'oneOf' : 'anyOf',
    path,
  });
}

// Reads what holds in some cases only: `if` with its branches, and what depends on a property.

const CONDITION_READERS: readonly (readonly [string, KeywordReader])[] = [
  ['dependentRequired', readDependencies],
  ['dependentSchemas', readDependencies],
  ['dependencies', readDependencies],
  ['if', readCondition],
];

/** One side of a condition, and when it holds. */
interface Case {
  readonly when: string;
  readonly source: NodeSource;
}

function readDependencies(input: KeywordInput): void {
  const { summary, keyword, value, fragment } = input;
  if (!isJsonObject(value)) {
    noteRepaired(input, told`not an object`);
    return;
  }
  summary.impliedType ??= 'object';
  for (const [name, needed] of Object.entries(value)) {
    if (Array.isArray(needed)) {
      describeInstead(
        input,
        `${describeValue(name)} needs ${needed.map(describeValue).join(', ')}`,
      );
      continue;
    }
    const source = sourceOf(locateInside(fragment, needed, [keyword, name]));
    addCases(input, [
      { when: `if ${describeValue(name)} is given`, source },
      { when: `unless ${describeValue(name)} is given`, source: ANYTHING },
    ]);
  }
}

function readCondition(input: KeywordInput): void {
  const { summary, value, fragment } = input;
  if (!isJsonObject(fragment.schema)) return;
  if (isJsonObject(value) && ('properties' in value || 'required' in value)) {
    summary.impliedType ??= 'object';
  }
  const side = (keyword: 'then' | 'else', schema: JsonValue | undefined): NodeSource =>
    schema === undefined ? ANYTHING : sourceOf(locateInside(fragment, schema, [keyword]));
  const { then: thenSchema, else: elseSchema } = fragment.schema;
  if (thenSchema === undefined && elseSchema === undefined) return;
  askAbout(input);
  const words = describeCondition(value);
  const cases: Case[] = [];
  if (value !== false) cases.push({ when: `if ${words}`, source: side('then', thenSchema) });
  if (!isAlways(value)) cases.push({ when: `unless ${words}`, source: side('else', elseSchema) });
  addCases(input, cases);
}

/** What a condition asks about can be given, though nothing else may declare it. */
function askAbout({ summary, value, fragment }: KeywordInput): void {
  const properties = isJsonObject(value) ? value.properties : undefined;
  for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    const tested = locateInside(fragment, typeAlone(schema), ['if', 'properties', name]);
    summary.testedProperties.set(name, sourceOf(tested));
  }
}

/** What kind of value a schema means, whatever else it demands of it. */
function typeAlone(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return true;
  const { const: constant, enum: values, type } = schema;
  const listed = constant === undefined ? values : [constant];
  const named = type ?? (Array.isArray(listed) ? typeOfValues(listed) : undefined);
  return named === undefined ? true : { type: named };
}

function isAlways(schema: JsonValue): boolean {
  return schema === true || (isJsonObject(schema) && Object.keys(schema).length === 0);
}

function addCases(input: KeywordInput, cases: readonly Case[]): void {
  input.summary.choices.push({
    branches: cases.map(({ source }) => source),
    cases: cases.map(({ when }) => when),
    keyword: 'conditional',
    path: input.path,
  });
  if (cases.length > 1)
    input.conversion.note('approximated', input.path, told`said in the description`);
}

// Reads the keywords that bring in other schemas, and lists the readers of all.

/** Keywords that say nothing about values; leaving them out loses nothing. */
const SILENT = new Set([
  '$schema',
  '$id',
  'id',
  '$comment',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$vocabulary',
  '$defs',
  'definitions',
  'then',
  'else',
  // A help in reading that "MUST NOT change the validation outcome": https://spec.openapis.org/oas/v3.1.1#discriminator-object.
  'discriminator',
]);

/** Read after their siblings, so that what stands nearer wins. */
const LAST = new Set(['$ref', '$dynamicRef', '$recursiveRef', 'allOf', 'extends']);

const READERS: ReadonlyMap<string, KeywordReader> = new Map<string, KeywordReader>([
  ...CONSTRAINT_READERS,
  ...STRUCTURE_READERS,
  ...CONDITION_READERS,
  ['allOf', readAll],
  ['extends', readAll],
  ['$ref', readReference],
  ['$dynamicRef', readReference],
  ['$recursiveRef', readReference],
]);

function readAll(input: KeywordInput): void {
  const { conversion, summary, fragment, keyword, value } = input;
  const parts = Array.isArray(value) ? value : [value];
  for (const [index, schema] of parts.entries()) {
    gather(conversion, summary, locateInside(fragment, schema, [keyword, index]));
  }
}

function readReference(input: KeywordInput): void {
  const { conversion, summary, fragment, value, path } = input;
  if (typeof value !== 'string') {
    noteRepaired(input, told`not a text`);
    return;
  }
  const target = conversion.document.resolve(value);
  if (target === undefined) {
    summary.recursionNote ??= `what ${describeValue(value)} defines`;
    conversion.note('approximated', path, told`the reference leads out of the schema`);
    return;
  }
  if (isResolving(fragment.refs, target.pointer)) {
    summary.recursionNote ??= recursionWords(target.pointer, target.schema);
    if (conversion.form === 'json-schema' && isObjectSchema(target.schema))
      summary.types ??= ['object'];
    conversion.note('approximated', path, told`the recursion is not unfolded`);
    return;
  }
  gather(conversion, summary, {
    schema: target.schema,
    path: target.path,
    refs: { pointer: target.pointer, outer: fragment.refs },
    depth: fragment.depth + 1,
  });
}

function isObjectSchema(schema: JsonValue): boolean {
  return isJsonObject(schema) && readTypeName(schema.type ?? null) === 'object';
}

function recursionWords(pointer: string, schema: JsonValue): string {
  const name = pointer.split('/').at(-1);
  const shape = describeOutline(isJsonObject(schema) ? withoutReference(schema) : schema);
  return name === undefined || name === ''
    ? 'the whole again'
    : `one more ${describeValue(name)}: ${shape}`;
}

function withoutReference(schema: JsonObject): JsonObject {
  const { $ref: _reference, ...rest } = schema;
  return rest;
}

// Reads the branches of choices, and settles those that are no choice.

/** An alternative stands in a list: `{anyOf: [{…}]}`. */
export const CHOICE_LEVELS = 2;

export interface Branch {
  readonly source: NodeSource;
  /** What the branch says by itself. */
  readonly summary: SchemaSummary;
  /** When it holds, where that is known. */
  readonly when: string | undefined;
}

export interface OpenGroup {
  readonly group: ChoiceGroup;
  readonly branches: readonly Branch[];
}

/** Takes branches that are no choice (null, never, a single one) into the summary; answers the rest. */
export function openChoices(conversion: SchemaConversion, summary: SchemaSummary): OpenGroup[] {
  const open: OpenGroup[] = [];
  for (let group = summary.choices.shift(); group !== undefined; group = summary.choices.shift()) {
    const branches = branchesLeft(summary, group, readBranches(conversion, summary, group));
    const [single] = branches;
    if (branches.length > 1) open.push({ group, branches });
    else if (single !== undefined) takeSingle(conversion, summary, { group, single });
  }
  return open;
}

function takeSingle(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  { group, single }: { readonly group: ChoiceGroup; readonly single: Branch },
): void {
  gatherSource(conversion, summary, single.source);
  if (group.keyword === 'conditional' || single.when === undefined) return;
  addHint(summary, single.when);
}

function readBranches(
  conversion: SchemaConversion,
  outer: SchemaSummary,
  group: ChoiceGroup,
): Branch[] {
  return group.branches.map((source, index) => {
    const summary = createSummary(source.all[0]?.path ?? outer.path, outer.level + CHOICE_LEVELS);
    gatherSource(conversion, summary, source);
    return { source, summary, when: group.cases?.[index] };
  });
}

/** The branches that have a value other than null. */
function branchesLeft(
  summary: SchemaSummary,
  group: ChoiceGroup,
  all: readonly Branch[],
): Branch[] {
  const isCondition = group.keyword === 'conditional';
  const possible = all.filter((branch) => !branch.summary.isUnsatisfiable);
  const branches = possible.filter((branch) => !isNullOnly(branch.summary));
  if (isCondition) describeExcluded(summary, all, branches);
  if (possible.length === 0) summary.isUnsatisfiable = true;
  else if (branches.length === 0) summary.types = ['null'];
  else if (branches.length < possible.length && !(isCondition && isNeverNull(summary))) {
    summary.nullable = true;
  }
  return branches;
}

function describeExcluded(
  summary: SchemaSummary,
  all: readonly Branch[],
  left: readonly Branch[],
): void {
  for (const branch of all) {
    if (branch.summary.isUnsatisfiable) addImpossibleCase(summary, branch.when);
    else if (!left.includes(branch)) addCase(summary, branch.when, ['null']);
  }
}

function isNeverNull({ types }: SchemaSummary): boolean {
  return types !== undefined && !types.includes('null');
}

function isNullOnly(summary: SchemaSummary): boolean {
  if (summary.types?.length === 1 && summary.types[0] === 'null') return true;
  const values = summary.enumeration?.values;
  return values?.every((value) => value === null) ?? false;
}

// Reads a client's JSON Schema into what the repair of a value has to know of it.

/** `fraction` is a number that is not whole: JSON Schema's `number` is either. */
export type ValueType = 'string' | 'integer' | 'fraction' | 'boolean' | 'object' | 'array' | 'null';

/** Everything that holds at one place; keywords that are not listed here never restrict. */
export interface SchemaNode {
  /** Empty when nothing is allowed. */
  readonly types: ReadonlySet<ValueType>;
  /** True where no keyword names or implies a type; choices may still do. */
  readonly isOpen: boolean;
  /** `enum` and `const`: a value stands in each of these lists. */
  readonly lists: readonly ValueList[];
  readonly objects: readonly ObjectRule[];
  readonly arrays: readonly ArrayRule[];
  /** `anyOf` and `oneOf`: of each group one branch holds. */
  readonly choices: readonly (readonly JsonValue[])[];
  /** What it costs to look at a value here, in steps. */
  readonly cost: number;
}

export interface ValueList {
  /** The values by their JSON text. */
  readonly byText: ReadonlyMap<string, JsonValue>;
  readonly types: ReadonlySet<ValueType>;
}

/** What one schema object says of the members of an object. */
export interface ObjectRule {
  readonly properties: ReadonlyMap<string, JsonValue>;
  readonly required: ReadonlySet<string>;
  /** `additionalProperties`; absent also when name patterns decide what is additional. */
  readonly others: JsonValue | undefined;
  readonly hasPatterns: boolean;
  /** True where `additionalProperties` is false and no other keyword could declare a member. */
  readonly isClosed: boolean;
}

interface ArrayRule {
  readonly tuple: readonly JsonValue[];
  /** The items behind the tuple. */
  readonly rest: JsonValue | undefined;
}

export interface SchemaReader {
  /** The node where all these schemas hold. */
  read(schemas: readonly JsonValue[]): SchemaNode;
}

/** More parts of one schema (`allOf`, `$ref`) than any honest one has: they restrict nothing. */
const MAX_FRAGMENTS = 500;

/** Keywords that may declare members beside `properties`. */
const NAMES_ELSEWHERE = ['patternProperties', '$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf'];

/** Keywords beside which a value is still of any type, whatever they say of it. */
const SILENT_ON_TYPES: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'definitions',
  'nullable',
  'type',
  'not',
  'allOf',
  'anyOf',
  'oneOf',
]);

const ALL_TYPES: ReadonlySet<ValueType> = new Set<ValueType>([
  'string',
  'integer',
  'fraction',
  'boolean',
  'object',
  'array',
  'null',
]);

const FREE_NODE: SchemaNode = {
  types: ALL_TYPES,
  isOpen: false,
  lists: [],
  objects: [],
  arrays: [],
  choices: [],
  cost: 1,
};

const TYPES_BY_WORD: ReadonlyMap<string, readonly ValueType[]> = new Map([
  ['string', ['string']],
  ['integer', ['integer']],
  ['number', ['integer', 'fraction']],
  ['boolean', ['boolean']],
  ['object', ['object']],
  ['array', ['array']],
  ['null', ['null']],
]);

/** Reads lazily, node by node, so that recursive schemas need no special care. */
export function createSchemaReader(root: JsonValue): SchemaReader {
  const known = new WeakMap<JsonObject, SchemaNode>();
  const fragments = new WeakMap<JsonObject, Fragment>();
  const fragmentOf = (schema: JsonObject): Fragment => {
    const fragment = fragments.get(schema) ?? readFragment(schema);
    fragments.set(schema, fragment);
    return fragment;
  };
  return {
    read(schemas) {
      const [first] = schemas;
      if (first === undefined) return FREE_NODE;
      if (schemas.length !== 1 || !isJsonObject(first)) return readNode(root, schemas, fragmentOf);
      const single = followReference(root, first);
      let node = known.get(single);
      if (node === undefined) {
        node = readNode(root, [single], fragmentOf);
        known.set(single, node);
      }
      return node;
    },
  };
}

/** Keywords beside which a reference says nothing but what it refers to. */
const REMARKS = new Set(['$ref', 'title', 'description', 'default', 'example', 'examples']);

/** What a mere reference refers to, so that it is read once for all that refer to it. */
function followReference(root: JsonValue, schema: JsonObject): JsonObject {
  const { $ref: reference } = schema;
  const isMere = typeof reference === 'string' && Object.keys(schema).every(isRemark);
  const target = isMere ? resolveReference(root, reference) : undefined;
  return isJsonObject(target) ? target : schema;
}

function isRemark(keyword: string): boolean {
  return REMARKS.has(keyword);
}

/** The node where both hold, with the choices still open in either. */
export function joinNodes(left: SchemaNode, right: SchemaNode): SchemaNode {
  return {
    types: intersect(left.types, right.types),
    isOpen: left.isOpen && right.isOpen,
    lists: [...left.lists, ...right.lists],
    objects: [...left.objects, ...right.objects],
    arrays: [...left.arrays, ...right.arrays],
    choices: [...left.choices, ...right.choices],
    cost: left.cost + right.cost,
  };
}

export function typeOfValue(value: JsonValue): ValueType {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (Array.isArray(value)) return 'array';
  const number = readNumber(value);
  if (number === undefined) return 'object';
  // `1e999` is whole, though no double holds it.
  return Number.isInteger(number) || !Number.isFinite(number) ? 'integer' : 'fraction';
}

/** The schemas that hold for one member of an object. */
export function memberSchemas(node: SchemaNode, name: string): readonly JsonValue[] {
  return node.objects
    .map(({ properties, others }) => (properties.has(name) ? properties.get(name) : others))
    .filter((schema) => schema !== undefined);
}

/** The schemas that hold for one item of an array. */
export function itemSchemas(node: SchemaNode, index: number): readonly JsonValue[] {
  return node.arrays
    .map(({ tuple, rest }) => (index < tuple.length ? tuple[index] : rest))
    .filter((schema) => schema !== undefined);
}

export function isDeclared(node: SchemaNode, name: string): boolean {
  return node.objects.some(({ properties }) => properties.has(name));
}

export function isRequired(node: SchemaNode, name: string): boolean {
  return node.objects.some(({ required }) => required.has(name));
}

/** What one schema object says without those it refers to. */
interface Fragment {
  readonly types: ReadonlySet<ValueType>;
  /** True where all other keywords are silent on types as well. */
  readonly isSilent: boolean;
  readonly lists: readonly ValueList[];
  readonly objects: readonly ObjectRule[];
  readonly arrays: readonly ArrayRule[];
  readonly choices: readonly (readonly JsonValue[])[];
}

/** `$ref` and `allOf` are followed with a list instead of recursion: their depth is the client's. */
function readNode(
  root: JsonValue,
  schemas: readonly JsonValue[],
  fragmentOf: (schema: JsonObject) => Fragment,
): SchemaNode {
  let types = ALL_TYPES;
  let isOpen = true;
  const found: Fragment[] = [];
  const waiting = new Set(schemas);
  // A set gives what is added on the way as well, and each schema once, so that cycles end.
  for (const schema of waiting) {
    if (waiting.size > MAX_FRAGMENTS) return FREE_NODE;
    if (schema === false) types = new Set();
    if (!isJsonObject(schema)) continue;
    const fragment = fragmentOf(schema);
    found.push(fragment);
    types = intersect(types, fragment.types);
    isOpen &&= types === ALL_TYPES && fragment.isSilent;
    for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) waiting.add(part);
    const target =
      typeof schema.$ref === 'string' ? resolveReference(root, schema.$ref) : undefined;
    if (target !== undefined) waiting.add(target);
  }
  const objects = found.flatMap((fragment) => fragment.objects);
  return {
    types,
    isOpen,
    lists: found.flatMap(({ lists }) => lists),
    objects,
    arrays: found.flatMap(({ arrays }) => arrays),
    choices: found.flatMap(({ choices }) => choices),
    cost: objects.reduce((cost, { required }) => cost + 1 + required.size, 1),
  };
}

function readFragment(schema: JsonObject): Fragment {
  const lists: ValueList[] = [];
  const objects: ObjectRule[] = [];
  const arrays: ArrayRule[] = [];
  addLists(lists, schema);
  addObjectRule(objects, schema);
  addArrayRule(arrays, schema);
  const groups = [schema.anyOf, schema.oneOf].filter((group) => Array.isArray(group));
  return {
    types: readTypes(schema),
    isSilent: Object.keys(schema).every(isSilentOnTypes),
    lists,
    objects,
    arrays,
    choices: groups.filter((group) => group.length > 0),
  };
}

function isSilentOnTypes(keyword: string): boolean {
  return keyword.startsWith('$') || SILENT_ON_TYPES.has(keyword);
}

/** Lower and upper case, as generate-content schemas write it; an unknown word allows everything. */
function readTypes({ type, nullable }: JsonObject): ReadonlySet<ValueType> {
  const words = Array.isArray(type) ? type : [type];
  const types = new Set<ValueType>();
  for (const word of words) {
    const named = typeof word === 'string' ? TYPES_BY_WORD.get(word.toLowerCase()) : undefined;
    if (named === undefined) return ALL_TYPES;
    for (const each of named) types.add(each);
  }
  if (nullable === true) types.add('null');
  return types.size === 0 ? ALL_TYPES : types;
}

function addLists(lists: ValueList[], schema: JsonObject): void {
  const more = schema.nullable === true ? [null] : [];
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    lists.push(listOf([...schema.enum, ...more]));
  }
  if (Object.hasOwn(schema, 'const')) lists.push(listOf([schema.const ?? null, ...more]));
}

function listOf(values: readonly JsonValue[]): ValueList {
  return {
    byText: new Map(values.map((value) => [JSON.stringify(value), value])),
    types: new Set(values.map(typeOfValue)),
  };
}

function addObjectRule(rules: ObjectRule[], schema: JsonObject): void {
  const { properties, required, additionalProperties, patternProperties } = schema;
  const hasPatterns = patternProperties !== undefined;
  const isSilent =
    !isJsonObject(properties) && !Array.isArray(required) && additionalProperties === undefined;
  if (isSilent && !hasPatterns) return;
  const declared = isJsonObject(properties) ? Object.entries(properties) : [];
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  // Draft 3 marks the property itself.
  const marked = declared.filter(([, each]) => isJsonObject(each) && each.required === true);
  rules.push({
    properties: new Map(declared),
    required: new Set([...names, ...marked.map(([name]) => name)]),
    others: hasPatterns ? undefined : additionalProperties,
    hasPatterns,
    isClosed: additionalProperties === false && !declaresElsewhere(schema),
  });
}

/** True where another keyword than `properties` may declare members. */
export function declaresElsewhere(schema: JsonObject): boolean {
  return NAMES_ELSEWHERE.some((keyword) => Object.hasOwn(schema, keyword));
}

/** `prefixItems` with `items` behind it, or the older `items` list with `additionalItems`. */
function addArrayRule(rules: ArrayRule[], schema: JsonObject): void {
  const { prefixItems, items, additionalItems } = schema;
  if (Array.isArray(prefixItems)) rules.push({ tuple: prefixItems, rest: items });
  else if (Array.isArray(items)) rules.push({ tuple: items, rest: additionalItems });
  else if (items !== undefined) rules.push({ tuple: [], rest: items });
}

function intersect(
  left: ReadonlySet<ValueType>,
  right: ReadonlySet<ValueType>,
): ReadonlySet<ValueType> {
  if (left === ALL_TYPES) return right;
  return right === ALL_TYPES ? left : left.intersection(right);
}
