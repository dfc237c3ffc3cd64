// Reads the keywords that hold sub-schemas: properties, items, choices.

import { told } from '../../../canonical/receipt.ts';
import { isJsonObject } from '../../../lib/json.ts';
import { addProperty, joinSources, sourceOf } from './facets.ts';
import { sayForbidden, sayValue } from './plain-words.ts';
import {
  type KeywordInput,
  type KeywordReader,
  noteRepaired,
  sayInstead,
} from './read-constraints.ts';
import { sayShape } from './say-shape.ts';
import { locateInside } from './schema-document.ts';

/** Longer lists of property names are said instead of declared. */
const MAX_NAMED_KEYS = 200;

export const STRUCTURE_READERS: readonly (readonly [string, KeywordReader])[] = [
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
  const { facets, value, fragment } = input;
  if (!isJsonObject(value)) {
    noteRepaired(input, told`not an object`);
    return;
  }
  facets.impliedType ??= 'object';
  for (const [name, schema] of Object.entries(value)) {
    addProperty(facets, name, sourceOf(locateInside(fragment, schema, ['properties', name])));
    // Draft 3 marks the property itself.
    if (isJsonObject(schema) && schema.required === true) facets.required.set(name, input.path);
  }
}

function readRequired(input: KeywordInput): void {
  const { facets, value, path } = input;
  if (typeof value === 'boolean') return;
  if (!Array.isArray(value)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  facets.impliedType ??= 'object';
  for (const [index, name] of value.entries()) {
    if (typeof name === 'string') facets.required.set(name, `${path}[${index}]`);
    else input.cleaning.note('repaired', `${path}[${index}]`, told`not a name`);
  }
}

function readOtherProperties(input: KeywordInput): void {
  const { facets, keyword, value, fragment } = input;
  if (value === true) {
    // Beside a list of properties it only says that more of them are no error.
    facets.takesOthers ||=
      isJsonObject(fragment.schema) && fragment.schema.properties === undefined;
    return;
  }
  facets.impliedType ??= 'object';
  // No loss, so no note: the model writes only what it is told of, and is told of nothing more.
  if (value === false) {
    facets.isClosed = true;
    return;
  }
  if (!isJsonObject(value)) {
    noteRepaired(input, told`not a schema`);
    return;
  }
  facets.otherProperties ??= locateInside(fragment, value, [keyword]);
  facets.takesOthers = true;
}

function readPatternProperties(input: KeywordInput): void {
  if (!isJsonObject(input.value)) {
    noteRepaired(input, told`not an object`);
    return;
  }
  const { facets, fragment, keyword } = input;
  facets.impliedType ??= 'object';
  const patterns = Object.entries(input.value);
  for (const [pattern, schema] of patterns) {
    facets.takesOthers = true;
    if (patterns.length === 1 && isWholeMap(input)) {
      facets.otherProperties ??= locateInside(fragment, schema, [keyword, pattern]);
    }
    const shape = sayShape(input.cleaning, locateInside(fragment, schema, [keyword, pattern]));
    sayInstead(input, `properties matching ${sayValue(pattern)}: ${shape}`);
  }
}

/** True where the members of one name pattern are all that JSON Schema has to tell of. */
function isWholeMap({ cleaning, fragment: { schema } }: KeywordInput): boolean {
  if (cleaning.form !== 'json-schema' || !isJsonObject(schema)) return false;
  return (schema.additionalProperties ?? false) === false;
}

/** A short list of allowed names declares them; anything else is said. */
function readPropertyNames(input: KeywordInput): void {
  const { facets, value, fragment } = input;
  facets.impliedType ??= 'object';
  if (!isJsonObject(value) || !isJsonObject(fragment.schema)) return;
  const names = Array.isArray(value.enum) ? value.enum : [];
  const declared = isJsonObject(fragment.schema.properties) ? fragment.schema.properties : {};
  const others = fragment.schema.additionalProperties ?? true;
  if (names.length > 0 && names.length <= MAX_NAMED_KEYS && others !== false) {
    facets.hasListedNames = true;
    for (const name of names) {
      if (typeof name !== 'string' || Object.hasOwn(declared, name)) continue;
      addProperty(facets, name, sourceOf(locateInside(fragment, others, ['additionalProperties'])));
    }
    return;
  }
  facets.takesOthers ||= others !== false;
  // Names are texts, so this says nothing.
  if (value.type === 'string' && Object.keys(value).length === 1) return;
  const words = typeof value.pattern === 'string' ? `match ${sayValue(value.pattern)}` : undefined;
  const shape = sayShape(input.cleaning, locateInside(fragment, value, [input.keyword]));
  sayInstead(input, `property names: ${words ?? shape}`);
}

function readItems(input: KeywordInput): void {
  if (Array.isArray(input.value)) {
    readTuple(input);
    return;
  }
  const { facets, fragment, keyword, value } = input;
  facets.impliedType ??= 'array';
  facets.items = joinSources(facets.items, sourceOf(locateInside(fragment, value, [keyword])));
}

function readTuple(input: KeywordInput): void {
  const { facets, fragment, keyword, value, path } = input;
  if (!Array.isArray(value)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  facets.impliedType ??= 'array';
  if (facets.tuple !== undefined) {
    input.cleaning.note('dropped', path, told`a second list of positions`);
    return;
  }
  facets.tuple = value.map((schema, index) => locateInside(fragment, schema, [keyword, index]));
}

/** Items after the listed positions; without such positions the keyword has no effect. */
function readFurtherItems(input: KeywordInput): void {
  const { facets, fragment, keyword, value } = input;
  if (!isJsonObject(fragment.schema)) return;
  const { items, prefixItems } = fragment.schema;
  const applies = Array.isArray(items) || (Array.isArray(prefixItems) && items === undefined);
  if (applies && typeof value !== 'string') {
    facets.items = joinSources(facets.items, sourceOf(locateInside(fragment, value, [keyword])));
  }
}

function readContained(input: KeywordInput): void {
  const { cleaning, fragment, keyword, value } = input;
  const shape = sayShape(cleaning, locateInside(fragment, value, [keyword]));
  sayInstead(input, `contains ${shape}`);
}

/** `not: {}` is how some libraries write that there is no value at all. */
function readForbidden(input: KeywordInput): void {
  const { facets, value } = input;
  if (value === false) return;
  if (value === true || (isJsonObject(value) && Object.keys(value).length === 0)) {
    facets.never = true;
  } else sayInstead(input, sayForbidden(value));
}

function readChoice(input: KeywordInput): void {
  const { facets, fragment, keyword, value, path } = input;
  if (!Array.isArray(value)) {
    noteRepaired(input, told`not a list`);
    return;
  }
  if (value.length === 0) {
    noteRepaired(input, told`an empty list allows nothing`);
    return;
  }
  facets.choices.push({
    branches: value.map((schema, index) =>
      sourceOf(locateInside(fragment, schema, [keyword, index])),
    ),
    keyword: keyword === 'oneOf' ? 'oneOf' : 'anyOf',
    path,
  });
}
