// Gathers all fragments of one schema (siblings, `$ref`, `allOf`) into facets.

import { told } from '../../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import type { Cleaning, Facets, NodeSource } from './facets.ts';
import { sayOutline, sayValue } from './plain-words.ts';
import { CONDITION_READERS } from './read-conditions.ts';
import {
  CONSTRAINT_READERS,
  type KeywordInput,
  type KeywordReader,
  keywordPath,
  noteRepaired,
} from './read-constraints.ts';
import { STRUCTURE_READERS } from './read-structure.ts';
import { isResolving, type Located, locateInside } from './schema-document.ts';
import { readTypeName } from './schema-type.ts';

/** Deeper schemas are described, not declared. */
const MAX_DEPTH = 64;

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

const READERS: ReadonlyMap<string, KeywordReader> = new Map<string, KeywordReader>([
  ...CONSTRAINT_READERS,
  ...STRUCTURE_READERS,
  ...CONDITION_READERS,
  ['allOf', readAll],
  ['extends', readAll],
  ['$ref', readReference],
  ['$dynamicRef', readReference],
  ['$recursiveRef', readReference],
]);

/** Adds everything a source says. */
export function gatherSource(cleaning: Cleaning, facets: Facets, source: NodeSource): void {
  for (const located of source.all) gather(cleaning, facets, located);
  for (const choice of source.any) facets.choices.push(choice);
}

function gather(cleaning: Cleaning, facets: Facets, located: Located): void {
  const { schema, path } = located;
  if (schema === true) return;
  if (schema === false) {
    facets.never = true;
    return;
  }
  if (!isJsonObject(schema)) {
    cleaning.note('repaired', path, told`not a schema`);
    return;
  }
  if (!mayGather(cleaning, facets, located, schema)) return;
  if (facets.keyOrder.length === 0) facets.keyOrder = Object.keys(schema);
  const entries = Object.entries(schema);
  const last = entries.filter(([keyword]) => LAST.has(keyword));
  for (const [keyword, value] of [...entries.filter(([keyword]) => !LAST.has(keyword)), ...last]) {
    readKeyword({
      cleaning,
      facets,
      keyword,
      value,
      path: keywordPath(located, keyword),
      fragment: located,
    });
  }
}

/** Reading so many characters costs as much as reading one more keyword, name or item. */
const ENTRY_WEIGHT = 50;
/** More of them than an honest schema has in one place. */
const MANY = 100;

/** What a schema says itself, in characters: keywords, names of members, texts and listed values. */
function weightOf(schema: JsonObject): number {
  const entries = Object.entries(schema);
  let weight = manyWeight(entries.length);
  for (const [keyword, value] of entries) {
    // Bounded by itself.
    if (keyword === 'enum') continue;
    if (SAMPLES.has(keyword) || typeof value !== 'object') weight += JSON.stringify(value).length;
    else if (value !== null) {
      const { length } = Array.isArray(value) ? value : Object.keys(value);
      weight += length + manyWeight(length);
    }
  }
  return weight;
}

function manyWeight(count: number): number {
  return count > MANY ? count * ENTRY_WEIGHT : 0;
}

/** Keywords with values of any form. */
const SAMPLES = new Set(['default', 'example', 'examples', 'const']);

function mayGather(
  cleaning: Cleaning,
  facets: Facets,
  { path, depth }: Located,
  schema: JsonObject,
): boolean {
  cleaning.fragmentsLeft -= 1;
  const weight = cleaning.weights.get(schema);
  if (weight === undefined) cleaning.weights.set(schema, weightOf(schema));
  else cleaning.repeatedLeft -= weight;
  const isBounded = cleaning.fragmentsLeft >= 0 && cleaning.repeatedLeft >= 0;
  if (depth <= MAX_DEPTH && isBounded) return true;
  cleaning.losses.add('depth');
  facets.unexpanded ??= 'a value too deep to describe';
  cleaning.note(
    'approximated',
    path,
    depth > MAX_DEPTH ? told`deeper than ${MAX_DEPTH} levels` : told`the schema unfolds too far`,
  );
  return false;
}

function readKeyword(input: KeywordInput): void {
  const { keyword, value } = input;
  const reader = READERS.get(keyword);
  if (reader === undefined) {
    if (!SILENT.has(keyword)) input.cleaning.note('dropped', input.path, told`unknown keyword`);
  } else if (value === null && keyword !== 'const' && keyword !== 'default') {
    noteRepaired(input, told`null is no value here`);
  } else {
    reader(input);
  }
}

function readAll(input: KeywordInput): void {
  const { cleaning, facets, fragment, keyword, value } = input;
  const parts = Array.isArray(value) ? value : [value];
  for (const [index, schema] of parts.entries()) {
    gather(cleaning, facets, locateInside(fragment, schema, [keyword, index]));
  }
}

function readReference(input: KeywordInput): void {
  const { cleaning, facets, fragment, value, path } = input;
  if (typeof value !== 'string') {
    noteRepaired(input, told`not a text`);
    return;
  }
  const target = cleaning.document.resolve(value);
  if (target === undefined) {
    facets.unexpanded ??= `what ${sayValue(value)} defines`;
    cleaning.note('approximated', path, told`the reference leads out of the schema`);
    return;
  }
  if (isResolving(fragment.refs, target.pointer)) {
    facets.unexpanded ??= recursionWords(target.pointer, target.schema);
    if (cleaning.form === 'json-schema' && isObjectSchema(target.schema))
      facets.types ??= ['object'];
    cleaning.note('approximated', path, told`the recursion is not unfolded`);
    return;
  }
  gather(cleaning, facets, {
    schema: target.schema,
    path: target.path,
    refs: { pointer: target.pointer, outer: fragment.refs },
    depth: fragment.depth + 1,
  });
}

function isObjectSchema(schema: JsonValue): boolean {
  return isJsonObject(schema) && readTypeName(schema.type ?? null) === 'object';
}

function recursionWords(pointer: string, schema: JsonValue): string {
  const name = pointer.split('/').at(-1);
  const shape = sayOutline(isJsonObject(schema) ? withoutReference(schema) : schema);
  return name === undefined || name === ''
    ? 'the whole again'
    : `one more ${sayValue(name)}: ${shape}`;
}

function withoutReference(schema: JsonObject): JsonObject {
  const { $ref: _reference, ...rest } = schema;
  return rest;
}
