// Spells the Schema dialect's own keys officially; names of properties and free values stay.

import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { officialSchemaKey } from '../../wire/generate-fields.ts';
import { type Place, wrongType } from './place.ts';

/** Deeper schemas than this are left as they are; no upstream takes them. */
const MAX_DEPTH = 64;

/**
 * The same schema with snake_case Schema keys in camelCase. The value itself is returned when
 * nothing has to change, so keyword cleaning elsewhere sees what the client sent.
 * @throws GatewayError (invalid-request) when it is not an object.
 */
export function normalizeSchema(raw: JsonValue, place: Place): JsonValue {
  if (!isJsonObject(raw)) throw wrongType(place, 'a schema object');
  return spellSchema(raw, 0);
}

function spellSchema(schema: JsonValue, depth: number): JsonValue {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return schema;
  let changed = false;
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    const name = Object.hasOwn(schema, officialSchemaKey(key)) ? key : officialSchemaKey(key);
    const spelled = spellMember(name, value, depth + 1);
    changed ||= name !== key || spelled !== value;
    return [name, spelled];
  });
  return changed ? Object.fromEntries(entries) : schema;
}

function spellMember(name: string, value: JsonValue, depth: number): JsonValue {
  switch (name) {
    case 'items':
      return spellSchema(value, depth);
    case 'anyOf':
      return Array.isArray(value) ? spellList(value, depth) : value;
    case 'properties':
      return isJsonObject(value) ? spellProperties(value, depth) : value;
    default:
      return value;
  }
}

function spellList(schemas: JsonValue[], depth: number): JsonValue[] {
  const spelled = schemas.map((schema) => spellSchema(schema, depth));
  return spelled.some((schema, index) => schema !== schemas[index]) ? spelled : schemas;
}

function spellProperties(properties: JsonObject, depth: number): JsonObject {
  let changed = false;
  const entries = Object.entries(properties).map(([name, schema]): [string, JsonValue] => {
    const spelled = spellSchema(schema, depth);
    changed ||= spelled !== schema;
    return [name, spelled];
  });
  return changed ? Object.fromEntries(entries) : properties;
}
