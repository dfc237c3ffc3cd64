// Reads a client's JSON Schema into what the repair of a value has to know of it.

import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { resolveReference } from './resolve-reference.ts';

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
