// Writes the summary of a schema in the form the upstream takes: every node has one type or alternatives.

import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import {
  ANY_SHAPE,
  addCase,
  allWords,
  composeDescription,
  describeJson,
  describeLimit,
  describeList,
  describeMembers,
  describeOutline,
  describeShape,
  describeValue,
  describeValues,
  objectWords,
} from './describe.ts';
import {
  isKnownFormat,
  MAX_LEVEL,
  memberPath,
  readTypeName,
  type TypeName,
  typeOfValues,
} from './document.ts';
import {
  type Branch,
  CHOICE_LEVELS,
  gatherSource,
  type OpenGroup,
  openChoices,
  toNumber,
} from './gather.ts';
import {
  ANYTHING,
  addHint,
  addProperty,
  type CaseSource,
  type ChoiceGroup,
  copyConstraints,
  createSummary,
  joinSources,
  type LimitName,
  type NodeSource,
  type SchemaConversion,
  type SchemaSummary,
  sourceOf,
  sourceOfCases,
  unionOfCases,
} from './summary.ts';

/** A property stands among the others of its object, items right in their array. */
const PROPERTY_LEVELS = 2;
const ITEM_LEVELS = 1;
const POSITION_LEVELS = 2;
const OTHER_LEVELS = 1;

const CLOSED: JsonObject = { additionalProperties: false };

/** The node for a schema; undefined when the schema allows no value at all. */
function writeSource(
  conversion: SchemaConversion,
  source: NodeSource,
  level: number,
): JsonObject | undefined {
  const summary = createSummary(pathOf(source), level);
  gatherSource(conversion, summary, source);
  return writeNode(conversion, summary);
}

function pathOf({ all, any }: NodeSource): string {
  return all[0]?.path ?? any[0]?.path ?? '';
}

/** As `writeSource`, for a summary that is gathered already. */
export function writeNode(
  conversion: SchemaConversion,
  summary: SchemaSummary,
): JsonObject | undefined {
  const alternatives = settleChoices(conversion, summary, false);
  if (summary.isUnsatisfiable) return undefined;
  if (summary.level > MAX_LEVEL && (alternatives.length > 0 || holdsOthers(summary))) {
    return writeDeep(conversion, summary);
  }
  if (alternatives.length > 0) return writeAlternatives(conversion, summary, alternatives);
  const listed = writeEnumeration(conversion, summary);
  if (listed !== undefined) {
    if (listed.type === undefined) return annotate(conversion, summary, listed.fields);
    summary.types = [listed.type];
    return finishNode(conversion, summary, {
      ...typeField(conversion, summary, listed.type),
      ...listed.fields,
    });
  }
  return writeTyped(conversion, summary);
}

function holdsOthers({ types, impliedType }: SchemaSummary): boolean {
  const [type = impliedType, ...others] = types?.filter((name) => name !== 'null') ?? [];
  return others.length > 0 || type === 'object' || type === 'array';
}

/** A value that would stand too deep in the upstream's schema: JSON text, described in words. */
function writeDeep(conversion: SchemaConversion, summary: SchemaSummary): JsonObject {
  const { properties, items } = summary;
  if (properties.size > 0) summary.recursionNote ??= describeMembers([...properties.keys()]);
  else if (items !== undefined)
    summary.recursionNote ??= `array of ${describeOutline(items.all[0]?.schema)}`;
  conversion.note('approximated', summary.path, told`deeper than the upstream takes`);
  conversion.losses.add('depth');
  return writeAnyValue(conversion, summary);
}

function writeTyped(conversion: SchemaConversion, summary: SchemaSummary): JsonObject | undefined {
  const types = summary.types ?? (summary.impliedType === undefined ? [] : [summary.impliedType]);
  const real = types.filter((type) => type !== 'null');
  if (real.length < types.length && real.length > 0) summary.nullable = true;
  const [type] = types.length === 1 ? types : real;
  if (type === undefined) return writeAnyValue(conversion, summary);
  if (real.length > 1) {
    const alternatives = real.map((each) => copyForType(summary, each));
    return writeAlternatives(conversion, summary, alternatives);
  }
  switch (type) {
    case 'object':
      return writeObject(conversion, summary);
    case 'array':
      return writeArray(conversion, summary);
    case 'number':
    case 'integer':
    case 'string':
    case 'boolean':
    case 'null':
      return finishNode(conversion, summary, typeField(conversion, summary, type));
    default:
      return type satisfies never;
  }
}

function copyForType(summary: SchemaSummary, type: TypeName): SchemaSummary {
  const names = LIMITS_BY_TYPE[type] ?? [];
  const takesFormat = summary.format !== undefined && isKnownFormat(type, summary.format.name);
  return {
    ...copyConstraints(summary),
    level: summary.level + CHOICE_LEVELS,
    types: [type],
    writtenType: undefined,
    format: takesFormat || type === 'string' ? summary.format : undefined,
    limits: new Map([...summary.limits].filter(([name]) => names.includes(name))),
  };
}

/** What is declared, and behind it what conditions ask about beside it. */
function declaredProperties({
  properties,
  testedProperties,
  isClosed,
}: SchemaSummary): [string, NodeSource][] {
  const others = isClosed ? [] : [...testedProperties].filter(([name]) => !properties.has(name));
  return [...properties, ...others];
}

/** The fields of an object; undefined when it has no property that can have a value. */
export function writeObjectFields(
  conversion: SchemaConversion,
  summary: SchemaSummary,
): JsonObject | undefined {
  const written: [string, JsonObject][] = [];
  for (const [name, source] of declaredProperties(summary)) {
    const node = writeSource(conversion, source, summary.level + PROPERTY_LEVELS);
    if (node !== undefined) written.push([name, node]);
    else conversion.note('dropped', source.all[0]?.path ?? summary.path, told`no value is allowed`);
  }
  if (written.length === 0) return undefined;
  const properties = Object.fromEntries(written);
  return {
    ...typeField(conversion, summary, 'object'),
    properties,
    ...requiredField(conversion, summary, properties),
    ...orderingField(conversion, summary, properties),
    ...otherFields(conversion, summary),
  };
}

/** What is said of members that are not declared, beside those that are. */
function otherFields(conversion: SchemaConversion, summary: SchemaSummary): JsonObject {
  const { otherProperties, isClosed, allowsAdditional, hasListedNames } = summary;
  if (hasListedNames) return conversion.form === 'json-schema' ? CLOSED : {};
  if (conversion.form === 'json-schema') {
    if (allowsAdditional) return { additionalProperties: otherNode(conversion, summary) };
    return isClosed ? CLOSED : {};
  }
  if (otherProperties === undefined) return {};
  const shape = describeShape(conversion, otherProperties);
  addHint(summary, `other properties: ${shape}`);
  conversion.note('approximated', otherProperties.path, told`said in the description`);
  if (shape !== ANY_SHAPE) conversion.losses.add('value');
  return {};
}

/** The schema of members that are not declared, in JSON Schema. */
function otherNode(
  conversion: SchemaConversion,
  { otherProperties, level }: SchemaSummary,
): JsonObject | boolean {
  if (otherProperties === undefined) return true;
  const node = writeSource(conversion, sourceOf(otherProperties), level + OTHER_LEVELS);
  if (node === undefined) return false;
  return Object.keys(node).length === 0 || node;
}

function writeObject(conversion: SchemaConversion, summary: SchemaSummary): JsonObject {
  const fields = writeObjectFields(conversion, summary) ?? writeMapFields(conversion, summary);
  if (fields !== undefined) return finishNode(conversion, summary, fields);
  return writeText(conversion, summary, 'an object');
}

/** The fields of an object of free member names; undefined where the form has none for it. */
export function writeMapFields(
  conversion: SchemaConversion,
  summary: SchemaSummary,
): JsonObject | undefined {
  if (conversion.form !== 'json-schema') return undefined;
  const { allowsAdditional, isClosed } = summary;
  const additionalProperties =
    allowsAdditional || !isClosed ? otherNode(conversion, summary) : false;
  return { ...typeField(conversion, summary, 'object'), additionalProperties };
}

function writeArray(conversion: SchemaConversion, summary: SchemaSummary): JsonObject {
  const isClosed = summary.items?.all.some(({ schema }) => schema === false) ?? false;
  if (isClosed) closeAt(summary, summary.tuple?.length ?? 0);
  const positions = positionFields(conversion, summary);
  const source = itemSource(conversion, summary, isClosed || positions.isCut);
  const items = source && writeSource(conversion, source, summary.level + ITEM_LEVELS);
  const fields = { ...typeField(conversion, summary, 'array'), ...positions.fields };
  if (items !== undefined) return finishNode(conversion, summary, { ...fields, items });
  if (positions.fields.prefixItems !== undefined) return finishNode(conversion, summary, fields);
  conversion.note('approximated', summary.path, told`items are sent as texts`);
  const text = typeField(conversion, createSummary(summary.path, summary.level), 'string');
  return finishNode(conversion, summary, { ...fields, items: Object.freeze(text) });
}

/** The positions of a tuple in JSON Schema; `isCut` when none may follow, as one of them takes no value. */
function positionFields(
  conversion: SchemaConversion,
  summary: SchemaSummary,
): { readonly fields: JsonObject; readonly isCut: boolean } {
  const { tuple = [], level } = summary;
  if (conversion.form !== 'json-schema' || tuple.length === 0) return { fields: {}, isCut: false };
  const prefixItems: JsonObject[] = [];
  for (const at of tuple) {
    const node = writeSource(conversion, sourceOf(at), level + POSITION_LEVELS);
    if (node === undefined) break;
    prefixItems.push(node);
  }
  const isCut = prefixItems.length < tuple.length;
  if (isCut) closeAt(summary, prefixItems.length);
  return { fields: prefixItems.length === 0 ? {} : { prefixItems }, isCut };
}

/** What an item may be: any of the positions, or one of the items after them. */
function itemSource(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  isClosed: boolean,
): NodeSource | undefined {
  const { tuple, items, path } = summary;
  const further = isClosed ? undefined : items;
  if (tuple === undefined || tuple.length === 0 || conversion.form === 'json-schema')
    return further;
  conversion.losses.add('value');
  addHint(summary, `in order: ${tuple.map((at) => describeShape(conversion, at)).join(', ')}`);
  conversion.note('approximated', path, told`the positions are said in the description`);
  const branches = tuple.map(sourceOf);
  if (further !== undefined) branches.push(further);
  return { all: [], any: [{ branches, keyword: 'anyOf', path }] };
}

/** No items after the first `length` ones. */
function closeAt(summary: SchemaSummary, length: number): void {
  const known = summary.limits.get('maxItems');
  if (known !== undefined && toNumber(known.value) <= length) return;
  summary.limits.set('maxItems', { value: length, path: summary.path });
}

function writeAlternatives(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  alternatives: readonly SchemaSummary[],
): JsonObject | undefined {
  const nodes: JsonObject[] = [];
  for (const alternative of alternatives) {
    const node = writeNode(conversion, alternative);
    if (node !== undefined) nodes.push(node);
  }
  const values = nodes.filter((node) => !isNullNode(node));
  if (values.length > 0 && values.length < nodes.length) summary.nullable = true;
  const merged = alternativesOf(values.length > 0 ? values : nodes.slice(0, 1));
  if (merged === undefined) return undefined;
  if (summary.recursionNote !== undefined) addHint(summary, summary.recursionNote);
  if (typeof merged.description === 'string') summary.descriptions.add(merged.description);
  const { description: _joined, ...fields } = merged;
  return soleAlternatives(annotate(conversion, summary, fields));
}

/** One node for several: the same ones once, lists of values as one list, the rest as `anyOf`. */
function alternativesOf(nodes: readonly JsonObject[]): JsonObject | undefined {
  const distinct = new Map(nodes.map((node) => [JSON.stringify(node), node]));
  const [first, ...others] = distinct.values();
  if (first === undefined || others.length === 0) return first;
  const values = [first, ...others].map(plainValues);
  const isOneType = others.every(({ type }) => type === first.type);
  if (isOneType && values.every((list) => list !== undefined)) {
    return { ...first, enum: [...new Set(values.flat())] };
  }
  return freezeNode({ anyOf: [first, ...others] });
}

function isNullNode(node: JsonObject): boolean {
  return readTypeName(node.type ?? null) === 'null';
}

/** The values of a node that is nothing but a list of values. */
function plainValues(node: JsonObject): readonly JsonValue[] | undefined {
  return Array.isArray(node.enum) && Object.keys(node).length === 2 ? node.enum : undefined;
}

// Writes the single fields of a node: type, required, order, format, limits.

export function typeField(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  type: TypeName,
): { type: string } {
  if (conversion.form === 'json-schema') return { type };
  if (summary.writtenType !== undefined && readTypeName(summary.writtenType) === type) {
    return { type: summary.writtenType };
  }
  return { type: conversion.upperCase ? type.toUpperCase() : type };
}

function requiredField(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  properties: JsonObject,
): JsonObject {
  const required: string[] = [];
  for (const [name, path] of summary.required) {
    if (Object.hasOwn(properties, name)) required.push(name);
    else conversion.note('dropped', path, told`no such property`);
  }
  return required.length === 0 ? {} : { required };
}

function orderingField(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  properties: JsonObject,
): JsonObject {
  const names = Object.keys(properties);
  const given = summary.ordering?.filter((name) => Object.hasOwn(properties, name));
  if (given !== undefined && given.length > 0) return { propertyOrdering: given };
  return conversion.ordered && names.length > 1 ? { propertyOrdering: names } : {};
}

function formatField(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  type: TypeName,
): JsonObject {
  const { format } = summary;
  if (format === undefined) return {};
  if (isKnownFormat(type, format.name)) return { format: format.name };
  addHint(summary, `format ${describeValue(format.name)}`);
  conversion.note('approximated', format.path, told`said in the description`);
  return {};
}

/** Limits that mean something for a type. */
const LIMITS_BY_TYPE: Partial<Record<TypeName, readonly LimitName[]>> = {
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

function limitFields(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  type: TypeName,
): JsonObject {
  if (type === 'integer' || type === 'number') settleExclusive(conversion, summary, type);
  const names = LIMITS_BY_TYPE[type] ?? [];
  const fields: [string, JsonValue][] = [];
  for (const [name, { value, path }] of summary.limits) {
    if (!names.includes(name)) conversion.note('dropped', path, told`has no effect on ${type}`);
    else if (!takesLimit(conversion, name, value)) {
      addHint(summary, describeLimit(name, value));
      conversion.note('approximated', path, told`said in the description`);
    } else if (conversion.form === 'schema') fields.push([name, value]);
    else fields.push([name, typeof value === 'string' ? Number(value) : value]);
  }
  return Object.fromEntries(fields);
}

/** False for what the form has no keyword for, and where `maxItems` would add up to too much. */
function takesLimit(conversion: SchemaConversion, name: LimitName, value: JsonValue): boolean {
  if (name === 'maxItems') return takesItems(conversion, toNumber(value));
  if (name === 'pattern' && !isPlainPattern(String(value))) return false;
  return conversion.form === 'schema' || !NO_JSON_KEYWORD.has(name);
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

function takesItems(conversion: SchemaConversion, most: number): boolean {
  if (most > conversion.itemsLeft) return false;
  conversion.itemsLeft -= most;
  return true;
}

function settleExclusive(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  type: 'integer' | 'number',
): void {
  const { exclusiveMinimum: above, exclusiveMaximum: below } = summary;
  const isWhole = type === 'integer';
  if (above !== undefined) {
    const least = isWhole ? Math.floor(above.value) + 1 : above.value;
    const known = summary.limits.get('minimum');
    if (known === undefined || toNumber(known.value) < least) {
      summary.limits.set('minimum', { value: least, path: above.path });
    }
    if (!isWhole)
      describeBound(conversion, summary, { words: `more than ${above.value}`, path: above.path });
  }
  if (below !== undefined) {
    const most = isWhole ? Math.ceil(below.value) - 1 : below.value;
    const known = summary.limits.get('maximum');
    if (known === undefined || toNumber(known.value) > most) {
      summary.limits.set('maximum', { value: most, path: below.path });
    }
    if (!isWhole)
      describeBound(conversion, summary, { words: `less than ${below.value}`, path: below.path });
  }
}

function describeBound(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  bound: { readonly words: string; readonly path: string },
): void {
  addHint(summary, bound.words);
  conversion.note('approximated', bound.path, told`the bound itself is allowed upstream`);
}

// Completes a written node: format, limits, null and annotations, in the client's own order of keywords.

/** The keywords whose values are lists or objects of their own. */
const HOLDERS = [
  'type',
  'properties',
  'required',
  'propertyOrdering',
  'enum',
  'items',
  'prefixItems',
  'anyOf',
];

const NULL_NODE: JsonObject = Object.freeze({ type: 'null' });

/** Adds format, limits and annotations to a node of one type. */
export function finishNode(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  fields: JsonObject,
): JsonObject {
  const type = readTypeName(fields.type ?? null);
  if (type === undefined || type === 'any') return annotate(conversion, summary, fields);
  if (summary.recursionNote !== undefined && !summary.sentAsText)
    addHint(summary, summary.recursionNote);
  const added = {
    ...formatField(conversion, summary, type),
    ...limitFields(conversion, summary, type),
  };
  return annotate(conversion, summary, { ...fields, ...added });
}

/** Adds what is said of a value beside its type. */
function annotate(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  fields: JsonObject,
): JsonObject {
  if (conversion.form === 'json-schema') return annotateJson(conversion, summary, fields);
  const { title, declaredNullable, samples } = summary;
  const nullable = summary.nullable ? true : declaredNullable;
  const description = composeDescription(summary.descriptions, summary.hints);
  const node: JsonObject = {
    ...fields,
    ...(title === undefined ? {} : { title }),
    ...(description === '' ? {} : { description }),
    ...(nullable === undefined ? {} : { nullable }),
    ...Object.fromEntries(samples),
  };
  return inOrder(node, summary.keyOrder);
}

function annotateJson(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  fields: JsonObject,
): JsonObject {
  const { title, declaredNullable, samples, path } = summary;
  for (const [name, value] of samples) {
    addHint(summary, `${name} ${describeJson(value)}`);
    conversion.note('approximated', memberPath(path, name), told`said in the description`);
  }
  const description = composeDescription(summary.descriptions, summary.hints);
  const node: JsonObject = {
    ...(summary.nullable || declaredNullable === true ? withNull(fields) : fields),
    ...(title === undefined ? {} : { title }),
    ...(description === '' ? {} : { description }),
  };
  return inOrder(node, summary.keyOrder);
}

/** A value that may be null as well: in the list of types, or as one more alternative. */
function withNull(fields: JsonObject): JsonObject {
  const { type, anyOf } = fields;
  const types = Array.isArray(type) ? type : [type];
  if (types.includes('null')) return fields;
  if (Array.isArray(anyOf)) {
    const takesNull = anyOf.some((each) => isJsonObject(each) && each.type === 'null');
    return takesNull ? fields : { ...fields, anyOf: [...anyOf, NULL_NODE] };
  }
  if (typeof type !== 'string') return fields;
  if (fields.enum !== undefined) return { anyOf: [freezeNode(fields), NULL_NODE] };
  return { ...fields, type: [type, 'null'] };
}

/** The client's own order of keywords, then ours: a legal schema leaves as it came. */
function inOrder(node: JsonObject, order: readonly string[]): JsonObject {
  const first = order.filter((key) => Object.hasOwn(node, key));
  const rest = Object.keys(node).filter((key) => !first.includes(key));
  return freezeNode(Object.fromEntries([...first, ...rest].map((key) => [key, node[key] ?? null])));
}

/** Written nodes are shared between requests, so nobody may change them. Samples are the client's own. */
export function freezeNode(node: JsonObject): JsonObject {
  for (const key of HOLDERS) Object.freeze(node[key]);
  return Object.freeze(node);
}

// Settles `anyOf`, `oneOf` and conditions: collapsed, folded into the object, or kept as alternatives.

/**
 * Resolves the choices of a summary. Afterwards it holds everything that is certain and the
 * answer lists the alternatives left, each complete in itself; none when there is no real choice.
 * `fold` puts the properties of all branches into one object, as the upstream's tool roots need.
 */
export function settleChoices(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  fold: boolean,
): SchemaSummary[] {
  const open = openChoices(conversion, summary);
  if (open.length === 0) return [];
  if (fold || mustFold(summary, open)) {
    foldChoices(conversion, summary, open);
    return [];
  }
  const conditions = open.filter(isCondition);
  const [first, ...others] = open.filter((each) => !isCondition(each));
  for (const { group } of others) {
    conversion.note('dropped', group.path, told`only one choice can be carried beside another`);
  }
  if (first !== undefined) {
    return first.branches.map((branch) => join(conversion, summary, { branch, conditions }));
  }
  return settleConditions(conversion, summary, conditions);
}

function isCondition({ group }: OpenGroup): boolean {
  return group.keyword === 'conditional';
}

/** Objects with properties of their own or asked about, and several choices of objects, become one object. */
function mustFold(summary: SchemaSummary, open: readonly OpenGroup[]): boolean {
  if (summary.properties.size > 0 || summary.testedProperties.size > 0) return true;
  const conditions = open.filter(isCondition);
  if (conditions.length > 0 && isUnknown(summary)) return false;
  const everyIsObject = open.every(({ branches }) =>
    branches.every((branch) => isOfType(branch.summary, 'object') || isUnknown(branch.summary)),
  );
  const several = open.length > 1 || conditions.length > 0;
  return several && everyIsObject && open.some(({ branches }) => branches.some(declaresProperties));
}

function isOfType(summary: SchemaSummary, type: 'object' | 'array'): boolean {
  const types = summary.types ?? (summary.impliedType === undefined ? [] : [summary.impliedType]);
  return types.includes(type);
}

function isUnknown(summary: SchemaSummary): boolean {
  return summary.types === undefined && summary.impliedType === undefined;
}

function declaresProperties({ summary }: Branch): boolean {
  return summary.properties.size > 0;
}

/**
 * Conditions on something that is no object with properties. They are said in words, but for what they declare of
 * objects and lists: that is an alternative to a value nothing else is known of.
 */
function settleConditions(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  conditions: readonly OpenGroup[],
): SchemaSummary[] {
  const isFree = isUnknown(summary) && summary.enumeration === undefined;
  const shaped = isFree ? conditions.find(({ branches }) => branches.some(hasShape)) : undefined;
  for (const each of conditions) {
    if (isOfType(summary, 'array')) addItems(summary, each);
    for (const branch of each.branches) {
      if (each === shaped && hasShape(branch)) continue;
      addCase(summary, branch.when, allWords(summary, branch.summary));
    }
  }
  if (shaped === undefined) return [];
  const others = conditions.filter((each) => each !== shaped);
  const alternatives = shaped.branches
    .filter(hasShape)
    .map((branch) => join(conversion, summary, { branch, conditions: others }));
  if (alternatives.length < shaped.branches.length) {
    // Of what else there may be nothing is known, whatever the other conditions say.
    alternatives.push({ ...copyConstraints(summary), level: summary.level + CHOICE_LEVELS });
  }
  return alternatives;
}

function hasShape({ summary }: Branch): boolean {
  return isOfType(summary, 'object') || isOfType(summary, 'array');
}

/** Items that are declared in some cases only; what always holds of items is not narrowed. */
function addItems(summary: SchemaSummary, { group, branches }: OpenGroup): void {
  const declared = branches.flatMap(({ summary: { items: source }, when }) =>
    source === undefined ? [] : [{ source, when }],
  );
  if (declared.length === 0) return;
  const isSure = declared.length === branches.length;
  const source = isSure ? unionOfCases(declared, group.path) : sourceOfCases(declared, group.path);
  summary.items = joinSources(summary.items ?? ANYTHING, source);
}

/** The branch together with everything the schema around it says. */
function join(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  { branch, conditions }: { readonly branch: Branch; readonly conditions: readonly OpenGroup[] },
): SchemaSummary {
  const joined = copyConstraints(summary);
  joined.path = branch.summary.path;
  joined.level = branch.summary.level;
  joined.keyOrder = branch.summary.keyOrder;
  joined.choices = conditions.map(({ group }) => group);
  gatherSource(conversion, joined, branch.source);
  if (branch.when !== undefined) addHint(joined, branch.when);
  return joined;
}

// Folds choices between objects into one object that takes what any of them takes.

/** One object with the properties of every branch; required is what all branches require. */
function foldChoices(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  open: readonly OpenGroup[],
): void {
  foldGroups(conversion, summary, open);
  placeSometimes(summary);
}

/** Leaves aside what is declared in some cases only, so that it can be seen together. */
function foldGroups(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  open: readonly OpenGroup[],
): void {
  for (const each of open) foldGroup(conversion, summary, each);
}

function foldGroup(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  { group, branches }: OpenGroup,
): void {
  const couldBe = branches.filter(({ summary: branch }) => couldBeObject(branch));
  for (const { summary: branch } of couldBe) {
    foldGroups(conversion, branch, openChoices(conversion, branch));
  }
  const objects = couldBe.filter(({ summary: branch }) => !branch.isUnsatisfiable);
  if (objects.length < branches.length && group.keyword !== 'conditional') {
    conversion.note('dropped', group.path, told`branches that are no objects`);
  }
  for (const [name, told] of readProperties(objects)) {
    foldProperty(summary, told, {
      name,
      path: group.path,
      isSure: told.declared.length === objects.length,
    });
  }
  foldRequired(summary, group, objects);
  for (const branch of objects) foldRest(summary, branch);
  if (group.keyword === 'conditional') return;
  conversion.note('approximated', group.path, told`the branches share one object`);
}

function couldBeObject(summary: SchemaSummary): boolean {
  return summary.types === undefined
    ? !isOtherThanObject(summary)
    : summary.types.includes('object');
}

function isOtherThanObject(summary: SchemaSummary): boolean {
  return summary.impliedType !== undefined && summary.impliedType !== 'object';
}

/** What the branches of a group tell of one property. */
interface ToldProperty {
  readonly declared: CaseSource[];
  readonly partly: CaseSource[];
}

/** In the order the names come. */
function readProperties(branches: readonly Branch[]): ReadonlyMap<string, ToldProperty> {
  const properties = new Map<string, ToldProperty>();
  const propertyAt = (name: string): ToldProperty => {
    const told = properties.get(name) ?? { declared: [], partly: [] };
    properties.set(name, told);
    return told;
  };
  for (const { summary: branch, when } of branches) {
    for (const [name, source] of branch.properties)
      propertyAt(name).declared.push({ source, when });
    for (const [name, inner] of branch.conditionalProperties) {
      const { partly } = propertyAt(name);
      for (const one of inner) {
        partly.push({ source: one.source, when: bothWords(when, one.when) });
      }
    }
  }
  return properties;
}

/** What every branch declares holds; a branch that says nothing of a property lets it be anything. */
function foldProperty(
  summary: SchemaSummary,
  { declared, partly }: ToldProperty,
  {
    name,
    path,
    isSure,
  }: { readonly name: string; readonly path: string; readonly isSure: boolean },
): void {
  const known = summary.conditionalProperties.get(name);
  if (known !== undefined || !summary.properties.has(name) || !isSure || partly.length > 0) {
    summary.conditionalProperties.set(name, [
      ...(known ?? []),
      ...(isSure ? [] : declared),
      ...partly,
    ]);
  }
  if (isSure) addProperty(summary, name, unionOfCases(declared, path));
}

function bothWords(outer: string | undefined, inner: string | undefined): string | undefined {
  return outer === undefined || inner === undefined ? (outer ?? inner) : `${outer} and ${inner}`;
}

/** Declares what was left aside, in the order the names came. */
function placeSometimes(summary: SchemaSummary): void {
  for (const [name, some] of summary.conditionalProperties) {
    const known = summary.properties.get(name);
    if (some.length === 0 && known !== undefined) {
      summary.properties.delete(name);
      summary.properties.set(name, known);
    } else {
      const source = known === undefined ? unionOfCases : sourceOfCases;
      addProperty(summary, name, source(some, summary.path));
    }
  }
  summary.conditionalProperties.clear();
}

function foldRequired(
  summary: SchemaSummary,
  group: ChoiceGroup,
  branches: readonly Branch[],
): void {
  const lists = branches.map(({ summary: branch }) => [...branch.required.keys()]);
  const [first, ...others] = lists;
  if (first === undefined) return;
  for (const name of first) {
    if (others.every((list) => list.includes(name))) summary.required.set(name, group.path);
  }
  if (group.cases !== undefined) return;
  const needs = lists.map((list) => list.filter((name) => !summary.required.has(name)).join(' + '));
  if (needs.every((words) => words === '')) return;
  const words = new Set(needs.map((each) => (each === '' ? 'nothing more' : each)));
  addHint(summary, `needs ${[...words].join(' or ')}`);
}

function foldRest(summary: SchemaSummary, { summary: branch, when }: Branch): void {
  summary.otherProperties ??= branch.otherProperties;
  summary.allowsAdditional ||= branch.allowsAdditional;
  for (const [name, source] of branch.testedProperties) summary.testedProperties.set(name, source);
  summary.recursionNote ??= branch.recursionNote;
  if (when !== undefined) addCase(summary, when, objectWords(summary, branch));
  else for (const text of [...branch.descriptions, ...branch.hints]) addHint(summary, text);
}

// Puts what stands beside alternatives into them: some upstreams take `anyOf` only where it is the only field.

/**
 * The same schema with nothing beside its `anyOf`. Vertex AI refuses other fields there, in functions and in formats
 * ("When using any_of, it must be the only field set"); fields of the alternatives are taken everywhere. Alternatives
 * of an alternative become alternatives of the whole. The result is as frozen as the node was.
 */
function soleAlternatives(node: JsonObject): JsonObject {
  const { anyOf, ...beside } = node;
  if (!Array.isArray(anyOf)) return node;
  const inner = anyOf.filter(isJsonObject).flatMap((branch) => {
    const { anyOf: nested } = branch;
    return Array.isArray(nested) ? nested.filter(isJsonObject) : [branch];
  });
  const { default: value, example, ...said } = beside;
  const branches = inner.map((branch) => withBeside(branch, said));
  if (value !== undefined) addSample(branches, 'default', value);
  if (example !== undefined) addSample(branches, 'example', example);
  const distinct = new Map(branches.map((branch) => [JSON.stringify(branch), branch]));
  const alternatives = [...distinct.values()];
  for (const each of [...alternatives, alternatives]) Object.freeze(each);
  const [first = {}, ...others] = alternatives;
  return others.length === 0 ? first : Object.freeze({ anyOf: alternatives });
}

function withBeside(branch: JsonObject, { title, description, nullable }: JsonObject): JsonObject {
  const words = joinWords(description, branch.description);
  return {
    ...branch,
    ...(title === undefined || branch.title !== undefined ? {} : { title }),
    ...(words === undefined ? {} : { description: words }),
    ...(nullable === true ? { nullable } : {}),
  };
}

function joinWords(
  outer: JsonValue | undefined,
  inner: JsonValue | undefined,
): JsonValue | undefined {
  if (typeof outer !== 'string' || outer === inner) return inner;
  return typeof inner === 'string' ? `${outer}\n${inner}` : outer;
}

/** A sample stands in the first alternative it could be a value of. */
function addSample(branches: JsonObject[], name: 'default' | 'example', value: JsonValue): void {
  const fitting = branches.findIndex((branch) => isSchemaOfType(branch, value));
  const index = Math.max(fitting, 0);
  const branch = branches[index];
  if (branch !== undefined && branch[name] === undefined) {
    branches[index] = { ...branch, [name]: value };
  }
}

function isSchemaOfType({ type = null, nullable }: JsonObject, value: JsonValue): boolean {
  if (value === null) return nullable === true;
  const name = readTypeName(type);
  if (Array.isArray(value)) return name === 'array';
  if (typeof value === 'number') return name === 'number' || name === 'integer';
  return name === typeof value;
}

// Writes what stands for a value of which no member is declared: JSON text, or a node that leaves it open.

type Undeclared = 'an object' | 'any value';

const SENT_AS_TEXT = {
  'an object': told`an object is sent as text`,
  'any value': told`any value is sent as text`,
} as const satisfies Record<Undeclared, Sentence>;

/** Texts that are no JSON come back as they are; quotes keep a text apart that looks like a number. */
const ANY_VALUE = 'any value, as JSON text: texts in quotes';

/** A value of any type: left open in JSON Schema, else a JSON text. */
function writeAnyValue(conversion: SchemaConversion, summary: SchemaSummary): JsonObject {
  if (conversion.form !== 'json-schema') return writeText(conversion, summary, 'any value');
  if (summary.recursionNote !== undefined) addHint(summary, summary.recursionNote);
  describeLimits(conversion, summary);
  return annotate(conversion, summary, {});
}

/** A value as the JSON text of it: the upstream refuses objects without properties, and nodes without a type. */
export function writeText(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  what: Undeclared,
): JsonObject {
  conversion.losses.add('value');
  addHint(summary, textWords(conversion, summary, what));
  for (const [name, value] of summary.samples) addHint(summary, `${name} ${describeJson(value)}`);
  summary.samples.clear();
  describeLimits(conversion, summary);
  conversion.note('approximated', summary.path, SENT_AS_TEXT[what]);
  summary.writtenType = undefined;
  summary.sentAsText = true;
  return finishNode(conversion, summary, typeField(conversion, summary, 'string'));
}

function describeLimits(conversion: SchemaConversion, summary: SchemaSummary): void {
  for (const [name, { value, path }] of summary.limits) {
    addHint(summary, describeLimit(name, value));
    conversion.note('approximated', path, told`said in the description`);
  }
  summary.limits.clear();
}

function textWords(conversion: SchemaConversion, summary: SchemaSummary, what: Undeclared): string {
  const { recursionNote } = summary;
  if (recursionNote !== undefined) return `JSON text of ${recursionNote}`;
  if (what === 'any value')
    return conversion.restored ? ANY_VALUE : 'any value, as plain or JSON text';
  return `JSON text of ${otherNames(conversion, summary)}`;
}

/** An object of members nobody named. */
export function otherNames(
  conversion: SchemaConversion,
  { otherProperties }: SchemaSummary,
): string {
  if (otherProperties === undefined) return 'an object';
  return `an object, values: ${describeShape(conversion, otherProperties)}`;
}

// Writes listed values: the upstream takes lists of non-empty texts only.

/** Longer lists are described; upstreams refuse schemas with very many values. */
const MAX_VALUES = 1000;

/**
 * The type and values of a schema with `enum` or `const`; undefined when the values cannot be
 * listed (they are described then and the rest of the schema decides).
 */
function writeEnumeration(
  conversion: SchemaConversion,
  summary: SchemaSummary,
): EnumerationNode | undefined {
  const { enumeration } = summary;
  if (enumeration === undefined) return undefined;
  const values = enumeration.values.filter((value) => value !== null);
  if (values.length < enumeration.values.length && allowsNull(summary)) summary.nullable = true;
  if (values.length === 0) {
    summary.nullable = false;
    return { type: 'null', fields: {} };
  }
  if (values.every((value) => typeof value === 'boolean')) {
    return writeBooleans(conversion, summary, values);
  }
  if (!mayList(conversion, values)) {
    addHint(summary, `one of ${describeInFull(conversion, values)}`);
    conversion.note('approximated', enumeration.path, told`these values cannot be listed`);
    summary.impliedType ??= typeOfValues(values);
    return undefined;
  }
  if (conversion.form === 'json-schema' && values.some((value) => typeof value !== 'string')) {
    return writeKinds(conversion, summary, values);
  }
  return writeTexts(conversion, summary, values);
}

function mayList(conversion: SchemaConversion, values: readonly JsonValue[]): boolean {
  if (values.length > Math.min(MAX_VALUES, conversion.valuesLeft)) return false;
  conversion.valuesLeft -= values.length;
  return !values.some(isComposite);
}

function describeInFull(conversion: SchemaConversion, values: readonly JsonValue[]): string {
  if (conversion.listedLeft <= 0) return describeList(values);
  const words = describeValues(values);
  conversion.listedLeft -= words.length;
  return words;
}

interface EnumerationNode {
  /** Undefined for alternatives of several types, which stand in the fields. */
  readonly type: TypeName | undefined;
  readonly fields: JsonObject;
}

/** Values that are not all texts, in JSON Schema: a list for each type. */
function writeKinds(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  values: readonly JsonValue[],
): EnumerationNode {
  const texts = values.filter((value) => typeof value === 'string');
  const numbers = values.filter((value) => readNumber(value) !== undefined);
  const kinds = [
    ...(texts.length === 0 ? [] : [writeTexts(conversion, summary, texts)]),
    ...(numbers.length === 0 ? [] : [numberKind(summary, numbers)]),
    ...(values.some((value) => typeof value === 'boolean') ? [BOOLEAN_KIND] : []),
  ];
  const [first, ...others] = kinds;
  if (first !== undefined && others.length === 0) return first;
  const anyOf = kinds.map(({ type, fields }) => freezeNode({ ...(type && { type }), ...fields }));
  return { type: undefined, fields: { anyOf } };
}

const BOOLEAN_KIND: EnumerationNode = { type: 'boolean', fields: {} };

function numberKind(summary: SchemaSummary, numbers: readonly JsonValue[]): EnumerationNode {
  const declared = summary.types?.find((type) => type === 'integer' || type === 'number');
  const areWhole = numbers.every((value) => Number.isInteger(readNumber(value)));
  return { type: declared ?? (areWhole ? 'integer' : 'number'), fields: { enum: [...numbers] } };
}

function allowsNull(summary: SchemaSummary): boolean {
  return summary.types === undefined || summary.types.includes('null');
}

function writeBooleans(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  values: readonly JsonValue[],
): EnumerationNode {
  if (new Set(values).size === 1) {
    addHint(summary, `always ${describeJson(values[0] ?? null)}`);
    conversion.note('approximated', summary.enumeration?.path ?? '', told`said in the description`);
  }
  return { type: 'boolean', fields: {} };
}

function writeTexts(
  conversion: SchemaConversion,
  summary: SchemaSummary,
  values: readonly JsonValue[],
): EnumerationNode {
  const path = summary.enumeration?.path ?? '';
  if (values.some((value) => typeof value !== 'string')) {
    conversion.note('approximated', path, told`the values are sent as texts`);
    const declared = summary.types?.find((type) => type === 'integer' || type === 'number');
    if (declared !== undefined) addHint(summary, `${declared} as text`);
  }
  const texts = [...new Set(values.map(asText))];
  const filled = texts.filter((text) => text !== '');
  if (filled.length < texts.length) {
    addHint(summary, filled.length === 0 ? 'always ""' : 'or ""');
    conversion.note('approximated', path, told`the empty text cannot be listed`);
  }
  return { type: 'string', fields: filled.length === 0 ? {} : { enum: filled } };
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isComposite(value: JsonValue): boolean {
  return Array.isArray(value) || isJsonObject(value);
}
