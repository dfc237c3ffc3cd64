// Short plain words for what a schema says, where the upstream has no keyword for it.

import { isJsonObject, type JsonObject, type JsonValue, writtenValue } from '../lib/json.ts';
import { itemsOf } from '../lib/read-values.ts';
import { isResolving, type Located, locateInside } from './document.ts';
import type { SchemaConversion, SchemaSummary } from './summary.ts';

const MAX_VALUE_LENGTH = 200;
const MAX_LISTED = 20;
/** Characters of a list that is the only place where its values stand. */
const MAX_LIST_LENGTH = 50_000;

/** A value as JSON text, cut to a readable length. */
export function describeValue(value: JsonValue): string {
  return cut(writtenValue(value));
}

export function describeJson(value: JsonValue): string {
  return cut(JSON.stringify(value));
}

/** A limit in words. A pattern stands whole: half of it would say something else. */
export function describeLimit(name: string, value: JsonValue): string {
  return `${name} ${name === 'pattern' && typeof value === 'string' ? value : describeJson(value)}`;
}

export function describeList(values: readonly JsonValue[]): string {
  const shown = values.slice(0, MAX_LISTED).map(describeJson).join(', ');
  return values.length > MAX_LISTED ? `${shown} and ${values.length - MAX_LISTED} more` : shown;
}

/** The values one may choose from, each in full: where no keyword can list them, words have to. */
export function describeValues(values: readonly JsonValue[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  let length = 0;
  const end = texts.findIndex((text) => {
    length += text.length;
    return length > MAX_LIST_LENGTH;
  });
  const shown = end === -1 ? texts : texts.slice(0, Math.max(end, 1));
  const words = shown.length === 1 ? cut(shown[0] ?? '', MAX_LIST_LENGTH) : shown.join(', ');
  const left = texts.length - shown.length;
  return left === 0 ? words : `${words} and ${left} more`;
}

export const ANY_SHAPE = 'any value';

/** What kind of value a schema allows, one level deep: `string`, `array of integer`, `object {a, b}`. */
export function describeOutline(schema: JsonValue | undefined): string {
  if (!isJsonObject(schema)) return ANY_SHAPE;
  const { type, properties, items, enum: values, const: constant, $ref: reference } = schema;
  if (typeof reference === 'string') return cut(reference.split('/').at(-1) || 'the same again');
  if (constant !== undefined) return describeJson(constant);
  if (Array.isArray(values)) return `one of ${describeList(values)}`;
  if (isJsonObject(properties)) return describeMembersOf(properties);
  if (isJsonObject(items))
    return `array of ${typeof items.type === 'string' ? cut(items.type.toLowerCase()) : 'values'}`;
  if (typeof type === 'string') return cut(type.toLowerCase());
  if (Array.isArray(type)) return cut(type.map(describeValue).join(' or '));
  return ANY_SHAPE;
}

/** A schema may refer to itself from each of its members. */
const saidMembers = new WeakMap<JsonObject, string>();

function describeMembersOf(properties: JsonObject): string {
  const said = saidMembers.get(properties) ?? describeMembers(Object.keys(properties));
  saidMembers.set(properties, said);
  return said;
}

export function describeMembers(names: readonly string[]): string {
  return `object {${cut(names.join(', '))}}`;
}

const SHORT_KEYS = new Set(['const', 'enum', 'type', 'title', 'description', '$ref', '$comment']);

/** When a condition holds: `kind is "a" and size is given`; its own text where that is no simple one. */
export function describeCondition(schema: JsonValue): string {
  if (!isJsonObject(schema)) return describeOperand(schema);
  const { type, properties = {}, required = [], ...others } = schema;
  const isPlain = isJsonObject(properties) && Array.isArray(required);
  const isOfObjects = type === undefined || type === 'object';
  if (!isPlain || !isOfObjects || Object.keys(others).length > 0)
    return `it is ${describeOperand(schema)}`;
  const parts = Object.entries(properties).map(
    ([name, what]) => `${name} is ${describeOperand(what)}`,
  );
  const given = required.filter((name) => !Object.hasOwn(properties, writtenValue(name)));
  const words = [...parts, ...given.map((name) => `${describeValue(name)} is given`)].join(' and ');
  return words === '' ? 'it is an object' : cut(words);
}

/** A value, a list of values or a type in words, anything else as it is written. */
function describeOperand(schema: JsonValue): string {
  return isShort(schema) ? describeOutline(schema) : describeJson(schema);
}

function isShort(schema: JsonValue): schema is JsonObject {
  return isJsonObject(schema) && Object.keys(schema).every((keyword) => SHORT_KEYS.has(keyword));
}

/** What must not be: `not null`, `never if a is given and b is given`. */
export function describeForbidden(schema: JsonValue): string {
  return isShort(schema)
    ? `not ${describeOutline(schema)}`
    : `never if ${describeCondition(schema)}`;
}

/** The description followed by the hints: `text (hint; hint)`. */
export function composeDescription({ descriptions, hints }: SchemaSummary): string {
  const text = [...descriptions].join('\n');
  if (hints.size === 0) return text;
  const added = `(${[...hints].join('; ')})`;
  return text === '' ? added : `${text} ${added}`;
}

function cut(text: string, most = MAX_VALUE_LENGTH): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

// What values a schema allows, in words, for places where nothing declares them to the model.

/** Members of members; what is deeper is said in outline. */
const MAX_DESCRIBED_DEPTH = 5;
const MAX_LENGTH = 2000;

/**
 * What a schema allows, its members and what they refer to included: `object {at: string, size?: integer}`,
 * `array of (string or null)`. A recursion is said by its name.
 */
export function describeShape(conversion: SchemaConversion, located: Located): string {
  return cut(shapeOf(conversion, located, MAX_DESCRIBED_DEPTH), MAX_LENGTH);
}

function shapeOf(conversion: SchemaConversion, located: Located, depth: number): string {
  conversion.wordsLeft -= 1;
  if (depth === 0 || conversion.wordsLeft < 0) return describeOutline(located.schema);
  const fragments = fragmentsOf(conversion, located);
  const whole = fragments.map(valueWords).find((words) => words !== '');
  if (whole !== undefined) return whole;
  const say = (inner: Located): string => shapeOf(conversion, inner, depth - 1);
  const own = shapeWords(fragments, say) || arrayWords(fragments, say) || typeWords(fragments);
  const groups = fragments.flatMap((fragment) => choiceWords(fragment, say));
  const words = [...(own === '' ? [] : [own]), ...groups];
  const isNullable = fragments.some(({ schema }) => schema.nullable === true);
  const shape = words.length > 1 ? words.map(inParentheses).join(' and ') : (words[0] ?? '');
  if (shape === '') return ANY_SHAPE;
  return isNullable && !shape.endsWith(' or null') ? `${shape} or null` : shape;
}

interface Fragment extends Located {
  readonly schema: JsonObject;
}

/** The schema and all that holds together with it; what it refers to stands before it. None for true or false. */
function fragmentsOf(conversion: SchemaConversion, located: Located): readonly Fragment[] {
  const { schema } = located;
  if (!isJsonObject(schema)) return [];
  if (conversion.wordsLeft < 0) return [{ ...located, schema }];
  const { $ref: reference, allOf, ...rest } = schema;
  const parts = Array.isArray(allOf) ? allOf : [];
  return [
    ...(typeof reference === 'string' ? targetsOf(conversion, reference, located) : []),
    ...parts.flatMap((part, index) => {
      conversion.wordsLeft -= 1;
      return fragmentsOf(conversion, locateInside(located, part, ['allOf', index]));
    }),
    { ...located, schema: rest },
  ];
}

function targetsOf(
  conversion: SchemaConversion,
  reference: string,
  { refs, depth }: Located,
): readonly Fragment[] {
  const target = conversion.document.resolve(reference);
  if (target === undefined || isResolving(refs, target.pointer)) {
    return [{ schema: { $ref: reference }, path: '', refs, depth }];
  }
  conversion.wordsLeft -= 1;
  const { schema, path, pointer } = target;
  return fragmentsOf(conversion, { schema, path, refs: { pointer, outer: refs }, depth });
}

/** A value, a list of values, or the name of what recurs. */
function valueWords({ schema }: Fragment): string {
  const isNamed = schema.const !== undefined || Array.isArray(schema.enum) || '$ref' in schema;
  return isNamed ? describeOutline(schema) : '';
}

type Say = (located: Located) => string;

function shapeWords(fragments: readonly Fragment[], say: Say): string {
  const required = new Set(fragments.flatMap(({ schema }) => itemsOf(schema.required)));
  const members: string[] = [];
  const others: string[] = [];
  for (const fragment of fragments) {
    for (const [name, schema] of schemasIn(fragment, 'properties')) {
      const mark = required.has(name) ? '' : '?';
      members.push(`${describeValue(name)}${mark}: ${say(schema)}`);
    }
    for (const [pattern, schema] of schemasIn(fragment, 'patternProperties')) {
      others.push(`matching ${describeValue(pattern)}: ${say(schema)}`);
    }
    const { additionalProperties } = fragment.schema;
    if (!isJsonObject(additionalProperties)) continue;
    const shape = say(locateInside(fragment, additionalProperties, ['additionalProperties']));
    others.push(`${members.length > 0 ? 'other values' : 'values'}: ${shape}`);
  }
  const named = members.length > 0 ? [`{${members.join(', ')}}`] : [];
  const unnamed = others.length > 0 ? [`(${others.join('; ')})`] : [];
  const words = [...named, ...unnamed].join(' ');
  return words === '' ? '' : `object ${words}`;
}

/** Those that allow a value. */
function schemasIn(outer: Fragment, keyword: string): (readonly [string, Located])[] {
  const schemas = outer.schema[keyword];
  return Object.entries(isJsonObject(schemas) ? schemas : {}).flatMap(([name, schema]) =>
    schema === false ? [] : [[name, locateInside(outer, schema, [keyword, name])] as const],
  );
}

function arrayWords(fragments: readonly Fragment[], say: Say): string {
  for (const fragment of fragments) {
    const { items, prefixItems } = fragment.schema;
    const positions = Array.isArray(prefixItems) ? prefixItems : items;
    if (Array.isArray(positions)) {
      const shapes = positions.map((at, index) =>
        say(locateInside(fragment, at, ['items', index])),
      );
      return `array [${shapes.join(', ')}]`;
    }
    if (isJsonObject(items)) {
      return `array of ${inParentheses(say(locateInside(fragment, items, ['items'])))}`;
    }
  }
  return '';
}

function typeWords(fragments: readonly Fragment[]): string {
  const shapes = fragments.map(({ schema: { type = null } }) => describeOutline({ type }));
  return shapes.find((shape) => shape !== '' && shape !== ANY_SHAPE) ?? '';
}

function choiceWords(fragment: Fragment, say: Say): string[] {
  return ['anyOf', 'oneOf'].flatMap((keyword) => {
    const branches = itemsOf(fragment.schema[keyword]);
    const shapes = branches.map((branch, index) =>
      say(locateInside(fragment, branch, [keyword, index])),
    );
    return shapes.length === 0 ? [] : [[...new Set(shapes)].join(' or ')];
  });
}

/** Apart from what stands beside it. */
function inParentheses(words: string): string {
  return / (or|and) /.test(words) && !/^(object|array) .*[}\])]$/.test(words)
    ? `(${words})`
    : words;
}

// Says in words what holds in one of several cases, where the upstream's schema has no place for it.

/** Adds what a case demands beyond the rest, such as `if kind is "a": needs path`. */
export function addCase(
  summary: SchemaSummary,
  when: string | undefined,
  words: readonly string[],
): void {
  if (words.length > 0) summary.hint(`${when ?? 'in some cases'}: ${words.join(', ')}`);
}

/** What a case says of the object as a whole; its properties are declared. */
export function objectWords(outer: SchemaSummary, branch: SchemaSummary): string[] {
  const { enumeration, limits, exclusive, descriptions, hints } = branch;
  const words: string[] = [];
  if (enumeration !== undefined) {
    const { values } = enumeration;
    words.push(values.length === 1 ? describeList(values) : `one of ${describeList(values)}`);
  }
  const needed = [...branch.required.keys()].filter((name) => !outer.required.has(name));
  if (needed.length > 0) words.push(`needs ${needed.join(' and ')}`);
  for (const [name, { value }] of limits) words.push(describeLimit(name, value));
  const above = exclusive.get('minimum');
  const below = exclusive.get('maximum');
  if (above !== undefined) words.push(`more than ${above.value}`);
  if (below !== undefined) words.push(`less than ${below.value}`);
  return [...words, ...descriptions, ...hints];
}

/** What a case says of a value that is declared without it. */
export function allWords(outer: SchemaSummary, branch: SchemaSummary): string[] {
  const { types, properties, recursionNote, format } = branch;
  const words: string[] = [];
  const isNarrower = types !== undefined && types.join() !== outer.types?.join();
  if (isNarrower && branch.enumeration === undefined) words.push(types.join(' or '));
  if (properties.size > 0) words.push(describeMembers([...properties.keys()]));
  if (recursionNote !== undefined) words.push(recursionNote);
  if (format !== undefined) words.push(`format ${format.name}`);
  return [...words, ...objectWords(outer, branch)];
}
