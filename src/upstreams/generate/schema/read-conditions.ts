// Reads what holds in some cases only: `if` with its branches, and what depends on a property.

import { told } from '../../../canonical/receipt.ts';
import { isJsonObject, type JsonValue } from '../../../lib/json.ts';
import { typeOfValues } from './enumeration.ts';
import { ANYTHING, type NodeSource, sourceOf } from './facets.ts';
import { sayCondition, sayValue } from './plain-words.ts';
import {
  type KeywordInput,
  type KeywordReader,
  noteRepaired,
  sayInstead,
} from './read-constraints.ts';
import { locateInside } from './schema-document.ts';

export const CONDITION_READERS: readonly (readonly [string, KeywordReader])[] = [
  ['dependentRequired', readDependencies],
  ['dependentSchemas', readDependencies],
  ['dependencies', readDependencies],
  ['if', readCondition],
];

/** One side of a condition, and when it holds. */
interface Case {
  readonly when: string;
  readonly source: NodeSource;
}

function readDependencies(input: KeywordInput): void {
  const { facets, keyword, value, fragment } = input;
  if (!isJsonObject(value)) {
    noteRepaired(input, told`not an object`);
    return;
  }
  facets.impliedType ??= 'object';
  for (const [name, needed] of Object.entries(value)) {
    if (Array.isArray(needed)) {
      sayInstead(input, `${sayValue(name)} needs ${needed.map(sayValue).join(', ')}`);
      continue;
    }
    const source = sourceOf(locateInside(fragment, needed, [keyword, name]));
    addCases(input, [
      { when: `if ${sayValue(name)} is given`, source },
      { when: `unless ${sayValue(name)} is given`, source: ANYTHING },
    ]);
  }
}

function readCondition(input: KeywordInput): void {
  const { facets, value, fragment } = input;
  if (!isJsonObject(fragment.schema)) return;
  if (isJsonObject(value) && ('properties' in value || 'required' in value)) {
    facets.impliedType ??= 'object';
  }
  const side = (keyword: 'then' | 'else', schema: JsonValue | undefined): NodeSource =>
    schema === undefined ? ANYTHING : sourceOf(locateInside(fragment, schema, [keyword]));
  const { then: thenSchema, else: elseSchema } = fragment.schema;
  if (thenSchema === undefined && elseSchema === undefined) return;
  askAbout(input);
  const words = sayCondition(value);
  const cases: Case[] = [];
  if (value !== false) cases.push({ when: `if ${words}`, source: side('then', thenSchema) });
  if (!isAlways(value)) cases.push({ when: `unless ${words}`, source: side('else', elseSchema) });
  addCases(input, cases);
}

/** What a condition asks about can be given, though nothing else may declare it. */
function askAbout({ facets, value, fragment }: KeywordInput): void {
  const properties = isJsonObject(value) ? value.properties : undefined;
  for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    const asked = locateInside(fragment, typeAlone(schema), ['if', 'properties', name]);
    facets.asked.set(name, sourceOf(asked));
  }
}

/** What kind of value a schema means, whatever else it demands of it. */
function typeAlone(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return true;
  const { const: constant, enum: values, type } = schema;
  const listed = constant === undefined ? values : [constant];
  const named = type ?? (Array.isArray(listed) ? typeOfValues(listed) : undefined);
  return named === undefined ? true : { type: named };
}

function isAlways(schema: JsonValue): boolean {
  return schema === true || (isJsonObject(schema) && Object.keys(schema).length === 0);
}

function addCases(input: KeywordInput, cases: readonly Case[]): void {
  input.facets.choices.push({
    branches: cases.map(({ source }) => source),
    cases: cases.map(({ when }) => when),
    keyword: 'conditional',
    path: input.path,
  });
  if (cases.length > 1)
    input.cleaning.note('approximated', input.path, told`said in the description`);
}
