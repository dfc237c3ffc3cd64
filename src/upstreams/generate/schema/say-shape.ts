// What values a schema allows, in words, for places where nothing declares them to the model.

import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import type { Cleaning } from './facets.ts';
import { ANY_SHAPE, cut, sayJson, sayList, sayOutline, sayValue } from './plain-words.ts';
import { isResolving, type Located, locateInside } from './schema-document.ts';

/** Members of members; what is deeper is said in outline. */
const MAX_DEPTH = 5;
const MAX_LENGTH = 2000;

/**
 * What a schema allows, its members and what they refer to included: `object {at: string, size?: integer}`,
 * `array of (string or null)`. A recursion is said by its name.
 */
export function sayShape(cleaning: Cleaning, located: Located): string {
  return cut(shapeOf(cleaning, located, MAX_DEPTH), MAX_LENGTH);
}

function shapeOf(cleaning: Cleaning, located: Located, depth: number): string {
  cleaning.wordsLeft -= 1;
  if (depth === 0 || cleaning.wordsLeft < 0) return sayOutline(located.schema);
  const fragments = fragmentsOf(cleaning, located);
  const whole = fragments.map(({ schema }) => valueWords(schema)).find((words) => words !== '');
  if (whole !== undefined) return whole;
  const say = (inner: Located): string => shapeOf(cleaning, inner, depth - 1);
  const own = objectWords(fragments, say) || arrayWords(fragments, say) || typeWords(fragments);
  const groups = fragments.flatMap((fragment) => choiceWords(fragment, say));
  const words = [...(own === '' ? [] : [own]), ...groups];
  const isNullable = fragments.some(
    ({ schema }) => isJsonObject(schema) && schema.nullable === true,
  );
  const shape = words.length > 1 ? words.map(inParentheses).join(' and ') : (words[0] ?? '');
  if (shape === '') return ANY_SHAPE;
  return isNullable && !shape.endsWith(' or null') ? `${shape} or null` : shape;
}

/** The schema and all that holds together with it; what it refers to stands before it. */
function fragmentsOf(cleaning: Cleaning, located: Located): readonly Located[] {
  const { schema } = located;
  if (!isJsonObject(schema) || cleaning.wordsLeft < 0) return [located];
  const { $ref: reference, allOf, ...rest } = schema;
  const parts = Array.isArray(allOf) ? allOf : [];
  return [
    ...(typeof reference === 'string' ? targetsOf(cleaning, reference, located) : []),
    ...parts.flatMap((part, index) => {
      cleaning.wordsLeft -= 1;
      return fragmentsOf(cleaning, locateInside(located, part, ['allOf', index]));
    }),
    { ...located, schema: rest },
  ];
}

function targetsOf(
  cleaning: Cleaning,
  reference: string,
  { refs, depth }: Located,
): readonly Located[] {
  const target = cleaning.document.resolve(reference);
  if (target === undefined || isResolving(refs, target.pointer)) {
    return [{ schema: { $ref: reference }, path: '', refs, depth }];
  }
  cleaning.wordsLeft -= 1;
  const { schema, path, pointer } = target;
  return fragmentsOf(cleaning, { schema, path, refs: { pointer, outer: refs }, depth });
}

/** A value, a list of values, or the name of what recurs. */
function valueWords(schema: JsonValue): string {
  if (!isJsonObject(schema)) return '';
  const { const: constant, enum: values, $ref: reference } = schema;
  if (constant !== undefined) return sayJson(constant);
  if (Array.isArray(values)) return `one of ${sayList(values)}`;
  return reference === undefined ? '' : sayOutline(schema);
}

type Say = (located: Located) => string;

function objectWords(fragments: readonly Located[], say: Say): string {
  const required = new Set(fragments.flatMap(({ schema }) => listIn(schema, 'required')));
  const members: string[] = [];
  const others: string[] = [];
  for (const fragment of fragments) {
    for (const [name, schema] of schemasIn(fragment, 'properties')) {
      const mark = required.has(name) ? '' : '?';
      members.push(`${sayValue(name)}${mark}: ${say(schema)}`);
    }
    for (const [pattern, schema] of schemasIn(fragment, 'patternProperties')) {
      others.push(`matching ${sayValue(pattern)}: ${say(schema)}`);
    }
    const { additionalProperties } = isJsonObject(fragment.schema) ? fragment.schema : {};
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
function schemasIn(outer: Located, keyword: string): (readonly [string, Located])[] {
  const schemas = isJsonObject(outer.schema) ? outer.schema[keyword] : undefined;
  return Object.entries(isJsonObject(schemas) ? schemas : {}).flatMap(([name, schema]) =>
    schema === false ? [] : [[name, locateInside(outer, schema, [keyword, name])] as const],
  );
}

function arrayWords(fragments: readonly Located[], say: Say): string {
  for (const fragment of fragments) {
    if (!isJsonObject(fragment.schema)) continue;
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

function typeWords(fragments: readonly Located[]): string {
  for (const { schema } of fragments) {
    const shape =
      isJsonObject(schema) && schema.type !== undefined ? sayOutline(typeOf(schema)) : '';
    if (shape !== '' && shape !== ANY_SHAPE) return shape;
  }
  return '';
}

function typeOf({ type = null }: JsonObject): JsonObject {
  return { type };
}

function choiceWords(fragment: Located, say: Say): string[] {
  return ['anyOf', 'oneOf'].flatMap((keyword) => {
    const branches = listIn(fragment.schema, keyword);
    const shapes = branches.map((branch, index) =>
      say(locateInside(fragment, branch, [keyword, index])),
    );
    return shapes.length === 0 ? [] : [[...new Set(shapes)].join(' or ')];
  });
}

function listIn(schema: JsonValue, key: string): readonly JsonValue[] {
  const list = isJsonObject(schema) ? schema[key] : undefined;
  return Array.isArray(list) ? list : [];
}

/** Apart from what stands beside it. */
function inParentheses(words: string): string {
  return / (or|and) /.test(words) && !/^(object|array) .*[}\])]$/.test(words)
    ? `(${words})`
    : words;
}
