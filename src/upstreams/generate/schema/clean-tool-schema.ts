// Turns the JSON Schema of a tool's input into the subset the upstream takes as `parameters`.

import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { settleChoices } from './choices.ts';
import { type Cleaning, createFacets } from './facets.ts';
import { gatherSource } from './gather.ts';
import { type CleanOptions, createSchemaMemo } from './schema-memo.ts';
import { finishNode, writeObjectFields } from './write-node.ts';

const cleanRemembered = createSchemaMemo({ ordered: false, nullKeyword: false, clean: cleanRoot });

/**
 * The `parameters` of a function declaration (generate-content `Schema`): an object with at least
 * one property. Undefined means the function is declared without parameters: no schema, `true`,
 * `{}`, an object without properties, or no object at all. A legal schema comes back as it is; what
 * cannot be carried stands in descriptions and in the receipt. Never throws, never changes its
 * input; the result is frozen and shared.
 */
export function cleanToolSchema(
  schema: JsonObject | boolean | undefined,
  options: CleanOptions,
): JsonObject | undefined {
  if (schema === undefined || schema === true) return undefined;
  if (isJsonObject(schema)) return cleanRemembered(schema, options);
  options.receipt.add('repaired', options.path, 'not a schema');
  return undefined;
}

function cleanRoot(cleaning: Cleaning, schema: JsonObject): JsonObject | undefined {
  const facets = createFacets('', 0);
  const refs = { pointer: '', outer: undefined };
  gatherSource(cleaning, facets, { all: [{ schema, path: '', refs, depth: 0 }], any: [] });
  settleChoices(cleaning, facets, true);
  const mayBeObject = facets.types?.includes('object') ?? true;
  if (facets.never || !mayBeObject) {
    cleaning.note('dropped', '', 'the input of a function is an object');
    return undefined;
  }
  facets.nullable = false;
  const fields = writeObjectFields(cleaning, facets);
  if (fields !== undefined) return finishNode(cleaning, facets, fields);
  const saysMore = facets.hints.length > 0 || facets.unexpanded !== undefined;
  if (saysMore || facets.otherProperties !== undefined) {
    cleaning.note('dropped', '', 'only declared properties can be carried');
  }
  return undefined;
}
