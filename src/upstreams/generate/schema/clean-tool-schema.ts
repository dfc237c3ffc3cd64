// Turns the JSON Schema of a tool's input into the subset the upstream takes as `parameters`.

import { MAP_ARGUMENT } from '../../../canonical/map-argument.ts';
import { told } from '../../../canonical/receipt.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { settleChoices } from './choices.ts';
import { addHint, type Cleaning, createFacets, type Facets, type SchemaForm } from './facets.ts';
import { finishNode, freezeNode } from './finish-node.ts';
import { gatherSource } from './gather.ts';
import { typeField } from './node-fields.ts';
import { composeDescription, sayJson, sayLimit } from './plain-words.ts';
import { type CleanOptions, createSchemaMemo } from './schema-memo.ts';
import { writeMapFields, writeObjectFields } from './write-node.ts';
import { otherNames, writeText } from './write-stand-in.ts';

export interface ToolInput {
  readonly form: SchemaForm;
  /** An object with at least one property; undefined for a function declared without parameters. */
  readonly parameters: JsonObject | undefined;
  /** What belongs into the description of the function itself, as no parameter can say it. */
  readonly said: string | undefined;
  /** True where all arguments go as the JSON text of one (canonical/map-argument.ts). */
  readonly isMap: boolean;
}

const NO_INPUT: ToolInput = {
  form: 'schema',
  parameters: undefined,
  said: undefined,
  isMap: false,
};
const SHARED = { ordered: false, takesJsonSchema: false, clean: cleanRoot };

const cleanRestored = createSchemaMemo<ToolInput>({ ...SHARED, restored: true });
const cleanRelayed = createSchemaMemo<ToolInput>({ ...SHARED, restored: false });
const TYPED = { ...SHARED, takesJsonSchema: true };
const cleanTyped = createSchemaMemo<ToolInput>({ ...TYPED, restored: true });
const cleanRelayedTyped = createSchemaMemo<ToolInput>({ ...TYPED, restored: false });

/**
 * The input of a function declaration (generate-content `Schema`). It has no parameters for no schema,
 * `true`, `{}`, an object without properties, or no object at all. A legal schema comes back as it is;
 * what cannot be carried stands in descriptions and in the receipt. Never throws, never changes its
 * input; the result is frozen and shared.
 */
export function cleanToolSchema(
  schema: JsonObject | boolean | undefined,
  options: CleanOptions,
): ToolInput {
  return cleanWith(cleanRestored, schema, options);
}

/** The same for an upstream that takes JSON Schema as well: in that form where `Schema` has only texts. */
export function cleanTypedToolSchema(
  schema: JsonObject | boolean | undefined,
  options: CleanOptions,
): ToolInput {
  return cleanWith(cleanTyped, schema, options);
}

/** The same two for a client that is shown the calls as the upstream writes them. */
export function cleanRelayedToolSchema(schema: JsonObject, options: CleanOptions): ToolInput {
  return cleanWith(cleanRelayed, schema, options);
}

export function cleanRelayedTypedToolSchema(schema: JsonObject, options: CleanOptions): ToolInput {
  return cleanWith(cleanRelayedTyped, schema, options);
}

function cleanWith(
  clean: typeof cleanRestored,
  schema: JsonObject | boolean | undefined,
  options: CleanOptions,
): ToolInput {
  if (schema === undefined || schema === true) return NO_INPUT;
  if (isJsonObject(schema)) return clean(schema, options);
  options.receipt.add('repaired', options.path, told`not a schema`);
  return NO_INPUT;
}

function cleanRoot(cleaning: Cleaning, schema: JsonObject): ToolInput {
  const facets = createFacets('', 0);
  const refs = { pointer: '', outer: undefined };
  gatherSource(cleaning, facets, { all: [{ schema, path: '', refs, depth: 0 }], any: [] });
  settleChoices(cleaning, facets, true);
  const mayBeObject = facets.types?.includes('object') ?? true;
  if (facets.never || !mayBeObject) {
    cleaning.note('dropped', '', told`the input of a function is an object`);
    return NO_INPUT;
  }
  facets.nullable = false;
  if (cleaning.form === 'json-schema') facets.declaredNullable = undefined;
  const fields =
    writeObjectFields(cleaning, facets) ??
    (isMap(facets) ? writeMapFields(cleaning, facets) : undefined);
  if (fields !== undefined) {
    const parameters = finishNode(cleaning, facets, fields);
    return { ...NO_INPUT, form: cleaning.form, parameters };
  }
  if (!isMap(facets)) return sayRoot(facets);
  return cleaning.restored ? writeMap(cleaning, facets) : sayMap(cleaning, facets);
}

/** True for an object that means something though it declares no property. */
function isMap({ takesOthers, unexpanded, limits }: Facets): boolean {
  const least = limits.get('minProperties')?.value;
  return takesOthers || unexpanded !== undefined || Number(least ?? 0) > 0;
}

function writeMap(cleaning: Cleaning, facets: Facets): ToolInput {
  const { type } = typeField(cleaning, facets, 'object');
  const properties = { [MAP_ARGUMENT]: writeText(cleaning, facets, 'an object') };
  const parameters = freezeNode({ type, properties, required: [MAP_ARGUMENT] });
  return { ...NO_INPUT, parameters, isMap: true };
}

function sayMap(cleaning: Cleaning, facets: Facets): ToolInput {
  cleaning.losses.add('value');
  addHint(facets, facets.unexpanded ?? otherNames(cleaning, facets));
  for (const [name, { value }] of facets.limits) addHint(facets, sayLimit(name, value));
  for (const [name, value] of facets.samples) addHint(facets, `${name} ${sayJson(value)}`);
  cleaning.note('approximated', '', told`said in the description of the function`);
  return sayRoot(facets);
}

/** Words about the arguments as a whole, where there is no schema they could stand in. */
function sayRoot({ descriptions, hints }: Facets): ToolInput {
  const words = composeDescription(descriptions, hints);
  return words === '' ? NO_INPUT : { ...NO_INPUT, said: `Arguments: ${words}` };
}
