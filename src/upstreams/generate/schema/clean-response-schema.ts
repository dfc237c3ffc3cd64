// Turns the JSON Schema of a structured answer into the subset the upstream takes as `responseSchema`.

import { told } from '../../../canonical/receipt.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import type { WireGenerationConfig } from '../../../wire/generate.ts';
import type { Optional } from '../defined.ts';
import { type Cleaning, createFacets, type Facets } from './facets.ts';
import { gatherSource } from './gather.ts';
import { type CleanOptions, createSchemaMemo } from './schema-memo.ts';
import { writeNode } from './write-node.ts';

/** One of the two fields, by the form the schema is written in. */
export type ResponseSchema = Pick<
  Optional<WireGenerationConfig>,
  'responseSchema' | 'responseJsonSchema'
>;

const SHARED = { ordered: true, takesJsonSchema: false, clean: cleanRoot };

const cleanRestored = createSchemaMemo({ ...SHARED, restored: true });
const cleanRelayed = createSchemaMemo({ ...SHARED, restored: false });
const TYPED = { ...SHARED, takesJsonSchema: true, clean: cleanInForm };
const cleanTyped = createSchemaMemo({ ...TYPED, restored: true });
const cleanRelayedTyped = createSchemaMemo({ ...TYPED, restored: false });

/**
 * The `responseSchema` of a request (generate-content `Schema`), with `propertyOrdering` so that
 * the answer keeps the client's order. Undefined means that no schema can be sent because any JSON
 * is allowed (`true`, `{}`, an object without declared properties): send the JSON media type alone.
 * Never throws, never changes its input; the result is frozen and shared.
 */
export function cleanResponseSchema(
  schema: JsonObject | boolean,
  options: CleanOptions,
): JsonObject | undefined {
  if (schema === true) return undefined;
  if (isJsonObject(schema)) return cleanRestored(schema, options);
  options.receipt.add('repaired', options.path, told`not a schema`);
  return undefined;
}

/** The same for an upstream that takes JSON Schema as well: in that form where `Schema` has only texts. */
export function cleanTypedResponseSchema(
  schema: JsonObject,
  options: CleanOptions,
): ResponseSchema {
  return cleanTyped(schema, options);
}

/** The same two for a client that is shown the answer as the upstream writes it. */
export function cleanRelayedResponseSchema(
  schema: JsonObject,
  options: CleanOptions,
): JsonObject | undefined {
  return cleanRelayed(schema, options);
}

export function cleanRelayedTypedResponseSchema(
  schema: JsonObject,
  options: CleanOptions,
): ResponseSchema {
  return cleanRelayedTyped(schema, options);
}

function cleanInForm(cleaning: Cleaning, schema: JsonObject): ResponseSchema {
  const node = cleanRoot(cleaning, schema);
  return cleaning.form === 'schema' ? { responseSchema: node } : { responseJsonSchema: node };
}

function cleanRoot(cleaning: Cleaning, schema: JsonObject): JsonObject | undefined {
  const facets = createFacets('', 0);
  const refs = { pointer: '', outer: undefined };
  gatherSource(cleaning, facets, { all: [{ schema, path: '', refs, depth: 0 }], any: [] });
  const notes: Parameters<Cleaning['note']>[] = [];
  const node = writeNode({ ...cleaning, note: (...note) => notes.push(note) }, facets);
  if (node !== undefined && !isAnyValue(cleaning, facets, node)) {
    for (const note of notes) cleaning.note(...note);
    return node;
  }
  // What was noted of a text is not true of one that is not sent.
  if (Object.keys(schema).length > 0) cleaning.note('dropped', '', told`any JSON is allowed`);
  return undefined;
}

function isAnyValue({ form }: Cleaning, { sentAsText }: Facets, node: JsonObject): boolean {
  return form === 'schema' ? sentAsText : node.type === undefined && node.anyOf === undefined;
}
