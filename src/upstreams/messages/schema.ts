// The JSON Schema this wire takes: draft 2020-12, an object at the top of a tool's input, closed objects in strict forms.

import type { Receipt } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { itemsOf, objectOf } from '../../lib/read-values.ts';
import { mapSchemas, NUMBER_BOUNDS } from '../../schema/document.ts';
import { toDraft } from '../../schema/draft.ts';

interface SchemaContext {
  readonly receipt: Receipt;
  /** Path of the schema in the client's request, such as `tools[2].input_schema`. */
  readonly path: string;
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'] as const;

/** The wire refuses other names of arguments. */
const ARGUMENT_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** The input of a tool: always an object, with no alternatives at its top (Messages API, "Tool use"). */
export function toInputSchema(
  schema: JsonObject | boolean | undefined,
  context: SchemaContext,
): JsonObject {
  if (!isJsonObject(schema)) return { type: 'object', properties: {} };
  const { type: _type, ...node } = flattenTop(toDraft(schema), context);
  const properties = isJsonObject(node.properties) ? node.properties : {};
  const fields = Object.entries(properties);
  const refused = fields.filter(([name]) => !ARGUMENT_NAME.test(name));
  const input = { type: 'object', ...node, properties };
  return refused.length === 0 ? input : tellArguments(input, Object.fromEntries(refused), context);
}

/** Arguments of names that cannot be declared: the wire refuses them in a schema, but not in a call. */
function tellArguments(
  { additionalProperties, ...input }: JsonObject,
  refused: JsonObject,
  { receipt, path }: SchemaContext,
): JsonObject {
  const reason = told`Arguments whose names the upstream refuses are described in words.`;
  receipt.add('approximated', path, reason);
  const isRefused = (name: JsonValue): boolean => Object.hasOwn(refused, String(name));
  const required = itemsOf(input.required);
  const schema = { properties: refused, required: required.filter(isRefused) };
  const properties = Object.entries(objectOf(input.properties) ?? {});
  return {
    ...withWords(
      input,
      `The input also takes what this JSON Schema says: ${JSON.stringify(schema)}`,
    ),
    properties: Object.fromEntries(properties.filter(([name]) => !isRefused(name))),
    required: required.filter((name) => !isRefused(name)),
    // A closed object would forbid them.
    ...(additionalProperties === undefined || additionalProperties === false
      ? {}
      : { additionalProperties }),
  };
}

/** Alternatives of the whole input are told in words, beside all arguments that any of them has. */
function flattenTop(node: JsonObject, { receipt, path }: SchemaContext): JsonObject {
  if (!ALTERNATIVES.some((key) => node[key] !== undefined)) return node;
  const { anyOf, oneOf, allOf, ...rest } = node;
  const given = Object.entries({ anyOf, oneOf, allOf }).filter(([, value]) => value !== undefined);
  const branches = given.flatMap(([, value]) => (Array.isArray(value) ? value : []));
  const properties: JsonObject = {};
  for (const branch of [...branches, rest]) {
    if (isJsonObject(branch) && isJsonObject(branch.properties)) {
      Object.assign(properties, branch.properties);
    }
  }
  receipt.add('approximated', path, told`Alternatives of the whole input are described in words.`);
  const words = `The input must also follow this JSON Schema: ${JSON.stringify(Object.fromEntries(given))}`;
  return { ...withWords(rest, words), properties };
}

function withWords(node: JsonObject, words: string): JsonObject {
  const before = typeof node.description === 'string' ? `${node.description}\n\n` : '';
  return { ...node, description: before + words };
}

/** What strict forms have no word for; the model is told it. Source: Messages API, "Structured outputs". */
const UNENFORCED: ReadonlySet<string> = new Set([
  ...NUMBER_BOUNDS,
  ...['minLength', 'maxLength', 'maxItems'],
]);

/**
 * The schema with every object closed and without bounds that are not enforced, which stand in descriptions
 * instead; undefined for one that cannot be closed, as the names of its members are free.
 */
export function toClosedSchema(schema: JsonObject): JsonObject | undefined {
  return closeObject(toDraft(schema));
}

/** True for a schema that is taken as it is where it is enforced. */
export function isClosed(schema: JsonObject): boolean {
  return JSON.stringify(closeObject(schema)) === JSON.stringify(schema);
}

function closeObject(schema: JsonObject): JsonObject | undefined {
  const node: JsonObject = {};
  const bounds: string[] = [];
  let isOpen = false;
  const closeInner = (inner: JsonValue): JsonValue => {
    const closed = isJsonObject(inner) ? closeObject(inner) : inner;
    isOpen ||= closed === undefined;
    return closed ?? inner;
  };
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$schema' || key === 'propertyOrdering') continue;
    if (UNENFORCED.has(key) || (key === 'minItems' && Number(value) > 1)) {
      bounds.push(`${key}: ${JSON.stringify(value)}`);
      continue;
    }
    // Members of any name are told by `hasFreeMembers`.
    const isLeft = key === 'additionalProperties';
    node[key === 'oneOf' ? 'anyOf' : key] = isLeft ? value : mapSchemas(key, value, closeInner);
  }
  if (isOpen) return undefined;
  if (describesObject(node)) {
    if (hasFreeMembers(node)) return undefined;
    node.type ??= 'object';
    node.additionalProperties = false;
  }
  if (bounds.length === 0) return node;
  return withWords(node, `{${bounds.join(', ')}}`);
}

function describesObject({ type, properties }: JsonObject): boolean {
  if (type === undefined) return properties !== undefined;
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}

/** True for an object whose further members are described, or that has no others: answers without any are right too. */
function hasFreeMembers({ properties, additionalProperties: others }: JsonObject): boolean {
  if (others === false) return false;
  if (isJsonObject(others) && Object.keys(others).length > 0) return true;
  return !isJsonObject(properties) || Object.keys(properties).length === 0;
}
