// Completes a written node: format, limits, null and annotations, in the client's own order of keywords.

import { told } from '../../../canonical/receipt.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { addHint, type Cleaning, type Facets } from './facets.ts';
import { formatField, limitFields } from './node-fields.ts';
import { composeDescription, sayJson } from './plain-words.ts';
import { memberPath } from './schema-document.ts';
import { readTypeName } from './schema-type.ts';

/** The keywords whose values are lists or objects of their own. */
const HOLDERS = [
  'type',
  'properties',
  'required',
  'propertyOrdering',
  'enum',
  'items',
  'prefixItems',
  'anyOf',
];

const NULL_NODE: JsonObject = Object.freeze({ type: 'null' });

/** Adds format, limits and annotations to a node of one type. */
export function finishNode(cleaning: Cleaning, facets: Facets, fields: JsonObject): JsonObject {
  const type = readTypeName(fields.type ?? null);
  if (type === undefined || type === 'any') return annotate(cleaning, facets, fields);
  if (facets.unexpanded !== undefined && !facets.sentAsText) addHint(facets, facets.unexpanded);
  const added = { ...formatField(cleaning, facets, type), ...limitFields(cleaning, facets, type) };
  return annotate(cleaning, facets, { ...fields, ...added });
}

/** Adds what is said of a value beside its type. */
export function annotate(cleaning: Cleaning, facets: Facets, fields: JsonObject): JsonObject {
  if (cleaning.form === 'json-schema') return annotateJson(cleaning, facets, fields);
  const { title, declaredNullable, samples } = facets;
  const nullable = facets.nullable ? true : declaredNullable;
  const description = composeDescription(facets.descriptions, facets.hints);
  const node: JsonObject = {
    ...fields,
    ...(title === undefined ? {} : { title }),
    ...(description === '' ? {} : { description }),
    ...(nullable === undefined ? {} : { nullable }),
    ...Object.fromEntries(samples),
  };
  return inOrder(node, facets.keyOrder);
}

function annotateJson(cleaning: Cleaning, facets: Facets, fields: JsonObject): JsonObject {
  const { title, declaredNullable, samples, path } = facets;
  for (const [name, value] of samples) {
    addHint(facets, `${name} ${sayJson(value)}`);
    cleaning.note('approximated', memberPath(path, name), told`said in the description`);
  }
  const description = composeDescription(facets.descriptions, facets.hints);
  const node: JsonObject = {
    ...(facets.nullable || declaredNullable === true ? withNull(fields) : fields),
    ...(title === undefined ? {} : { title }),
    ...(description === '' ? {} : { description }),
  };
  return inOrder(node, facets.keyOrder);
}

/** A value that may be null as well: in the list of types, or as one more alternative. */
function withNull(fields: JsonObject): JsonObject {
  const { type, anyOf } = fields;
  const types = Array.isArray(type) ? type : [type];
  if (types.includes('null')) return fields;
  if (Array.isArray(anyOf)) {
    const takesNull = anyOf.some((each) => isJsonObject(each) && each.type === 'null');
    return takesNull ? fields : { ...fields, anyOf: [...anyOf, NULL_NODE] };
  }
  if (typeof type !== 'string') return fields;
  if (fields.enum !== undefined) return { anyOf: [freezeNode(fields), NULL_NODE] };
  return { ...fields, type: [type, 'null'] };
}

/** The client's own order of keywords, then ours: a legal schema leaves as it came. */
function inOrder(node: JsonObject, order: readonly string[]): JsonObject {
  const first = order.filter((key) => Object.hasOwn(node, key));
  const rest = Object.keys(node).filter((key) => !first.includes(key));
  return freezeNode(Object.fromEntries([...first, ...rest].map((key) => [key, node[key] ?? null])));
}

/** Written nodes are shared between requests, so nobody may change them. Samples are the client's own. */
export function freezeNode(node: JsonObject): JsonObject {
  for (const key of HOLDERS) Object.freeze(node[key]);
  return Object.freeze(node);
}
