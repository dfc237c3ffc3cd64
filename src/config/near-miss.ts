// Finds keys that are no setting's, and among them the misspelt ones: nearly a known key must not pass as an unknown one.

import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { nearestName } from '../lib/near-name.ts';
import { told } from '../lib/told.ts';
import { CONFIG_SCHEMA } from './schema.ts';

interface SectionSchema {
  readonly description?: string | undefined;
  readonly type?: string | undefined;
  readonly properties?: Readonly<Record<string, SectionSchema>> | undefined;
  /** Of sections whose keys are names of the operator's choice. */
  readonly additionalProperties?: SectionSchema | undefined;
}

/** Problems such as `proxy.auth_modf: unknown key; "auth_mode" was meant?`. */
export function findNearMisses(raw: JsonObject): string[] {
  return nearMissesIn(raw, CONFIG_SCHEMA, '');
}

/** A key that is no setting's. */
export interface UnknownKey {
  readonly path: readonly string[];
  /** What its object may have. */
  readonly known: readonly string[];
}

/** The keys of a merge patch that nothing would ever read; those it takes out are not among them. */
export function findUnknownKeys(patch: JsonObject): readonly UnknownKey[] {
  return unknownKeysIn(patch, CONFIG_SCHEMA, []);
}

function unknownKeysIn(
  section: JsonObject,
  { properties = {}, additionalProperties: each }: SectionSchema,
  path: readonly string[],
): readonly UnknownKey[] {
  return Object.entries(section).flatMap(([key, value]) => {
    if (value === null) return [];
    const inner = Object.hasOwn(properties, key) ? properties[key] : each;
    if (inner === undefined) return [{ path: [...path, key], known: Object.keys(properties) }];
    const holdsSettings =
      inner.properties !== undefined || inner.additionalProperties !== undefined;
    return isJsonObject(value) && holdsSettings ? unknownKeysIn(value, inner, [...path, key]) : [];
  });
}

function nearMissesIn(section: JsonObject, schema: SectionSchema, path: string): string[] {
  const known = schema.properties ?? {};
  const names = Object.keys(known);
  return Object.entries(section).flatMap(([key, value]) => {
    const inner = Object.hasOwn(known, key) ? known[key] : undefined;
    if (inner !== undefined) return nestedIn(value, inner, `${path}${key}.`);
    const free = names.filter((name) => !Object.hasOwn(section, name));
    const meant = nearestName(key, free);
    return meant === undefined
      ? []
      : [`${path}${key}: ${told`unknown key; was "${meant}" meant? (Its setting would be lost.)`}`];
  });
}

function nestedIn(value: JsonValue, schema: SectionSchema, path: string): string[] {
  if (!isJsonObject(value)) return [];
  const { additionalProperties: each } = schema;
  if (each !== undefined) {
    return Object.entries(value).flatMap(([name, inner]) =>
      nestedIn(inner, each, `${path}${name}.`),
    );
  }
  return schema.properties === undefined ? [] : nearMissesIn(value, schema, path);
}
