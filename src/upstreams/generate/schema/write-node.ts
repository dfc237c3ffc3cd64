// Writes gathered facets as the upstream's schema: every node has one type or alternatives.

import { told } from '../../../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../../../lib/json.ts';
import { settleChoices } from './choices.ts';
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
import { annotate, finishNode, freezeNode } from './finish-node.ts';
import { gatherSource } from './gather.ts';
import { LIMITS_BY_TYPE, orderingField, requiredField, typeField } from './node-fields.ts';
import { CHOICE_LEVELS } from './open-choices.ts';
import { ANY_SHAPE, sayMembers, sayOutline } from './plain-words.ts';
import { toNumber } from './read-constraints.ts';
import { sayShape } from './say-shape.ts';
import { MAX_LEVEL } from './schema-depth.ts';
import { isKnownFormat, readTypeName, type TypeName } from './schema-type.ts';
import { soleAlternatives } from './sole-alternatives.ts';
import { writeAnyValue, writeText } from './write-stand-in.ts';

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
