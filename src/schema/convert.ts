// Writes gathered facets as the upstream's schema: every node has one type or alternatives.

import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import {
  ANY_SHAPE,
  allWords,
  composeDescription,
  objectWords,
  sayCase,
  sayJson,
  sayLimit,
  sayList,
  sayMembers,
  sayOutline,
  sayShape,
  sayValue,
  sayValues,
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
  type Cleaning,
  copyConstraints,
  createFacets,
  type Facets,
  joinSources,
  type LimitName,
  type NodeSource,
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
  cleaning: Cleaning,
  source: NodeSource,
  level: number,
): JsonObject | undefined {
  const facets = createFacets(pathOf(source), level);
  gatherSource(cleaning, facets, source);
  return writeNode(cleaning, facets);
}

function pathOf({ all, any }: NodeSource): string {
  return all[0]?.path ?? any[0]?.path ?? '';
}

/** As `writeSource`, for facets already gathered. */
export function writeNode(cleaning: Cleaning, facets: Facets): JsonObject | undefined {
  const alternatives = settleChoices(cleaning, facets, false);
  if (facets.never) return undefined;
  if (facets.level > MAX_LEVEL && (alternatives.length > 0 || holdsOthers(facets))) {
    return writeDeep(cleaning, facets);
  }
  if (alternatives.length > 0) return writeAlternatives(cleaning, facets, alternatives);
  const listed = writeEnumeration(cleaning, facets);
  if (listed !== undefined) {
    if (listed.type === undefined) return annotate(cleaning, facets, listed.fields);
    facets.types = [listed.type];
    return finishNode(cleaning, facets, {
      ...typeField(cleaning, facets, listed.type),
      ...listed.fields,
    });
  }
  return writeTyped(cleaning, facets);
}

function holdsOthers({ types, impliedType }: Facets): boolean {
  const [type = impliedType, ...others] = types?.filter((name) => name !== 'null') ?? [];
  return others.length > 0 || type === 'object' || type === 'array';
}

/** A value that would stand too deep in the upstream's schema: JSON text, described in words. */
function writeDeep(cleaning: Cleaning, facets: Facets): JsonObject {
  const { properties, items } = facets;
  if (properties.size > 0) facets.unexpanded ??= sayMembers([...properties.keys()]);
  else if (items !== undefined)
    facets.unexpanded ??= `array of ${sayOutline(items.all[0]?.schema)}`;
  cleaning.note('approximated', facets.path, told`deeper than the upstream takes`);
  cleaning.losses.add('depth');
  return writeAnyValue(cleaning, facets);
}

function writeTyped(cleaning: Cleaning, facets: Facets): JsonObject | undefined {
  const types = facets.types ?? (facets.impliedType === undefined ? [] : [facets.impliedType]);
  const real = types.filter((type) => type !== 'null');
  if (real.length < types.length && real.length > 0) facets.nullable = true;
  const [type] = types.length === 1 ? types : real;
  if (type === undefined) return writeAnyValue(cleaning, facets);
  if (real.length > 1) {
    const alternatives = real.map((each) => copyForType(facets, each));
    return writeAlternatives(cleaning, facets, alternatives);
  }
  switch (type) {
    case 'object':
      return writeObject(cleaning, facets);
    case 'array':
      return writeArray(cleaning, facets);
    case 'number':
    case 'integer':
    case 'string':
    case 'boolean':
    case 'null':
      return finishNode(cleaning, facets, typeField(cleaning, facets, type));
    default:
      return type satisfies never;
  }
}

function copyForType(facets: Facets, type: TypeName): Facets {
  const names = LIMITS_BY_TYPE[type] ?? [];
  const takesFormat = facets.format !== undefined && isKnownFormat(type, facets.format.name);
  return {
    ...copyConstraints(facets),
    level: facets.level + CHOICE_LEVELS,
    types: [type],
    writtenType: undefined,
    format: takesFormat || type === 'string' ? facets.format : undefined,
    limits: new Map([...facets.limits].filter(([name]) => names.includes(name))),
  };
}

/** What is declared, and behind it what conditions ask about beside it. */
function declaredProperties({ properties, asked, isClosed }: Facets): [string, NodeSource][] {
  const others = isClosed ? [] : [...asked].filter(([name]) => !properties.has(name));
  return [...properties, ...others];
}

/** The fields of an object; undefined when it has no property that can have a value. */
export function writeObjectFields(cleaning: Cleaning, facets: Facets): JsonObject | undefined {
  const written: [string, JsonObject][] = [];
  for (const [name, source] of declaredProperties(facets)) {
    const node = writeSource(cleaning, source, facets.level + PROPERTY_LEVELS);
    if (node !== undefined) written.push([name, node]);
    else cleaning.note('dropped', source.all[0]?.path ?? facets.path, told`no value is allowed`);
  }
  if (written.length === 0) return undefined;
  const properties = Object.fromEntries(written);
  return {
    ...typeField(cleaning, facets, 'object'),
    properties,
    ...requiredField(cleaning, facets, properties),
    ...orderingField(cleaning, facets, properties),
    ...otherFields(cleaning, facets),
  };
}

/** What is said of members that are not declared, beside those that are. */
function otherFields(cleaning: Cleaning, facets: Facets): JsonObject {
  const { otherProperties, isClosed, takesOthers, hasListedNames } = facets;
  if (hasListedNames) return cleaning.form === 'json-schema' ? CLOSED : {};
  if (cleaning.form === 'json-schema') {
    if (takesOthers) return { additionalProperties: otherNode(cleaning, facets) };
    return isClosed ? CLOSED : {};
  }
  if (otherProperties === undefined) return {};
  const shape = sayShape(cleaning, otherProperties);
  addHint(facets, `other properties: ${shape}`);
  cleaning.note('approximated', otherProperties.path, told`said in the description`);
  if (shape !== ANY_SHAPE) cleaning.losses.add('value');
  return {};
}

/** The schema of members that are not declared, in JSON Schema. */
function otherNode(cleaning: Cleaning, { otherProperties, level }: Facets): JsonObject | boolean {
  if (otherProperties === undefined) return true;
  const node = writeSource(cleaning, sourceOf(otherProperties), level + OTHER_LEVELS);
  if (node === undefined) return false;
  return Object.keys(node).length === 0 || node;
}

function writeObject(cleaning: Cleaning, facets: Facets): JsonObject {
  const fields = writeObjectFields(cleaning, facets) ?? writeMapFields(cleaning, facets);
  if (fields !== undefined) return finishNode(cleaning, facets, fields);
  return writeText(cleaning, facets, 'an object');
}

/** The fields of an object of free member names; undefined where the form has none for it. */
export function writeMapFields(cleaning: Cleaning, facets: Facets): JsonObject | undefined {
  if (cleaning.form !== 'json-schema') return undefined;
  const { takesOthers, isClosed } = facets;
  const additionalProperties = takesOthers || !isClosed ? otherNode(cleaning, facets) : false;
  return { ...typeField(cleaning, facets, 'object'), additionalProperties };
}

function writeArray(cleaning: Cleaning, facets: Facets): JsonObject {
  const isClosed = facets.items?.all.some(({ schema }) => schema === false) ?? false;
  if (isClosed) closeAt(facets, facets.tuple?.length ?? 0);
  const positions = positionFields(cleaning, facets);
  const source = itemSource(cleaning, facets, isClosed || positions.isCut);
  const items = source && writeSource(cleaning, source, facets.level + ITEM_LEVELS);
  const fields = { ...typeField(cleaning, facets, 'array'), ...positions.fields };
  if (items !== undefined) return finishNode(cleaning, facets, { ...fields, items });
  if (positions.fields.prefixItems !== undefined) return finishNode(cleaning, facets, fields);
  cleaning.note('approximated', facets.path, told`items are sent as texts`);
  const text = typeField(cleaning, createFacets(facets.path, facets.level), 'string');
  return finishNode(cleaning, facets, { ...fields, items: Object.freeze(text) });
}

/** The positions of a tuple in JSON Schema; `isCut` when none may follow, as one of them takes no value. */
function positionFields(
  cleaning: Cleaning,
  facets: Facets,
): { readonly fields: JsonObject; readonly isCut: boolean } {
  const { tuple = [], level } = facets;
  if (cleaning.form !== 'json-schema' || tuple.length === 0) return { fields: {}, isCut: false };
  const prefixItems: JsonObject[] = [];
  for (const at of tuple) {
    const node = writeSource(cleaning, sourceOf(at), level + POSITION_LEVELS);
    if (node === undefined) break;
    prefixItems.push(node);
  }
  const isCut = prefixItems.length < tuple.length;
  if (isCut) closeAt(facets, prefixItems.length);
  return { fields: prefixItems.length === 0 ? {} : { prefixItems }, isCut };
}

/** What an item may be: any of the positions, or one of the items after them. */
function itemSource(cleaning: Cleaning, facets: Facets, isClosed: boolean): NodeSource | undefined {
  const { tuple, items, path } = facets;
  const further = isClosed ? undefined : items;
  if (tuple === undefined || tuple.length === 0 || cleaning.form === 'json-schema') return further;
  cleaning.losses.add('value');
  addHint(facets, `in order: ${tuple.map((at) => sayShape(cleaning, at)).join(', ')}`);
  cleaning.note('approximated', path, told`the positions are said in the description`);
  const branches = tuple.map(sourceOf);
  if (further !== undefined) branches.push(further);
  return { all: [], any: [{ branches, keyword: 'anyOf', path }] };
}

/** No items after the first `length` ones. */
function closeAt(facets: Facets, length: number): void {
  const known = facets.limits.get('maxItems');
  if (known !== undefined && toNumber(known.value) <= length) return;
  facets.limits.set('maxItems', { value: length, path: facets.path });
}

function writeAlternatives(
  cleaning: Cleaning,
  facets: Facets,
  alternatives: readonly Facets[],
): JsonObject | undefined {
  const nodes: JsonObject[] = [];
  for (const alternative of alternatives) {
    const node = writeNode(cleaning, alternative);
    if (node !== undefined) nodes.push(node);
  }
  const values = nodes.filter((node) => !isNullNode(node));
  if (values.length > 0 && values.length < nodes.length) facets.nullable = true;
  const merged = alternativesOf(values.length > 0 ? values : nodes.slice(0, 1));
  if (merged === undefined) return undefined;
  if (facets.unexpanded !== undefined) addHint(facets, facets.unexpanded);
  if (typeof merged.description === 'string') facets.descriptions.add(merged.description);
  const { description: _joined, ...fields } = merged;
  return soleAlternatives(annotate(cleaning, facets, fields));
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

export function typeField(cleaning: Cleaning, facets: Facets, type: TypeName): { type: string } {
  if (cleaning.form === 'json-schema') return { type };
  if (facets.writtenType !== undefined && readTypeName(facets.writtenType) === type) {
    return { type: facets.writtenType };
  }
  return { type: cleaning.upperCase ? type.toUpperCase() : type };
}

function requiredField(cleaning: Cleaning, facets: Facets, properties: JsonObject): JsonObject {
  const required: string[] = [];
  for (const [name, path] of facets.required) {
    if (Object.hasOwn(properties, name)) required.push(name);
    else cleaning.note('dropped', path, told`no such property`);
  }
  return required.length === 0 ? {} : { required };
}

function orderingField(cleaning: Cleaning, facets: Facets, properties: JsonObject): JsonObject {
  const names = Object.keys(properties);
  const given = facets.ordering?.filter((name) => Object.hasOwn(properties, name));
  if (given !== undefined && given.length > 0) return { propertyOrdering: given };
  return cleaning.ordered && names.length > 1 ? { propertyOrdering: names } : {};
}

function formatField(cleaning: Cleaning, facets: Facets, type: TypeName): JsonObject {
  const { format } = facets;
  if (format === undefined) return {};
  if (isKnownFormat(type, format.name)) return { format: format.name };
  addHint(facets, `format ${sayValue(format.name)}`);
  cleaning.note('approximated', format.path, told`said in the description`);
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

function limitFields(cleaning: Cleaning, facets: Facets, type: TypeName): JsonObject {
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
export function finishNode(cleaning: Cleaning, facets: Facets, fields: JsonObject): JsonObject {
  const type = readTypeName(fields.type ?? null);
  if (type === undefined || type === 'any') return annotate(cleaning, facets, fields);
  if (facets.unexpanded !== undefined && !facets.sentAsText) addHint(facets, facets.unexpanded);
  const added = { ...formatField(cleaning, facets, type), ...limitFields(cleaning, facets, type) };
  return annotate(cleaning, facets, { ...fields, ...added });
}

/** Adds what is said of a value beside its type. */
function annotate(cleaning: Cleaning, facets: Facets, fields: JsonObject): JsonObject {
  if (cleaning.form === 'json-schema') return annotateJson(cleaning, facets, fields);
  const { title, declaredNullable, samples } = facets;
  const nullable = facets.nullable ? true : declaredNullable;
  const description = composeDescription(facets.descriptions, facets.hints);
  const node: JsonObject = {
    ...fields,
    ...(title === undefined ? {} : { title }),
    ...(description === '' ? {} : { description }),
    ...(nullable === undefined ? {} : { nullable }),
    ...Object.fromEntries(samples),
  };
  return inOrder(node, facets.keyOrder);
}

function annotateJson(cleaning: Cleaning, facets: Facets, fields: JsonObject): JsonObject {
  const { title, declaredNullable, samples, path } = facets;
  for (const [name, value] of samples) {
    addHint(facets, `${name} ${sayJson(value)}`);
    cleaning.note('approximated', memberPath(path, name), told`said in the description`);
  }
  const description = composeDescription(facets.descriptions, facets.hints);
  const node: JsonObject = {
    ...(facets.nullable || declaredNullable === true ? withNull(fields) : fields),
    ...(title === undefined ? {} : { title }),
    ...(description === '' ? {} : { description }),
  };
  return inOrder(node, facets.keyOrder);
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
 * Resolves the choices of `facets`. Afterwards `facets` holds everything that is certain and the
 * answer lists the alternatives left, each complete in itself; none when there is no real choice.
 * `fold` puts the properties of all branches into one object, as the upstream's tool roots need.
 */
export function settleChoices(cleaning: Cleaning, facets: Facets, fold: boolean): Facets[] {
  const open = openChoices(cleaning, facets);
  if (open.length === 0) return [];
  if (fold || mustFold(facets, open)) {
    foldChoices(cleaning, facets, open);
    return [];
  }
  const conditions = open.filter(isCondition);
  const [first, ...others] = open.filter((each) => !isCondition(each));
  for (const { group } of others) {
    cleaning.note('dropped', group.path, told`only one choice can be carried beside another`);
  }
  if (first !== undefined) {
    return first.branches.map((branch) => join(cleaning, facets, { branch, conditions }));
  }
  return settleConditions(cleaning, facets, conditions);
}

function isCondition({ group }: OpenGroup): boolean {
  return group.keyword === 'conditional';
}

/** Objects with properties of their own or asked about, and several choices of objects, become one object. */
function mustFold(facets: Facets, open: readonly OpenGroup[]): boolean {
  if (facets.properties.size > 0 || facets.asked.size > 0) return true;
  const conditions = open.filter(isCondition);
  if (conditions.length > 0 && isUnknown(facets)) return false;
  const everyIsObject = open.every(({ branches }) =>
    branches.every((branch) => isOfType(branch.facets, 'object') || isUnknown(branch.facets)),
  );
  const several = open.length > 1 || conditions.length > 0;
  return several && everyIsObject && open.some(({ branches }) => branches.some(declaresProperties));
}

function isOfType(facets: Facets, type: 'object' | 'array'): boolean {
  const types = facets.types ?? (facets.impliedType === undefined ? [] : [facets.impliedType]);
  return types.includes(type);
}

function isUnknown(facets: Facets): boolean {
  return facets.types === undefined && facets.impliedType === undefined;
}

function declaresProperties({ facets }: Branch): boolean {
  return facets.properties.size > 0;
}

/**
 * Conditions on something that is no object with properties. They are said in words, but for what they declare of
 * objects and lists: that is an alternative to a value nothing else is known of.
 */
function settleConditions(
  cleaning: Cleaning,
  facets: Facets,
  conditions: readonly OpenGroup[],
): Facets[] {
  const isFree = isUnknown(facets) && facets.enumeration === undefined;
  const shaped = isFree ? conditions.find(({ branches }) => branches.some(hasShape)) : undefined;
  for (const each of conditions) {
    if (isOfType(facets, 'array')) addItems(facets, each);
    for (const branch of each.branches) {
      if (each === shaped && hasShape(branch)) continue;
      sayCase(facets, branch.when, allWords(facets, branch.facets));
    }
  }
  if (shaped === undefined) return [];
  const others = conditions.filter((each) => each !== shaped);
  const alternatives = shaped.branches
    .filter(hasShape)
    .map((branch) => join(cleaning, facets, { branch, conditions: others }));
  if (alternatives.length < shaped.branches.length) {
    // Of what else there may be nothing is known, whatever the other conditions say.
    alternatives.push({ ...copyConstraints(facets), level: facets.level + CHOICE_LEVELS });
  }
  return alternatives;
}

function hasShape({ facets }: Branch): boolean {
  return isOfType(facets, 'object') || isOfType(facets, 'array');
}

/** Items that are declared in some cases only; what always holds of items is not narrowed. */
function addItems(facets: Facets, { group, branches }: OpenGroup): void {
  const declared = branches.flatMap(({ facets: { items: source }, when }) =>
    source === undefined ? [] : [{ source, when }],
  );
  if (declared.length === 0) return;
  const isSure = declared.length === branches.length;
  const source = isSure ? unionOfCases(declared, group.path) : sourceOfCases(declared, group.path);
  facets.items = joinSources(facets.items ?? ANYTHING, source);
}

/** The branch together with everything the schema around it says. */
function join(
  cleaning: Cleaning,
  facets: Facets,
  { branch, conditions }: { readonly branch: Branch; readonly conditions: readonly OpenGroup[] },
): Facets {
  const joined = copyConstraints(facets);
  joined.path = branch.facets.path;
  joined.level = branch.facets.level;
  joined.keyOrder = branch.facets.keyOrder;
  joined.choices = conditions.map(({ group }) => group);
  gatherSource(cleaning, joined, branch.source);
  if (branch.when !== undefined) addHint(joined, branch.when);
  return joined;
}

// Folds choices between objects into one object that takes what any of them takes.

/** One object with the properties of every branch; required is what all branches require. */
function foldChoices(cleaning: Cleaning, facets: Facets, open: readonly OpenGroup[]): void {
  foldGroups(cleaning, facets, open);
  placeSometimes(facets);
}

/** Leaves aside what is declared in some cases only, so that it can be seen together. */
function foldGroups(cleaning: Cleaning, facets: Facets, open: readonly OpenGroup[]): void {
  for (const each of open) foldGroup(cleaning, facets, each);
}

function foldGroup(cleaning: Cleaning, facets: Facets, { group, branches }: OpenGroup): void {
  const couldBe = branches.filter(({ facets: branch }) => couldBeObject(branch));
  for (const { facets: branch } of couldBe) {
    foldGroups(cleaning, branch, openChoices(cleaning, branch));
  }
  const objects = couldBe.filter(({ facets: branch }) => !branch.never);
  if (objects.length < branches.length && group.keyword !== 'conditional') {
    cleaning.note('dropped', group.path, told`branches that are no objects`);
  }
  for (const [name, told] of readProperties(objects)) {
    foldProperty(facets, told, {
      name,
      path: group.path,
      isSure: told.declared.length === objects.length,
    });
  }
  foldRequired(facets, group, objects);
  for (const branch of objects) foldRest(facets, branch);
  if (group.keyword === 'conditional') return;
  cleaning.note('approximated', group.path, told`the branches share one object`);
}

function couldBeObject(facets: Facets): boolean {
  return facets.types === undefined ? !isOtherThanObject(facets) : facets.types.includes('object');
}

function isOtherThanObject(facets: Facets): boolean {
  return facets.impliedType !== undefined && facets.impliedType !== 'object';
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
  for (const { facets: branch, when } of branches) {
    for (const [name, source] of branch.properties)
      propertyAt(name).declared.push({ source, when });
    for (const [name, inner] of branch.sometimes) {
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
  facets: Facets,
  { declared, partly }: ToldProperty,
  {
    name,
    path,
    isSure,
  }: { readonly name: string; readonly path: string; readonly isSure: boolean },
): void {
  const known = facets.sometimes.get(name);
  if (known !== undefined || !facets.properties.has(name) || !isSure || partly.length > 0) {
    facets.sometimes.set(name, [...(known ?? []), ...(isSure ? [] : declared), ...partly]);
  }
  if (isSure) addProperty(facets, name, unionOfCases(declared, path));
}

function bothWords(outer: string | undefined, inner: string | undefined): string | undefined {
  return outer === undefined || inner === undefined ? (outer ?? inner) : `${outer} and ${inner}`;
}

/** Declares what was left aside, in the order the names came. */
function placeSometimes(facets: Facets): void {
  for (const [name, some] of facets.sometimes) {
    const known = facets.properties.get(name);
    if (some.length === 0 && known !== undefined) {
      facets.properties.delete(name);
      facets.properties.set(name, known);
    } else {
      const source = known === undefined ? unionOfCases : sourceOfCases;
      addProperty(facets, name, source(some, facets.path));
    }
  }
  facets.sometimes.clear();
}

function foldRequired(facets: Facets, group: ChoiceGroup, branches: readonly Branch[]): void {
  const lists = branches.map(({ facets: branch }) => [...branch.required.keys()]);
  const [first, ...others] = lists;
  if (first === undefined) return;
  for (const name of first) {
    if (others.every((list) => list.includes(name))) facets.required.set(name, group.path);
  }
  if (group.cases !== undefined) return;
  const needs = lists.map((list) => list.filter((name) => !facets.required.has(name)).join(' + '));
  if (needs.every((words) => words === '')) return;
  const words = new Set(needs.map((each) => (each === '' ? 'nothing more' : each)));
  addHint(facets, `needs ${[...words].join(' or ')}`);
}

function foldRest(facets: Facets, { facets: branch, when }: Branch): void {
  facets.otherProperties ??= branch.otherProperties;
  facets.takesOthers ||= branch.takesOthers;
  for (const [name, source] of branch.asked) facets.asked.set(name, source);
  facets.unexpanded ??= branch.unexpanded;
  if (when !== undefined) sayCase(facets, when, objectWords(facets, branch));
  else for (const text of [...branch.descriptions, ...branch.hints]) addHint(facets, text);
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
function writeAnyValue(cleaning: Cleaning, facets: Facets): JsonObject {
  if (cleaning.form !== 'json-schema') return writeText(cleaning, facets, 'any value');
  if (facets.unexpanded !== undefined) addHint(facets, facets.unexpanded);
  sayLimits(cleaning, facets);
  return annotate(cleaning, facets, {});
}

/** A value as the JSON text of it: the upstream refuses objects without properties, and nodes without a type. */
export function writeText(cleaning: Cleaning, facets: Facets, what: Undeclared): JsonObject {
  cleaning.losses.add('value');
  addHint(facets, textWords(cleaning, facets, what));
  for (const [name, value] of facets.samples) addHint(facets, `${name} ${sayJson(value)}`);
  facets.samples.clear();
  sayLimits(cleaning, facets);
  cleaning.note('approximated', facets.path, SENT_AS_TEXT[what]);
  facets.writtenType = undefined;
  facets.sentAsText = true;
  return finishNode(cleaning, facets, typeField(cleaning, facets, 'string'));
}

function sayLimits(cleaning: Cleaning, facets: Facets): void {
  for (const [name, { value, path }] of facets.limits) {
    addHint(facets, sayLimit(name, value));
    cleaning.note('approximated', path, told`said in the description`);
  }
  facets.limits.clear();
}

function textWords(cleaning: Cleaning, facets: Facets, what: Undeclared): string {
  const { unexpanded } = facets;
  if (unexpanded !== undefined) return `JSON text of ${unexpanded}`;
  if (what === 'any value')
    return cleaning.restored ? ANY_VALUE : 'any value, as plain or JSON text';
  return `JSON text of ${otherNames(cleaning, facets)}`;
}

/** An object of members nobody named. */
export function otherNames(cleaning: Cleaning, { otherProperties }: Facets): string {
  if (otherProperties === undefined) return 'an object';
  return `an object, values: ${sayShape(cleaning, otherProperties)}`;
}

// Writes listed values: the upstream takes lists of non-empty texts only.

/** Longer lists are described; upstreams refuse schemas with very many values. */
const MAX_VALUES = 1000;

/**
 * The type and values of a schema with `enum` or `const`; undefined when the values cannot be
 * listed (they are described then and the rest of the schema decides).
 */
function writeEnumeration(cleaning: Cleaning, facets: Facets): EnumerationNode | undefined {
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

interface EnumerationNode {
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
