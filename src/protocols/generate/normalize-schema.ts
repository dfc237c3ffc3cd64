// Spells the Schema dialect's own keys officially; names of properties and free values stay.

import { told } from '../../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { officialSchemaKey } from '../../wire/find-generate-field.ts';
import { NUMBERED_TYPES } from '../../wire/generate-fields.ts';
import { type Place, wrongType } from './place.ts';

/** Deeper schemas than this are left as they are; no upstream takes them. */
const MAX_DEPTH = 64;

/** What some clients write for a value they do not have. */
export const UNDEFINED_TEXT = '[undefined]';

/**
 * The same schema with snake_case Schema keys in camelCase, without what stands for absent values. The value itself is returned when
 * nothing has to change, so keyword cleaning elsewhere sees what the client sent.
 * @throws GatewayError (invalid-request) when it is not an object.
 */
export function normalizeSchema(raw: JsonValue, place: Place): JsonValue {
  if (!isJsonObject(raw)) throw wrongType(place, 'a schema object');
  return spellSchema(raw, { place, depth: 0 });
}

/** Where a walk through a schema is. */
interface Walk {
  /** Of the whole schema. */
  readonly place: Place;
  readonly depth: number;
}

function spellSchema(schema: JsonValue, { place, depth }: Walk): JsonValue {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return schema;
  const present = presentEntries(schema, place);
  let changed = present.length < Object.keys(schema).length;
  const entries = present.map(([key, value]): [string, JsonValue] => {
    const name = Object.hasOwn(schema, officialSchemaKey(key)) ? key : officialSchemaKey(key);
    const spelled = spellMember(name, value, { place, depth: depth + 1 });
    changed ||= name !== key || spelled !== value;
    return [name, spelled];
  });
  return changed ? Object.fromEntries(entries) : schema;
}

function presentEntries(object: JsonObject, { path, receipt }: Place): [string, JsonValue][] {
  return Object.entries(object).filter(([key, value]) => {
    if (value !== UNDEFINED_TEXT) return true;
    receipt.add('repaired', path, told`${key}: "${UNDEFINED_TEXT}" stands for an absent value.`);
    return false;
  });
}

function spellMember(name: string, value: JsonValue, walk: Walk): JsonValue {
  switch (name) {
    case 'type':
      return typeof value === 'number' ? (NUMBERED_TYPES[value] ?? value) : value;
    case 'items':
      return spellSchema(value, walk);
    case 'anyOf':
      return Array.isArray(value) ? spellList(value, walk) : value;
    case 'properties':
      return isJsonObject(value) ? spellProperties(value, walk) : value;
    default:
      return value;
  }
}

function spellList(schemas: JsonValue[], walk: Walk): JsonValue[] {
  const spelled = schemas.map((schema) => spellSchema(schema, walk));
  return spelled.some((schema, index) => schema !== schemas[index]) ? spelled : schemas;
}

function spellProperties(properties: JsonObject, walk: Walk): JsonObject {
  const present = presentEntries(properties, walk.place);
  let changed = present.length < Object.keys(properties).length;
  const entries = present.map(([name, schema]): [string, JsonValue] => {
    const spelled = spellSchema(schema, walk);
    changed ||= spelled !== schema;
    return [name, spelled];
  });
  return changed ? Object.fromEntries(entries) : properties;
}
