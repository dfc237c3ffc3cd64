// Writes what stands for a value of which no member is declared: JSON text, or a node that leaves it open.

import { type Sentence, told } from '../../../canonical/receipt.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { addHint, type Cleaning, type Facets } from './facets.ts';
import { annotate, finishNode } from './finish-node.ts';
import { typeField } from './node-fields.ts';
import { sayJson, sayLimit } from './plain-words.ts';
import { sayShape } from './say-shape.ts';

type Undeclared = 'an object' | 'any value';

const SENT_AS_TEXT = {
  'an object': told`an object is sent as text`,
  'any value': told`any value is sent as text`,
} as const satisfies Record<Undeclared, Sentence>;

/** Texts that are no JSON come back as they are; quotes keep a text apart that looks like a number. */
const ANY_VALUE = 'any value, as JSON text: texts in quotes';

/** A value of any type: left open in JSON Schema, else a JSON text. */
export function writeAnyValue(cleaning: Cleaning, facets: Facets): JsonObject {
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
