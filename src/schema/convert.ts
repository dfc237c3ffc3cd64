// Writes the summary of a schema in the form the upstream takes: every node has one type or alternatives.

import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  writtenValue,
} from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { numberOf } from '../lib/read-values.ts';
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
  isTighter,
  type OpenGroup,
  openChoices,
} from './gather.ts';
import {
  type CaseSource,
  type ChoiceGroup,
  LIMITS,
  type LimitName,
  type NodeSource,
  type SchemaConversion,
  SchemaSummary,
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

/** The node for a schema inside another; undefined when the schema allows no value at all. */
function writeInside(
  { conversion, level }: SchemaSummary,
  source: NodeSource,
  levels: number,
): JsonObject | undefined {
  const path = source.all[0]?.path ?? source.any[0]?.path ?? '';
  const summary = new SchemaSummary(conversion, path, level + levels);
  gatherSource(summary, source);
  return writeNode(summary);
}

/** The node for what was gathered; undefined when no value at all is allowed. */
export function writeNode(summary: SchemaSummary): JsonObject | undefined {
  const alternatives = settleChoices(summary, false);
  if (summary.isUnsatisfiable) return undefined;
  if (summary.level > MAX_LEVEL && (alternatives.length > 0 || holdsOthers(summary))) {
    return writeDeep(summary);
  }
  if (alternatives.length > 0) return writeAlternatives(summary, alternatives);
  const listed = writeEnumeration(summary);
  if (listed === undefined) return writeTyped(summary);
  const { type, fields } = listed;
  if (type === undefined) return annotate(summary, fields);
  summary.types = [type];
  return finishNode(summary, type, fields);
}

function typesOf({ types, impliedType }: SchemaSummary): readonly TypeName[] {
  return types ?? (impliedType === undefined ? [] : [impliedType]);
}

function isOfType(summary: SchemaSummary, type: 'object' | 'array'): boolean {
  return typesOf(summary).includes(type);
}

function isUnknown(summary: SchemaSummary): boolean {
  return summary.types === undefined && summary.impliedType === undefined;
}

function holdsOthers({ types, impliedType }: SchemaSummary): boolean {
  const [type = impliedType, ...others] = types?.filter((name) => name !== 'null') ?? [];
  return others.length > 0 || type === 'object' || type === 'array';
}

/** A value that would stand too deep in the upstream's schema: JSON text, described in words. */
function writeDeep(summary: SchemaSummary): JsonObject {
  const { properties, items } = summary;
  if (properties.size > 0) summary.recursionNote ??= describeMembers([...properties.keys()]);
  else if (items !== undefined)
    summary.recursionNote ??= `array of ${describeOutline(items.all[0]?.schema)}`;
  summary.note('approximated', summary.path, told`deeper than the upstream takes`);
  summary.conversion.losses.add('depth');
  return writeAnyValue(summary);
}

function writeTyped(summary: SchemaSummary): JsonObject | undefined {
  const types = typesOf(summary);
  const real = types.filter((type) => type !== 'null');
  if (real.length < types.length && real.length > 0) summary.nullable = true;
  const [type] = types.length === 1 ? types : real;
  if (type === undefined) return writeAnyValue(summary);
  if (real.length > 1) {
    return writeAlternatives(
      summary,
      real.map((each) => copyForType(summary, each)),
    );
  }
  if (type === 'object') return writeObject(summary);
  if (type === 'array') return writeArray(summary);
  return finishNode(summary, type, {});
}

function copyForType(summary: SchemaSummary, type: TypeName): SchemaSummary {
  const copy = summary.copyConstraints(summary.level + CHOICE_LEVELS);
  copy.types = [type];
  copy.writtenType = undefined;
  copy.limits = new Map([...summary.limits].filter(([name]) => isLimitOf(name, type)));
  const { format } = summary;
  if (format !== undefined && type !== 'string' && !isKnownFormat(type, format.name)) {
    copy.format = undefined;
  }
  return copy;
}

/** The fields of an object; undefined when it has no property that can have a value. */
export function writeObjectFields(summary: SchemaSummary): JsonObject | undefined {
  const { properties: declared, testedProperties, closedBy } = summary;
  // What conditions ask about beside what is declared comes last.
  const tested = closedBy === undefined ? [...testedProperties] : [];
  const written: [string, JsonObject][] = [];
  for (const [name, source] of [...declared, ...tested.filter(([each]) => !declared.has(each))]) {
    const node = writeInside(summary, source, PROPERTY_LEVELS);
    if (node !== undefined) written.push([name, node]);
    else summary.note('dropped', source.all[0]?.path ?? summary.path, told`no value is allowed`);
  }
  if (written.length === 0) return undefined;
  const properties = Object.fromEntries(written);
  const fields: JsonObject = { properties };
  const required: string[] = [];
  for (const [name, path] of summary.required) {
    if (Object.hasOwn(properties, name)) required.push(name);
    else summary.note('dropped', path, told`no such property`);
  }
  if (required.length > 0) fields.required = required;
  const given = summary.ordering?.filter((name) => Object.hasOwn(properties, name)) ?? [];
  if (given.length > 0) fields.propertyOrdering = given;
  else if (summary.conversion.ordered && written.length > 1) {
    fields.propertyOrdering = Object.keys(properties);
  }
  return { ...fields, ...otherFields(summary) };
}

/** What is said of members that are not declared, beside those that are. */
function otherFields(summary: SchemaSummary): JsonObject {
  const { otherProperties, closedBy, allowsAdditional, hasListedNames, conversion } = summary;
  const isJson = conversion.form === 'json-schema';
  if (hasListedNames) return isJson ? CLOSED : {};
  if (isJson) {
    if (allowsAdditional) return { additionalProperties: otherNode(summary) };
    return closedBy === undefined ? {} : CLOSED;
  }
  if (otherProperties === undefined) return {};
  const shape = describeShape(conversion, otherProperties);
  summary.sayInstead(`other properties: ${shape}`, otherProperties.path);
  if (shape !== ANY_SHAPE) conversion.losses.add('value');
  return {};
}

/** The schema of members that are not declared, in JSON Schema. */
function otherNode(summary: SchemaSummary): JsonObject | boolean {
  const { otherProperties } = summary;
  if (otherProperties === undefined) return true;
  const node = writeInside(summary, sourceOf(otherProperties), OTHER_LEVELS);
  if (node === undefined) return false;
  return Object.keys(node).length === 0 || node;
}

function writeObject(summary: SchemaSummary): JsonObject {
  const fields = writeObjectFields(summary) ?? writeMapFields(summary);
  if (fields === undefined) return writeText(summary, 'an object');
  return finishNode(summary, 'object', fields);
}

/** The fields of an object of free member names; undefined where the form has none for it. */
export function writeMapFields(summary: SchemaSummary): JsonObject | undefined {
  if (summary.conversion.form !== 'json-schema') return undefined;
  const isFree = summary.allowsAdditional || summary.closedBy === undefined;
  return { additionalProperties: isFree ? otherNode(summary) : false };
}

function writeArray(summary: SchemaSummary): JsonObject {
  const { tuple = [], items, conversion } = summary;
  const fields: JsonObject = {};
  let isClosed = items?.all.some(({ schema }) => schema === false) ?? false;
  if (isClosed) closeAt(summary, tuple.length);
  if (conversion.form === 'json-schema') {
    const prefixItems: JsonObject[] = [];
    for (const at of tuple) {
      const node = writeInside(summary, sourceOf(at), POSITION_LEVELS);
      if (node === undefined) break;
      prefixItems.push(node);
    }
    // Where a position takes no value, none may follow.
    if (prefixItems.length < tuple.length) {
      closeAt(summary, prefixItems.length);
      isClosed = true;
    }
    if (prefixItems.length > 0) fields.prefixItems = prefixItems;
  }
  const source = itemSource(summary, isClosed);
  const node = source && writeInside(summary, source, ITEM_LEVELS);
  if (node !== undefined) fields.items = node;
  else if (fields.prefixItems === undefined) {
    summary.note('approximated', summary.path, told`items are sent as texts`);
    fields.items = Object.freeze({ type: ownTypeWord(conversion, 'string') });
  }
  return finishNode(summary, 'array', fields);
}

/** What an item may be: any of the positions, or one of the items after them. */
function itemSource(summary: SchemaSummary, isClosed: boolean): NodeSource | undefined {
  const { tuple = [], items, path, conversion } = summary;
  const further = isClosed ? undefined : items;
  if (tuple.length === 0 || conversion.form === 'json-schema') return further;
  conversion.losses.add('value');
  const words = `in order: ${tuple.map((at) => describeShape(conversion, at)).join(', ')}`;
  summary.sayInstead(words, path, told`the positions are said in the description`);
  const sources = [...tuple.map(sourceOf), ...(further === undefined ? [] : [further])];
  const branches = sources.map((source) => ({ source, when: undefined }));
  return { all: [], any: [{ branches, kind: 'choice', path }] };
}

/** No items after the first `length` ones. */
function closeAt({ limits, path }: SchemaSummary, length: number): void {
  if (isTighter('maxItems', length, limits.get('maxItems')?.value)) {
    limits.set('maxItems', { value: length, path });
  }
}

function writeAlternatives(
  summary: SchemaSummary,
  alternatives: readonly SchemaSummary[],
): JsonObject | undefined {
  const nodes = alternatives.map(writeNode).filter((node) => node !== undefined);
  const values = nodes.filter(({ type }) => readTypeName(type ?? null) !== 'null');
  if (values.length > 0 && values.length < nodes.length) summary.nullable = true;
  const merged = alternativesOf(values.length > 0 ? values : nodes.slice(0, 1));
  if (merged === undefined) return undefined;
  if (summary.recursionNote !== undefined) summary.hint(summary.recursionNote);
  const { description, ...fields } = merged;
  if (typeof description === 'string') summary.descriptions.add(description);
  return soleAlternatives(annotate(summary, fields));
}

/** One node for several: the same ones once, lists of values as one list, the rest as `anyOf`. */
function alternativesOf(nodes: readonly JsonObject[]): JsonObject | undefined {
  const [first, ...others] = distinctNodes(nodes);
  if (first === undefined || others.length === 0) return first;
  const values = [first, ...others].map(plainValues);
  const isOneType = others.every(({ type }) => type === first.type);
  if (isOneType && values.every((list) => list !== undefined)) {
    return { ...first, enum: [...new Set(values.flat())] };
  }
  return freezeNode({ anyOf: [first, ...others] });
}

function distinctNodes(nodes: readonly JsonObject[]): JsonObject[] {
  return [...new Map(nodes.map((node) => [JSON.stringify(node), node])).values()];
}

/** The values of a node that is nothing but a list of values. */
function plainValues(node: JsonObject): readonly JsonValue[] | undefined {
  return Array.isArray(node.enum) && Object.keys(node).length === 2 ? node.enum : undefined;
}

// Writes the single fields of a node: type and limits.

export function typeField(
  { conversion, writtenType }: SchemaSummary,
  type: TypeName,
): { type: string } {
  const isWritten = conversion.form === 'schema' && readTypeName(writtenType ?? null) === type;
  return { type: isWritten && writtenType ? writtenType : ownTypeWord(conversion, type) };
}

function ownTypeWord({ upperCase }: SchemaConversion, type: TypeName): string {
  return upperCase ? type.toUpperCase() : type;
}

function isLimitOf(name: LimitName, type: TypeName): boolean {
  return LIMITS[name].type === (type === 'integer' ? 'number' : type);
}

function limitFields(summary: SchemaSummary, type: TypeName): JsonObject {
  const { conversion, limits } = summary;
  if (type === 'integer' || type === 'number') settleExclusive(summary, type === 'integer');
  const fields: [string, JsonValue][] = [];
  for (const [name, { value, path }] of limits) {
    if (!isLimitOf(name, type)) summary.note('dropped', path, told`has no effect on ${type}`);
    else if (!takesLimit(conversion, name, value))
      summary.sayInstead(describeLimit(name, value), path);
    else if (conversion.form === 'schema') fields.push([name, value]);
    else fields.push([name, typeof value === 'string' ? Number(value) : value]);
  }
  return Object.fromEntries(fields);
}

/** False for what the form has no keyword for, and where `maxItems` would add up to too much. */
function takesLimit(conversion: SchemaConversion, name: LimitName, value: JsonValue): boolean {
  if (name === 'maxItems') {
    const most = numberOf(value) ?? 0;
    if (most > conversion.itemsLeft) return false;
    conversion.itemsLeft -= most;
    return true;
  }
  if (name === 'pattern' && !isPlainPattern(writtenValue(value))) return false;
  return conversion.form === 'schema' || LIMITS[name].isInJsonSchema;
}

/** What looks around or back: engines that match in linear time have none of it, and refuse the whole request. */
const LOOKS_ELSEWHERE = /\(\?<?[=!]|\\[1-9]|\\k/;

/** In characters. A longer one takes a hundred times its length of memory while it is read. */
const MAX_PATTERN = 10_000;

/** True for a regular expression that every engine reads; an escaped backslash escapes nothing. */
function isPlainPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN) return false;
  if (LOOKS_ELSEWHERE.test(pattern.replaceAll('\\\\', ''))) return false;
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

function settleExclusive(summary: SchemaSummary, isWhole: boolean): void {
  for (const side of ['minimum', 'maximum'] as const) {
    const bound = summary.exclusive.get(side);
    if (bound === undefined) continue;
    const { value: outside, path } = bound;
    const isLeast = side === 'minimum';
    const next = isLeast ? Math.floor(outside) + 1 : Math.ceil(outside) - 1;
    const value = isWhole ? next : outside;
    if (isTighter(side, value, summary.limits.get(side)?.value)) {
      summary.limits.set(side, { value, path });
    }
    if (isWhole) continue;
    const words = `${isLeast ? 'more' : 'less'} than ${outside}`;
    summary.sayInstead(words, path, told`the bound itself is allowed upstream`);
  }
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

/** A node of one type: `fields` with format, limits and annotations. */
export function finishNode(summary: SchemaSummary, type: TypeName, fields: JsonObject): JsonObject {
  const { recursionNote, sentAsText, format } = summary;
  if (recursionNote !== undefined && !sentAsText) summary.hint(recursionNote);
  const node: JsonObject = { ...typeField(summary, type), ...fields };
  if (format !== undefined) {
    if (isKnownFormat(type, format.name)) node.format = format.name;
    else summary.sayInstead(`format ${describeValue(format.name)}`, format.path);
  }
  return annotate(summary, { ...node, ...limitFields(summary, type) });
}

/** Adds what is said of a value beside its type. */
function annotate(summary: SchemaSummary, fields: JsonObject): JsonObject {
  const { title, samples, path, conversion } = summary;
  const isJson = conversion.form === 'json-schema';
  if (isJson) {
    for (const [name, value] of samples) {
      summary.sayInstead(`${name} ${describeJson(value)}`, memberPath(path, name));
    }
  }
  const nullable = summary.nullable ? true : summary.declaredNullable;
  const description = composeDescription(summary);
  const node = isJson && nullable === true ? withNull(fields) : { ...fields };
  if (title !== undefined) node.title = title;
  if (description !== '') node.description = description;
  if (!isJson) {
    if (nullable !== undefined) node.nullable = nullable;
    for (const [name, value] of samples) node[name] = value;
  }
  return inOrder(node, summary.keyOrder);
}

/** A value that may be null as well: in the list of types, or as one more alternative. */
function withNull(fields: JsonObject): JsonObject {
  const { type, anyOf } = fields;
  if (type === 'null' || (Array.isArray(type) && type.includes('null'))) return { ...fields };
  if (Array.isArray(anyOf)) {
    const takesNull = anyOf.some((each) => isJsonObject(each) && each.type === 'null');
    return takesNull ? { ...fields } : { ...fields, anyOf: [...anyOf, NULL_NODE] };
  }
  if (typeof type !== 'string') return { ...fields };
  if (fields.enum !== undefined) return { anyOf: [freezeNode(fields), NULL_NODE] };
  return { ...fields, type: [type, 'null'] };
}

/** The client's own order of keywords, then ours: a legal schema leaves as it came. */
function inOrder(node: JsonObject, order: readonly string[]): JsonObject {
  const keys = new Set([...order.filter((key) => Object.hasOwn(node, key)), ...Object.keys(node)]);
  return freezeNode(Object.fromEntries([...keys].map((key) => [key, node[key] ?? null])));
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
export function settleChoices(summary: SchemaSummary, fold: boolean): SchemaSummary[] {
  const open = openChoices(summary);
  if (open.length === 0) return [];
  const conditions = open.filter(({ group }) => group.kind === 'conditional');
  const [first, ...others] = open.filter(({ group }) => group.kind !== 'conditional');
  if (fold || mustFold(summary, open, conditions)) {
    for (const each of open) foldGroup(summary, each);
    placeConditional(summary);
    return [];
  }
  for (const { group } of others) {
    summary.note('dropped', group.path, told`only one choice can be carried beside another`);
  }
  if (first === undefined) return settleConditions(summary, conditions);
  return first.branches.map((branch) => join(summary, branch, conditions));
}

/** Objects with properties of their own or asked about, and several choices of objects, become one object. */
function mustFold(
  summary: SchemaSummary,
  open: readonly OpenGroup[],
  conditions: readonly OpenGroup[],
): boolean {
  if (summary.properties.size > 0 || summary.testedProperties.size > 0) return true;
  if (conditions.length > 0 && isUnknown(summary)) return false;
  if (open.length === 1 && conditions.length === 0) return false;
  const branches = open.flatMap((each) => each.branches);
  return (
    branches.every((branch) => isOfType(branch.summary, 'object') || isUnknown(branch.summary)) &&
    branches.some((branch) => branch.summary.properties.size > 0)
  );
}

/**
 * Conditions on something that is no object with properties. They are said in words, but for what they declare of
 * objects and lists: that is an alternative to a value nothing else is known of.
 */
function settleConditions(
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
  const branches = shaped.branches.filter(hasShape);
  const alternatives = branches.map((branch) => join(summary, branch, others));
  if (branches.length < shaped.branches.length) {
    // Of what else there may be nothing is known, whatever the other conditions say.
    alternatives.push(summary.copyConstraints(summary.level + CHOICE_LEVELS));
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
  summary.addItems((isSure ? unionOfCases : sourceOfCases)(declared, group.path));
}

/** The branch together with everything the schema around it says. */
function join(
  summary: SchemaSummary,
  branch: Branch,
  conditions: readonly OpenGroup[],
): SchemaSummary {
  const joined = summary.copyConstraints(branch.summary.level);
  joined.path = branch.summary.path;
  joined.keyOrder = branch.summary.keyOrder;
  joined.choices = conditions.map(({ group }) => group);
  gatherSource(joined, branch.source);
  if (branch.when !== undefined) joined.hint(branch.when);
  return joined;
}

// Folds choices between objects into one object that takes what any of them takes.

/**
 * Adds the properties of every branch; required is what all branches require. What is declared in some cases only is
 * left aside, so that it can be seen together.
 */
function foldGroup(summary: SchemaSummary, { group, branches }: OpenGroup): void {
  const couldBe = branches.filter(({ summary: branch }) => couldBeObject(branch));
  for (const { summary: branch } of couldBe) {
    for (const each of openChoices(branch)) foldGroup(branch, each);
  }
  const objects = couldBe.filter(({ summary: branch }) => !branch.isUnsatisfiable);
  const isChoice = group.kind !== 'conditional';
  if (objects.length < branches.length && isChoice) {
    summary.note('dropped', group.path, told`branches that are no objects`);
  }
  foldProperties(summary, group, objects);
  foldRequired(summary, group, objects);
  for (const branch of objects) foldRest(summary, branch);
  if (isChoice) summary.note('approximated', group.path, told`the branches share one object`);
}

function couldBeObject({ types, impliedType }: SchemaSummary): boolean {
  return types?.includes('object') ?? (impliedType === undefined || impliedType === 'object');
}

/** What the branches of a group tell of one property. */
interface PropertyCases {
  readonly declared: CaseSource[];
  readonly partly: CaseSource[];
}

/** What every branch declares holds; a branch that says nothing of a property lets it be anything. */
function foldProperties(
  summary: SchemaSummary,
  group: ChoiceGroup,
  branches: readonly Branch[],
): void {
  const { conditionalProperties } = summary;
  for (const [name, { declared, partly }] of casesOfProperties(branches)) {
    const isSure = declared.length === branches.length;
    const known = conditionalProperties.get(name);
    if (known !== undefined || !summary.properties.has(name) || !isSure || partly.length > 0) {
      const cases = known ?? [];
      if (!isSure) for (const one of declared) cases.push(one);
      for (const one of partly) cases.push(one);
      conditionalProperties.set(name, cases);
    }
    if (isSure) summary.addProperty(name, unionOfCases(declared, group.path));
  }
}

/** In the order the names come. */
function casesOfProperties(branches: readonly Branch[]): ReadonlyMap<string, PropertyCases> {
  const properties = new Map<string, PropertyCases>();
  const casesOf = (name: string): PropertyCases => {
    const cases = properties.get(name) ?? { declared: [], partly: [] };
    properties.set(name, cases);
    return cases;
  };
  for (const { summary: branch, when } of branches) {
    for (const [name, source] of branch.properties) casesOf(name).declared.push({ source, when });
    for (const [name, inner] of branch.conditionalProperties) {
      const { partly } = casesOf(name);
      for (const one of inner) {
        partly.push({ source: one.source, when: bothWords(when, one.when) });
      }
    }
  }
  return properties;
}

function bothWords(outer: string | undefined, inner: string | undefined): string | undefined {
  return outer === undefined || inner === undefined ? (outer ?? inner) : `${outer} and ${inner}`;
}

/** Declares what was left aside, in the order the names came. */
function placeConditional(summary: SchemaSummary): void {
  const { properties, conditionalProperties, path } = summary;
  for (const [name, cases] of conditionalProperties) {
    const known = properties.get(name);
    if (cases.length === 0 && known !== undefined) {
      properties.delete(name);
      properties.set(name, known);
    } else {
      const toSource = known === undefined ? unionOfCases : sourceOfCases;
      summary.addProperty(name, toSource(cases, path));
    }
  }
  conditionalProperties.clear();
}

function foldRequired(
  summary: SchemaSummary,
  group: ChoiceGroup,
  branches: readonly Branch[],
): void {
  const needed = branches.map(({ summary: branch }) => branch.required);
  const [first, ...others] = needed;
  if (first === undefined) return;
  for (const name of first.keys()) {
    if (others.every((names) => names.has(name))) summary.required.set(name, group.path);
  }
  if (group.kind !== 'choice') return;
  const needs = needed.map((names) =>
    [...names.keys()].filter((name) => !summary.required.has(name)).join(' + '),
  );
  if (needs.every((words) => words === '')) return;
  const words = new Set(needs.map((each) => (each === '' ? 'nothing more' : each)));
  summary.hint(`needs ${[...words].join(' or ')}`);
}

function foldRest(summary: SchemaSummary, { summary: branch, when }: Branch): void {
  summary.otherProperties ??= branch.otherProperties;
  summary.allowsAdditional ||= branch.allowsAdditional;
  for (const [name, source] of branch.testedProperties) summary.testedProperties.set(name, source);
  summary.recursionNote ??= branch.recursionNote;
  if (when !== undefined) addCase(summary, when, objectWords(summary, branch));
  else for (const text of [...branch.descriptions, ...branch.hints]) summary.hint(text);
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
  const branches = inner.map((branch) => withBeside(branch, beside));
  for (const name of ['default', 'example']) addSample(branches, name, beside[name]);
  const alternatives = distinctNodes(branches);
  for (const each of [...alternatives, alternatives]) Object.freeze(each);
  const [first = {}, ...others] = alternatives;
  return others.length === 0 ? first : Object.freeze({ anyOf: alternatives });
}

function withBeside(branch: JsonObject, beside: JsonObject): JsonObject {
  const { title, description: outer, nullable } = beside;
  const joined = { ...branch };
  if (title !== undefined) joined.title ??= title;
  if (typeof outer === 'string' && outer !== branch.description) {
    const { description: inner } = branch;
    joined.description = typeof inner === 'string' ? `${outer}\n${inner}` : outer;
  }
  if (nullable === true) joined.nullable = nullable;
  return joined;
}

/** A sample stands in the first alternative it could be a value of. */
function addSample(branches: JsonObject[], name: string, value: JsonValue | undefined): void {
  if (value === undefined) return;
  const index = branches.findIndex((branch) => isSchemaOfType(branch, value));
  const branch = branches[Math.max(index, 0)];
  if (branch !== undefined && branch[name] === undefined) branch[name] = value;
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
function writeAnyValue(summary: SchemaSummary): JsonObject {
  if (summary.conversion.form !== 'json-schema') return writeText(summary, 'any value');
  if (summary.recursionNote !== undefined) summary.hint(summary.recursionNote);
  describeLimits(summary);
  return annotate(summary, {});
}

/** A value as the JSON text of it: the upstream refuses objects without properties, and nodes without a type. */
export function writeText(summary: SchemaSummary, what: Undeclared): JsonObject {
  summary.conversion.losses.add('value');
  summary.hint(textWords(summary, what));
  for (const [name, value] of summary.samples) summary.hint(`${name} ${describeJson(value)}`);
  summary.samples.clear();
  describeLimits(summary);
  summary.note('approximated', summary.path, SENT_AS_TEXT[what]);
  summary.writtenType = undefined;
  summary.sentAsText = true;
  return finishNode(summary, 'string', {});
}

function describeLimits(summary: SchemaSummary): void {
  for (const [name, { value, path }] of summary.limits) {
    summary.sayInstead(describeLimit(name, value), path);
  }
  summary.limits.clear();
}

function textWords(summary: SchemaSummary, what: Undeclared): string {
  const { recursionNote, conversion } = summary;
  if (recursionNote !== undefined) return `JSON text of ${recursionNote}`;
  if (what === 'an object') return `JSON text of ${otherNames(summary)}`;
  return conversion.restored ? ANY_VALUE : 'any value, as plain or JSON text';
}

/** An object of members nobody named. */
export function otherNames({ conversion, otherProperties }: SchemaSummary): string {
  if (otherProperties === undefined) return 'an object';
  return `an object, values: ${describeShape(conversion, otherProperties)}`;
}

// Writes listed values: the upstream takes lists of non-empty texts only.

/** Longer lists are described; upstreams refuse schemas with very many values. */
const MAX_VALUES = 1000;

interface EnumerationNode {
  /** Undefined for alternatives of several types, which stand in the fields. */
  readonly type: TypeName | undefined;
  readonly fields: JsonObject;
}

const BOOLEAN_NODE: EnumerationNode = { type: 'boolean', fields: {} };

/**
 * The type and values of a schema with `enum` or `const`; undefined when the values cannot be
 * listed (they are described then and the rest of the schema decides).
 */
function writeEnumeration(summary: SchemaSummary): EnumerationNode | undefined {
  const { enumeration, conversion, types } = summary;
  if (enumeration === undefined) return undefined;
  const values = enumeration.values.filter((value) => value !== null);
  const hasNull = values.length < enumeration.values.length;
  if (hasNull && (types?.includes('null') ?? true)) summary.nullable = true;
  if (values.length === 0) {
    summary.nullable = false;
    return { type: 'null', fields: {} };
  }
  if (values.every((value) => typeof value === 'boolean')) {
    if (new Set(values).size === 1) summary.sayInstead(`always ${values[0]}`, enumeration.path);
    return BOOLEAN_NODE;
  }
  if (!mayList(conversion, enumeration.values)) {
    const words = `one of ${describeInFull(conversion, values)}`;
    summary.sayInstead(words, enumeration.path, told`these values cannot be listed`);
    summary.impliedType ??= typeOfValues(values);
    return undefined;
  }
  if (conversion.form === 'json-schema' && values.some((value) => typeof value !== 'string')) {
    return writeKinds(summary, enumeration.path, values);
  }
  return writeTexts(summary, enumeration.path, values);
}

function mayList(conversion: SchemaConversion, values: readonly JsonValue[]): boolean {
  if (values.length > Math.min(MAX_VALUES, conversion.valuesLeft)) return false;
  const { listedBefore } = conversion;
  const length = listedBefore.get(values);
  if (length === undefined) listedBefore.set(values, JSON.stringify(values).length);
  else if (length > conversion.relistedLeft) return false;
  else conversion.relistedLeft -= length;
  conversion.valuesLeft -= values.length;
  return !values.some((value) => Array.isArray(value) || isJsonObject(value));
}

function describeInFull(conversion: SchemaConversion, values: readonly JsonValue[]): string {
  if (conversion.listedLeft <= 0) return describeList(values);
  const words = describeValues(values);
  conversion.listedLeft -= words.length;
  return words;
}

/** Values that are not all texts, in JSON Schema: a list for each type. */
function writeKinds(
  summary: SchemaSummary,
  path: string,
  values: readonly JsonValue[],
): EnumerationNode {
  const texts = values.filter((value) => typeof value === 'string');
  const numbers = values.filter((value) => readNumber(value) !== undefined);
  const kinds: EnumerationNode[] = [];
  if (texts.length > 0) kinds.push(writeTexts(summary, path, texts));
  if (numbers.length > 0) {
    const areWhole = numbers.every((value) => Number.isInteger(readNumber(value)));
    const type = declaredNumber(summary) ?? (areWhole ? 'integer' : 'number');
    kinds.push({ type, fields: { enum: numbers } });
  }
  if (values.some((value) => typeof value === 'boolean')) kinds.push(BOOLEAN_NODE);
  const [first, ...others] = kinds;
  if (first !== undefined && others.length === 0) return first;
  const anyOf = kinds.map(({ type, fields }) => freezeNode({ ...(type && { type }), ...fields }));
  return { type: undefined, fields: { anyOf } };
}

function declaredNumber({ types }: SchemaSummary): TypeName | undefined {
  return types?.find((type) => type === 'integer' || type === 'number');
}

function writeTexts(
  summary: SchemaSummary,
  path: string,
  values: readonly JsonValue[],
): EnumerationNode {
  if (values.some((value) => typeof value !== 'string')) {
    summary.note('approximated', path, told`the values are sent as texts`);
    const declared = declaredNumber(summary);
    if (declared !== undefined) summary.hint(`${declared} as text`);
  }
  const texts = new Set(values.map(writtenValue));
  if (texts.delete('')) {
    const words = texts.size === 0 ? 'always ""' : 'or ""';
    summary.sayInstead(words, path, told`the empty text cannot be listed`);
  }
  return { type: 'string', fields: texts.size === 0 ? {} : { enum: [...texts] } };
}
