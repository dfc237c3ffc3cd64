// The defaults a tool's schema declares (JSON Schema, "default"), which clients fill in where the model left members out.

import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import type { Tool } from './request.ts';

/** What the client declares of the arguments of a function; undefined for what is none, or says nothing. */
export function argumentSchema(tools: readonly Tool[], name: string): JsonValue | undefined {
  const tool = tools.find((one) => one.kind === 'function' && one.name === name);
  return tool?.kind === 'function' ? tool.parameters : undefined;
}

/** True where a client may add members to arguments without saying anything else by it. */
export function declaresDefaults(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema)) return false;
  return [...Object.values(propertiesOf(schema)), schema.items].some(
    (member) => isJsonObject(member) && (member.default !== undefined || declaresDefaults(member)),
  );
}

/** True where `returned` is `written`, but for members that were left out and have their defaults now. */
export function isFilledIn(
  returned: JsonValue,
  written: JsonValue,
  schema: JsonValue | undefined,
): boolean {
  if (isDeepStrictEqual(returned, written)) return true;
  if (!isJsonObject(schema)) return false;
  if (isJsonObject(returned) && isJsonObject(written)) {
    return hasDefaultsBeside(returned, written, propertiesOf(schema));
  }
  if (!Array.isArray(returned) || !Array.isArray(written)) return false;
  const { items } = schema;
  return (
    returned.length === written.length &&
    returned.every((item, index) => isFilledIn(item, written[index] ?? null, items))
  );
}

function hasDefaultsBeside(
  returned: JsonObject,
  written: JsonObject,
  properties: JsonObject,
): boolean {
  if (Object.keys(written).some((name) => !Object.hasOwn(returned, name))) return false;
  return Object.entries(returned).every(([name, value]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const meant = Object.hasOwn(written, name) ? written[name] : defaultOf(schema);
    return meant !== undefined && isFilledIn(value, meant, schema);
  });
}

function defaultOf(schema: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(schema) ? schema.default : undefined;
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}
