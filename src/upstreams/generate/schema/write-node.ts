// Writes gathered facets as the upstream's schema: every node has one type or alternatives.

import type { JsonObject, JsonValue } from '../../../lib/json.ts';
import { CHOICE_LEVELS, settleChoices } from './choices.ts';
import { writeEnumeration } from './enumeration.ts';
import {
  addHint,
  type Cleaning,
  copyConstraints,
  createFacets,
  type Facets,
  type NodeSource,
  sourceOf,
} from './facets.ts';
import { gatherSource } from './gather.ts';
import {
  formatField,
  LIMITS_BY_TYPE,
  limitFields,
  orderingField,
  requiredField,
  typeField,
} from './node-fields.ts';
import { composeDescription, sayJson, sayMembers, sayShape } from './plain-words.ts';
import { toNumber } from './read-constraints.ts';
import { MAX_LEVEL } from './schema-depth.ts';
import { isKnownFormat, readTypeName, type TypeName } from './schema-type.ts';

/** A property stands among the others of its object, items right in their array. */
const PROPERTY_LEVELS = 2;
const ITEM_LEVELS = 1;

/** Texts that are no JSON come back as they are; quotes keep a text apart that looks like a number. */
const ANY_VALUE = 'any value, as JSON text: texts in quotes';

/** The node for a schema; undefined when the schema allows no value at all. */
function writeSource(
  cleaning: Cleaning,
  source: NodeSource,
  level: number,
): JsonObject | undefined {
  const path = source.all[0]?.path ?? source.any[0]?.path ?? '';
  const facets = createFacets(path, level);
  gatherSource(cleaning, facets, source);
  return writeNode(cleaning, facets);
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
  else if (items !== undefined) facets.unexpanded ??= `array of ${sayShape(items.all[0]?.schema)}`;
  cleaning.note('approximated', facets.path, 'deeper than the upstream takes');
  return writeText(cleaning, facets, 'any value');
}

function writeTyped(cleaning: Cleaning, facets: Facets): JsonObject | undefined {
  const types = facets.types ?? (facets.impliedType === undefined ? [] : [facets.impliedType]);
  const real = types.filter((type) => type !== 'null');
  if (real.length < types.length && real.length > 0) facets.nullable = true;
  const [type] = types.length === 1 ? types : real;
  if (type === undefined) return writeText(cleaning, facets, 'any value');
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

/** The fields of an object; undefined when it has no property that can have a value. */
export function writeObjectFields(cleaning: Cleaning, facets: Facets): JsonObject | undefined {
  const written: [string, JsonObject][] = [];
  for (const [name, source] of facets.properties) {
    const node = writeSource(cleaning, source, facets.level + PROPERTY_LEVELS);
    if (node !== undefined) written.push([name, node]);
    else cleaning.note('dropped', source.all[0]?.path ?? facets.path, 'no value is allowed');
  }
  if (written.length === 0) return undefined;
  if (facets.otherProperties !== undefined) {
    addHint(facets, `other properties: ${sayShape(facets.otherProperties.schema)}`);
    cleaning.note('approximated', facets.otherProperties.path, 'said in the description');
  }
  const properties = Object.fromEntries(written);
  return {
    ...typeField(cleaning, facets, 'object'),
    properties,
    ...requiredField(cleaning, facets, properties),
    ...orderingField(cleaning, facets, properties),
  };
}

function writeObject(cleaning: Cleaning, facets: Facets): JsonObject {
  const fields = writeObjectFields(cleaning, facets);
  if (fields !== undefined) return finishNode(cleaning, facets, fields);
  return writeText(cleaning, facets, 'an object');
}

/** The upstream refuses objects without properties; such values travel as JSON text. */
export function writeText(
  cleaning: Cleaning,
  facets: Facets,
  what: 'an object' | 'any value',
): JsonObject {
  addHint(facets, textWords(cleaning, facets, what));
  for (const [name, value] of facets.samples) addHint(facets, `${name} ${sayJson(value)}`);
  facets.samples.clear();
  for (const [name, { value, path }] of facets.limits) {
    addHint(facets, `${name} ${sayJson(value)}`);
    cleaning.note('approximated', path, 'said in the description');
  }
  facets.limits.clear();
  cleaning.note('approximated', facets.path, `${what} is sent as text`);
  facets.writtenType = undefined;
  facets.sentAsText = true;
  return finishNode(cleaning, facets, typeField(cleaning, facets, 'string'));
}

function textWords(
  { restored }: Cleaning,
  facets: Facets,
  what: 'an object' | 'any value',
): string {
  const { unexpanded } = facets;
  if (unexpanded !== undefined) return `JSON text of ${unexpanded}`;
  if (what === 'any value') return restored ? ANY_VALUE : 'any value, as plain or JSON text';
  return `JSON text of ${otherNames(facets)}`;
}

/** An object of members nobody named. */
export function otherNames({ otherProperties }: Facets): string {
  if (otherProperties === undefined) return 'an object';
  return `an object, values: ${sayShape(otherProperties.schema)}`;
}

function writeArray(cleaning: Cleaning, facets: Facets): JsonObject {
  const isClosed = facets.items?.all.some(({ schema }) => schema === false) ?? false;
  if (isClosed) closeAt(facets, facets.tuple?.length ?? 0);
  const source = itemSource(cleaning, facets, isClosed);
  const items = source && writeSource(cleaning, source, facets.level + ITEM_LEVELS);
  if (items === undefined) cleaning.note('approximated', facets.path, 'items are sent as texts');
  const text = typeField(cleaning, createFacets(facets.path, facets.level), 'string');
  return finishNode(cleaning, facets, {
    ...typeField(cleaning, facets, 'array'),
    items: items ?? Object.freeze(text),
  });
}

/** What an item may be: any of the positions, or one of the items after them. */
function itemSource(cleaning: Cleaning, facets: Facets, isClosed: boolean): NodeSource | undefined {
  const { tuple, items, path } = facets;
  const further = isClosed ? undefined : items;
  if (tuple === undefined || tuple.length === 0) return further;
  addHint(facets, `in order: ${tuple.map((at) => sayShape(at.schema)).join(', ')}`);
  cleaning.note('approximated', path, 'the positions are said in the description');
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
  if (typeof merged.description === 'string') facets.descriptions.push(merged.description);
  const { description: _joined, ...fields } = merged;
  return annotate(cleaning, facets, fields);
}

/** One node for several: the same ones once, lists of values as one list, the rest as `anyOf`. */
function alternativesOf(nodes: readonly JsonObject[]): JsonObject | undefined {
  const distinct = new Map(nodes.map((node) => [JSON.stringify(node), node]));
  const [first, ...others] = distinct.values();
  if (first === undefined || others.length === 0) return first;
  const values = [first, ...others].map(plainValues);
  if (values.every((list) => list !== undefined)) {
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

/** Adds format, limits and annotations to a node of one type. */
export function finishNode(cleaning: Cleaning, facets: Facets, fields: JsonObject): JsonObject {
  const type = readTypeName(fields.type ?? null);
  if (type === undefined || type === 'any') return annotate(cleaning, facets, fields);
  if (facets.unexpanded !== undefined && !facets.sentAsText) addHint(facets, facets.unexpanded);
  const added = { ...formatField(cleaning, facets, type), ...limitFields(cleaning, facets, type) };
  return annotate(cleaning, facets, { ...fields, ...added });
}

function annotate(cleaning: Cleaning, facets: Facets, fields: JsonObject): JsonObject {
  const { title, declaredNullable, samples } = facets;
  const nullable = facets.nullable && cleaning.nullKeyword ? true : declaredNullable;
  if (facets.nullable && nullable !== true) {
    facets.hints = ['nullable', ...facets.hints.filter((hint) => hint !== 'nullable')];
    cleaning.note('approximated', facets.path, 'null is said in the description');
  }
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

/** The client's own order of keywords, then ours: a legal schema leaves as it came. */
function inOrder(node: JsonObject, order: readonly string[]): JsonObject {
  const first = order.filter((key) => Object.hasOwn(node, key));
  const rest = Object.keys(node).filter((key) => !first.includes(key));
  return freezeNode(Object.fromEntries([...first, ...rest].map((key) => [key, node[key] ?? null])));
}

/** Written nodes are shared between requests, so nobody may change them. Samples are the client's own. */
export function freezeNode(node: JsonObject): JsonObject {
  for (const key of ['properties', 'required', 'propertyOrdering', 'enum', 'items', 'anyOf']) {
    Object.freeze(node[key]);
  }
  return Object.freeze(node);
}
