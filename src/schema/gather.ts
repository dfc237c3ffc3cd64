// Gathers all fragments of one schema (siblings, `$ref`, `allOf`) into a summary, and opens its choices.

import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  writtenValue,
} from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { countOf, numberOf } from '../lib/read-values.ts';
import {
  addCase,
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
  type TypeName,
  typeOfValues,
} from './document.ts';
import {
  ANYTHING,
  type CaseSource,
  type ChoiceGroup,
  type FragmentSize,
  LIMITS,
  type LimitName,
  type NodeSource,
  SchemaSummary,
  sourceOf,
} from './summary.ts';

interface Keyword {
  readonly name: string;
  readonly path: string;
  /** The schema it stands in, and where that is. */
  readonly schema: JsonObject;
  readonly fragment: Located;
}

type Reader<Value = JsonValue> = (summary: SchemaSummary, value: Value, keyword: Keyword) => void;

/** Deeper schemas are described, not declared. */
const MAX_SCHEMA_DEPTH = 64;

/** Adds everything a source says. */
export function gatherSource(summary: SchemaSummary, source: NodeSource): void {
  for (const located of source.all) gather(summary, located);
  for (const group of source.any) summary.choices.push(group);
}

function gather(summary: SchemaSummary, located: Located): void {
  const { schema, path } = located;
  if (schema === true) return;
  if (schema === false) {
    summary.isUnsatisfiable = true;
    return;
  }
  if (!isJsonObject(schema)) {
    summary.note('repaired', path, told`not a schema`);
    return;
  }
  if (!mayGather(summary, located, schema)) return;
  if (summary.keyOrder.length === 0) summary.keyOrder = Object.keys(schema);
  const last: [JsonValue, Keyword][] = [];
  for (const [name, value] of Object.entries(schema)) {
    const keyword = { name, path: memberPath(path, name), schema, fragment: located };
    if (LAST.has(name)) last.push([value, keyword]);
    else readKeyword(summary, value, keyword);
  }
  for (const [value, keyword] of last) readKeyword(summary, value, keyword);
}

function readKeyword(summary: SchemaSummary, value: JsonValue, keyword: Keyword): void {
  const { name, path } = keyword;
  const read = READERS.get(name);
  if (read === undefined) {
    if (!SILENT.has(name)) summary.note('dropped', path, told`unknown keyword`);
  } else if (value === null && name !== 'const' && name !== 'default') {
    summary.note('repaired', path, told`null is no value here`);
  } else {
    read(summary, value, keyword);
  }
}

/** Reading so many characters costs as much as reading one more keyword, name or item. */
const ENTRY_WEIGHT = 50;
/** More of them than an honest schema has in one place. */
const MANY = 100;
/** So many keywords, names and items of one schema cost as much as one schema more. */
const PARTS_OF_FRAGMENT = 16;

/** What a schema says itself. */
function sizeOf(schema: JsonObject): FragmentSize {
  const entries = Object.entries(schema);
  let weight = manyWeight(entries.length);
  let parts = entries.length;
  for (const [keyword, value] of entries) {
    // Bounded by itself.
    if (keyword === 'enum') continue;
    if (SAMPLES.has(keyword) || typeof value !== 'object') weight += JSON.stringify(value).length;
    else if (value !== null) {
      const { length } = Array.isArray(value) ? value : Object.keys(value);
      weight += length + manyWeight(length);
      parts += length;
    }
  }
  return { weight, parts };
}

function manyWeight(count: number): number {
  return count > MANY ? count * ENTRY_WEIGHT : 0;
}

/** Keywords with values of any form. */
const SAMPLES = new Set(['default', 'example', 'examples', 'const']);

function mayGather(summary: SchemaSummary, { path, depth }: Located, schema: JsonObject): boolean {
  const { conversion } = summary;
  const known = conversion.sizes.get(schema);
  const size = known ?? sizeOf(schema);
  if (known === undefined) conversion.sizes.set(schema, size);
  else conversion.repeatedLeft -= size.weight + ENTRY_WEIGHT;
  conversion.fragmentsLeft -= 1 + Math.floor(size.parts / PARTS_OF_FRAGMENT);
  const isTooDeep = depth > MAX_SCHEMA_DEPTH;
  // Of a schema that cannot be read to its end nothing is begun.
  const isTooWide = size.parts > conversion.fragmentsLeft && size.parts > MANY;
  if (!isTooDeep && !isTooWide && conversion.fragmentsLeft >= 0 && conversion.repeatedLeft >= 0)
    return true;
  conversion.losses.add('depth');
  summary.recursionNote ??= 'a value too deep to describe';
  const reason = isTooDeep
    ? told`deeper than ${MAX_SCHEMA_DEPTH} levels`
    : told`the schema unfolds too far`;
  summary.note('approximated', path, reason);
  return false;
}

// Readers of values of one kind: of any other nothing is read.

function taking<Value extends JsonValue>(
  isTaken: (value: JsonValue) => value is Value,
  otherwise: Sentence,
): (read: Reader<Value>) => Reader {
  return (read) => (summary, value, keyword) => {
    if (isTaken(value)) read(summary, value, keyword);
    else summary.note('repaired', keyword.path, otherwise);
  };
}

const ofList = taking((value) => Array.isArray(value), told`not a list`);
const ofObject = taking(isJsonObject, told`not an object`);
const ofText = taking((value) => typeof value === 'string', told`not a text`);
const ofFlag = taking((value) => typeof value === 'boolean', told`not true or false`);

/** A part of the schema that a keyword holds; `keys` lead to it from the keyword. */
function partOf(
  { fragment, name }: Keyword,
  schema: JsonValue,
  ...keys: (string | number)[]
): Located {
  return locateInside(fragment, schema, [name, ...keys]);
}

// Reads the keywords that need no look into sub-schemas: type, values, limits, annotations.

/** Of a text such as a pattern: half of it would say something else. */
const MAX_SAID_LENGTH = 1000;

const readType: Reader = (summary, value, { path }) => {
  const types = (Array.isArray(value) ? value : [value]).map(readTypeName);
  if (types.includes(undefined)) summary.note('repaired', path, told`unknown type`);
  if (types.includes('any')) return;
  const known = types.filter((type) => type !== undefined && type !== 'any');
  if (known.length === 0) return;
  if (summary.types === undefined) {
    summary.types = [...new Set(known)];
    summary.writtenType = isOfficialTypeWord(value) ? value : undefined;
    return;
  }
  const both = intersectTypes(summary.types, known);
  if (both.length === 0) {
    summary.note('dropped', path, told`no value has both types`);
    return;
  }
  summary.types = both;
  if (both.length > 1 || readTypeName(summary.writtenType ?? null) !== both[0]) {
    summary.writtenType = undefined;
  }
};

const readSample: Reader = ({ samples }, value, { name }) => {
  const sample = name === 'default' ? 'default' : 'example';
  if (!samples.has(sample)) samples.set(sample, value);
};

const readExamples = ofList((summary, values, { path }) => {
  if (values.length > 0) summary.sayInstead(`e.g. ${describeList(values)}`, path);
});

const readEnum = ofList((summary, values, keyword) => {
  if (values.length > 0) addValues(summary, values, keyword);
  else summary.note('repaired', keyword.path, told`an empty list allows nothing`);
});

/** Values allowed by several fragments are those allowed by all of them. */
const addValues: Reader<readonly JsonValue[]> = (summary, values, { path }) => {
  if (summary.enumeration === undefined) {
    summary.enumeration = { values, path };
    return;
  }
  const allowed = new Set(values.map((value) => JSON.stringify(value)));
  const both = summary.enumeration.values.filter((value) => allowed.has(JSON.stringify(value)));
  if (both.length > 0) summary.enumeration = { values: both, path: summary.enumeration.path };
  else summary.note('dropped', path, told`no value is in both lists`);
};

const readFormat = ofText((summary, name, { path }) => {
  if (name === '') {
    summary.note('repaired', path, told`not a text`);
    return;
  }
  summary.impliedType ??= name.startsWith('int') ? 'integer' : 'string';
  if (summary.format === undefined) summary.format = { name, path };
  else if (summary.format.name !== name) summary.sayInstead(`format ${describeValue(name)}`, path);
});

function limitOf(name: LimitName): Reader {
  const implied = LIMITS[name].type;
  return (summary, value, { path, schema }) => {
    const limit = implied === 'number' ? numberOf(value) : countOf(value);
    if (limit === undefined) {
      summary.note('repaired', path, told`not a usable number`);
      return;
    }
    summary.impliedType ??= implied;
    // Draft 4 writes `exclusiveMinimum: true` beside `minimum`.
    if (name === 'minimum' && schema.exclusiveMinimum === true) return;
    if (name === 'maximum' && schema.exclusiveMaximum === true) return;
    if (isTighter(name, limit, summary.limits.get(name)?.value)) {
      summary.limits.set(name, { value, path });
    }
  };
}

export function isTighter(name: LimitName, limit: number, known: JsonValue | undefined): boolean {
  const bound = numberOf(known);
  if (bound === undefined) return true;
  return name.startsWith('min') ? limit > bound : limit < bound;
}

const readExclusive: Reader = (summary, value, { name, path, schema }) => {
  if (value === false) return;
  const side = name === 'exclusiveMinimum' ? 'minimum' : 'maximum';
  const limit = numberOf(value === true ? schema[side] : value);
  if (limit === undefined) {
    summary.note('repaired', path, told`not a usable number`);
    return;
  }
  summary.impliedType ??= 'number';
  if (isTighter(side, limit, summary.exclusive.get(side)?.value)) {
    summary.exclusive.set(side, { value: limit, path });
  }
};

/** One keyword holds one pattern; of several all hold. */
const readPattern = ofText((summary, value, keyword) => {
  summary.impliedType ??= 'string';
  const known = summary.limits.get('pattern');
  if (known === undefined) summary.limits.set('pattern', { value, path: keyword.path });
  else if (known.value !== value) inWords('pattern', 'string')(summary, value, keyword);
});

/** A keyword the upstream has none for, said after `label`. */
function inWords(label: string, implied: TypeName): Reader {
  return (summary, value, { path }) => {
    if (typeof value !== 'string' && readNumber(value) === undefined) {
      summary.note('repaired', path, told`not a usable value`);
      return;
    }
    summary.impliedType ??= implied;
    const text = writtenValue(value);
    if (text.length <= MAX_SAID_LENGTH) summary.sayInstead(`${label} ${text}`, path);
    else summary.note('dropped', path, told`too long to be said`);
  };
}

function flagInWords(words: string): Reader {
  return ofFlag((summary, isSet, { path }) => {
    if (isSet) summary.sayInstead(words, path);
  });
}

const readOrdering = ofList((summary, names) => {
  summary.ordering ??= names.filter((name) => typeof name === 'string');
});

// Reads the keywords that hold sub-schemas: properties, items, choices.

/** Longer lists of property names are said instead of declared. */
const MAX_NAMED_KEYS = 200;

const readProperties = ofObject((summary, properties, keyword) => {
  summary.impliedType ??= 'object';
  for (const [name, schema] of Object.entries(properties)) {
    summary.addProperty(name, sourceOf(partOf(keyword, schema, name)));
    // Draft 3 marks the property itself.
    if (isJsonObject(schema) && schema.required === true) summary.required.set(name, keyword.path);
  }
});

const readRequired = ofList((summary, names, { path }) => {
  summary.impliedType ??= 'object';
  for (const [index, name] of names.entries()) {
    if (typeof name === 'string') summary.required.set(name, `${path}[${index}]`);
    else summary.note('repaired', `${path}[${index}]`, told`not a name`);
  }
});

const readOtherProperties: Reader = (summary, value, keyword) => {
  summary.takesOthers ||= value === true || isJsonObject(value);
  if (value === true) {
    // Beside a list of properties it only says that more of them are no error.
    summary.allowsAdditional ||= keyword.schema.properties === undefined;
    return;
  }
  summary.impliedType ??= 'object';
  // No loss, so no note: the model writes only what it is told of, and is told of nothing more.
  if (value === false) summary.closedBy ??= keyword.name;
  else if (isJsonObject(value)) {
    summary.otherProperties ??= partOf(keyword, value);
    summary.allowsAdditional = true;
  } else summary.note('repaired', keyword.path, told`not a schema`);
};

const readPatternProperties = ofObject((summary, patterns, keyword) => {
  const { path, schema: outer } = keyword;
  summary.impliedType ??= 'object';
  summary.hasPatterns = true;
  const entries = Object.entries(patterns);
  // Where the members of one name pattern are all that JSON Schema has to tell of.
  const isWholeMap =
    summary.conversion.form === 'json-schema' &&
    entries.length === 1 &&
    (outer.additionalProperties ?? false) === false;
  for (const [pattern, schema] of entries) {
    const located = partOf(keyword, schema, pattern);
    summary.allowsAdditional = true;
    if (isWholeMap) summary.otherProperties ??= located;
    const shape = describeShape(summary.conversion, located);
    summary.sayInstead(`properties matching ${describeValue(pattern)}: ${shape}`, path);
  }
});

/** A short list of allowed names declares them; anything else is said. */
const readPropertyNames: Reader = (summary, value, keyword) => {
  const { fragment, schema, path } = keyword;
  summary.impliedType ??= 'object';
  if (!isJsonObject(value)) return;
  const names = Array.isArray(value.enum) ? value.enum : [];
  const declared = isJsonObject(schema.properties) ? schema.properties : {};
  const others = schema.additionalProperties ?? true;
  if (names.length > 0 && names.length <= MAX_NAMED_KEYS && others !== false) {
    summary.hasListedNames = true;
    for (const name of names) {
      if (typeof name !== 'string' || Object.hasOwn(declared, name)) continue;
      const source = sourceOf(locateInside(fragment, others, ['additionalProperties']));
      summary.addProperty(name, source);
    }
    return;
  }
  summary.allowsAdditional ||= others !== false;
  // Names are texts, so this says nothing.
  if (value.type === 'string' && Object.keys(value).length === 1) return;
  const words =
    typeof value.pattern === 'string'
      ? `match ${describeValue(value.pattern)}`
      : describeShape(summary.conversion, partOf(keyword, value));
  summary.sayInstead(`property names: ${words}`, path);
};

const readItems: Reader = (summary, value, keyword) => {
  if (Array.isArray(value)) {
    readTuple(summary, value, keyword);
    return;
  }
  summary.impliedType ??= 'array';
  summary.addItems(sourceOf(partOf(keyword, value)));
};

const readTuple = ofList((summary, positions, keyword) => {
  summary.impliedType ??= 'array';
  if (summary.tuple === undefined) {
    summary.tuple = positions.map((schema, index) => partOf(keyword, schema, index));
  } else summary.note('dropped', keyword.path, told`a second list of positions`);
});

/** Items after the listed positions; without such positions the keyword has no effect. */
const readFurtherItems: Reader = (summary, value, keyword) => {
  const { items, prefixItems } = keyword.schema;
  const applies = Array.isArray(items) || (Array.isArray(prefixItems) && items === undefined);
  if (applies && typeof value !== 'string') summary.addItems(sourceOf(partOf(keyword, value)));
};

const readContained: Reader = (summary, value, keyword) => {
  const shape = describeShape(summary.conversion, partOf(keyword, value));
  summary.sayInstead(`contains ${shape}`, keyword.path);
};

/** `not: {}` is how some libraries write that there is no value at all. */
const readForbidden: Reader = (summary, value, { path }) => {
  if (value === false) return;
  if (isAlways(value)) summary.isUnsatisfiable = true;
  else summary.sayInstead(describeForbidden(value), path);
};

const readChoice = ofList((summary, branches, keyword) => {
  if (branches.length === 0) {
    summary.note('repaired', keyword.path, told`an empty list allows nothing`);
    return;
  }
  summary.choices.push({
    branches: branches.map((schema, index) => ({
      source: sourceOf(partOf(keyword, schema, index)),
      when: undefined,
    })),
    kind: 'choice',
    path: keyword.path,
  });
});

// Reads what holds in some cases only: `if` with its branches, and what depends on a property.

const readDependencies = ofObject((summary, dependencies, keyword) => {
  summary.impliedType ??= 'object';
  for (const [key, needed] of Object.entries(dependencies)) {
    const name = describeValue(key);
    if (Array.isArray(needed)) {
      summary.sayInstead(`${name} needs ${needed.map(describeValue).join(', ')}`, keyword.path);
      continue;
    }
    const source = sourceOf(partOf(keyword, needed, key));
    addCases(summary, keyword, [
      { when: `if ${name} is given`, source },
      { when: `unless ${name} is given`, source: ANYTHING },
    ]);
  }
});

const readCondition: Reader = (summary, value, keyword) => {
  const { fragment, schema } = keyword;
  if (isJsonObject(value) && ('properties' in value || 'required' in value)) {
    summary.impliedType ??= 'object';
  }
  if (schema.then === undefined && schema.else === undefined) return;
  const side = (name: 'then' | 'else'): NodeSource =>
    schema[name] === undefined ? ANYTHING : sourceOf(locateInside(fragment, schema[name], [name]));
  // What a condition asks about can be given, though nothing else may declare it.
  const tested = isJsonObject(value) && isJsonObject(value.properties) ? value.properties : {};
  for (const [name, each] of Object.entries(tested)) {
    const source = sourceOf(partOf(keyword, typeAlone(each), 'properties', name));
    summary.testedProperties.set(name, source);
  }
  const words = describeCondition(value);
  const cases: CaseSource[] = [];
  if (value !== false) cases.push({ when: `if ${words}`, source: side('then') });
  if (!isAlways(value)) cases.push({ when: `unless ${words}`, source: side('else') });
  addCases(summary, keyword, cases);
};

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

function addCases(
  summary: SchemaSummary,
  { path }: Keyword,
  branches: readonly CaseSource[],
): void {
  summary.choices.push({ branches, kind: 'conditional', path });
  if (branches.length > 1) summary.note('approximated', path, told`said in the description`);
}

// Reads the keywords that bring in other schemas.

const readAll: Reader = (summary, value, keyword) => {
  const parts = Array.isArray(value) ? value : [value];
  for (const [index, schema] of parts.entries()) gather(summary, partOf(keyword, schema, index));
};

const readReference = ofText((summary, value, { fragment, path }) => {
  const target = summary.conversion.document.resolve(value);
  if (target === undefined) {
    summary.recursionNote ??= `what ${describeValue(value)} defines`;
    summary.note('approximated', path, told`the reference leads out of the schema`);
    return;
  }
  const { pointer, schema } = target;
  if (isResolving(fragment.refs, pointer)) {
    summary.recursionNote ??= recursionWords(pointer, schema);
    const isObject = isJsonObject(schema) && readTypeName(schema.type ?? null) === 'object';
    if (summary.conversion.form === 'json-schema' && isObject) summary.types ??= ['object'];
    summary.note('approximated', path, told`the recursion is not unfolded`);
    return;
  }
  const refs = { pointer, outer: fragment.refs };
  gather(summary, { schema, path: target.path, refs, depth: fragment.depth + 1 });
});

function recursionWords(pointer: string, schema: JsonValue): string {
  const name = pointer.split('/').at(-1) ?? '';
  if (name === '') return 'the whole again';
  const { $ref: _reference, ...rest } = isJsonObject(schema) ? schema : {};
  return `one more ${describeValue(name)}: ${describeOutline(rest)}`;
}

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

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['type', readType],
  ['nullable', ofFlag((summary, value) => (summary.declaredNullable ??= value))],
  ['title', ofText((summary, text) => (summary.title ??= text))],
  ['description', ofText(({ descriptions }, text) => text !== '' && descriptions.add(text))],
  ['default', readSample],
  ['example', readSample],
  [
    'examples',
    (summary, value, keyword) =>
      readExamples(summary, isJsonObject(value) ? Object.values(value) : value, keyword),
  ],
  ['enum', readEnum],
  ['const', (summary, value, keyword) => addValues(summary, [value], keyword)],
  ['format', readFormat],
  ['minimum', limitOf('minimum')],
  ['maximum', limitOf('maximum')],
  ['exclusiveMinimum', readExclusive],
  ['exclusiveMaximum', readExclusive],
  ['minItems', limitOf('minItems')],
  ['maxItems', limitOf('maxItems')],
  ['minProperties', limitOf('minProperties')],
  ['maxProperties', limitOf('maxProperties')],
  ['minLength', limitOf('minLength')],
  ['maxLength', limitOf('maxLength')],
  ['pattern', readPattern],
  ['contentEncoding', inWords('encoding', 'string')],
  ['contentMediaType', inWords('media type', 'string')],
  ['multipleOf', inWords('multiple of', 'number')],
  ['divisibleBy', inWords('multiple of', 'number')],
  ['minContains', inWords('contains at least', 'array')],
  ['maxContains', inWords('contains at most', 'array')],
  ['uniqueItems', flagInWords('unique items')],
  ['deprecated', flagInWords('deprecated')],
  ['readOnly', flagInWords('read only')],
  ['writeOnly', flagInWords('write only')],
  ['propertyOrdering', readOrdering],
  ['properties', readProperties],
  // Draft 3 writes a flag, which `properties` reads.
  [
    'required',
    (summary, value, keyword) =>
      typeof value !== 'boolean' && readRequired(summary, value, keyword),
  ],
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
  ['dependentRequired', readDependencies],
  ['dependentSchemas', readDependencies],
  ['dependencies', readDependencies],
  ['if', readCondition],
  ['allOf', readAll],
  ['extends', readAll],
  ['$ref', readReference],
  ['$dynamicRef', readReference],
  ['$recursiveRef', readReference],
]);

// Reads the branches of choices, and settles those that are no choice.

/** An alternative stands in a list: `{anyOf: [{…}]}`. */
export const CHOICE_LEVELS = 2;

export interface Branch extends CaseSource {
  /** What the branch says by itself. */
  readonly summary: SchemaSummary;
}

export interface OpenGroup {
  readonly group: ChoiceGroup;
  readonly branches: readonly Branch[];
}

/** Takes branches that are no choice (null, never, a single one) into the summary; answers the rest. */
export function openChoices(summary: SchemaSummary): OpenGroup[] {
  const open: OpenGroup[] = [];
  for (let group = summary.choices.shift(); group !== undefined; group = summary.choices.shift()) {
    const branches = branchesLeft(summary, group);
    const [single] = branches;
    if (branches.length > 1) open.push({ group, branches });
    else if (single !== undefined) {
      gatherSource(summary, single.source);
      if (group.kind !== 'conditional' && single.when !== undefined) summary.hint(single.when);
    }
  }
  return open;
}

/** The branches that have a value other than null. */
function branchesLeft(summary: SchemaSummary, group: ChoiceGroup): Branch[] {
  const all = group.branches.map(({ source, when }): Branch => {
    const path = source.all[0]?.path ?? summary.path;
    const branch = new SchemaSummary(summary.conversion, path, summary.level + CHOICE_LEVELS);
    gatherSource(branch, source);
    return { source, when, summary: branch };
  });
  const isCondition = group.kind === 'conditional';
  const possible = all.filter((branch) => !branch.summary.isUnsatisfiable);
  const branches = possible.filter((branch) => !isNullOnly(branch.summary));
  if (isCondition) describeExcluded(summary, all, branches);
  if (possible.length === 0) summary.isUnsatisfiable = true;
  else if (branches.length === 0) summary.types = ['null'];
  else if (branches.length < possible.length) {
    // What is declared never to be null stays so whatever a condition says.
    summary.nullable ||= !isCondition || summary.types?.includes('null') !== false;
  }
  return branches;
}

function describeExcluded(
  summary: SchemaSummary,
  all: readonly Branch[],
  left: readonly Branch[],
): void {
  for (const branch of all) {
    if (branch.summary.isUnsatisfiable) {
      if (branch.when !== undefined) summary.hint(`never ${branch.when}`);
    } else if (!left.includes(branch)) addCase(summary, branch.when, ['null']);
  }
}

function isNullOnly({ types, enumeration }: SchemaSummary): boolean {
  if (types?.length === 1 && types[0] === 'null') return true;
  return enumeration?.values.every((value) => value === null) ?? false;
}
