// Tells the model an output format in words whose member names are free, where its schema cannot be sent.

import { formatInWords } from '../canonical/format-in-words.ts';
import { told } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { createSchemaReader } from './answer/schema-node.ts';
import type { Transform } from './transform.ts';

/** The answer is still asked to be JSON, and repaired by the schema as the client gave it. */
export const tellFreeFormat: Transform = (request, { receipt, capabilities }) => {
  const { outputFormat } = request;
  if (outputFormat.kind !== 'json-schema' || !isJsonObject(outputFormat.schema)) return request;
  if (capabilities.takesJsonSchema || !isMap(outputFormat.schema)) return request;
  receipt.add(
    'approximated',
    'response_format',
    told`The upstream takes no objects of free member names: the model is told the schema in words.`,
  );
  const wish = { kind: 'text', text: formatInWords(outputFormat) } as const;
  return { ...request, system: [...request.system, wish], outputFormat: { kind: 'json' } };
};

/** No type word restricts the value; its other keywords do. */
const EVERY_TYPE = 7;

/** An object, and nothing else, of which no member is declared. */
function isMap(schema: JsonObject): boolean {
  const { types, lists, objects, arrays, choices } = createSchemaReader(schema).read([schema]);
  const others = [...types].filter((type) => type !== 'object' && type !== 'null');
  const isObject = types.has('object') && others.length === 0;
  const isImplied = types.size === EVERY_TYPE && objects.length > 0 && arrays.length === 0;
  const isOpen = lists.length === 0 && choices.length === 0 && (isObject || isImplied);
  // A short list of allowed names declares them.
  const namesMembers =
    isJsonObject(schema.propertyNames) && schema.propertyNames.enum !== undefined;
  return isOpen && !namesMembers && objects.every(({ properties }) => properties.size === 0);
}
