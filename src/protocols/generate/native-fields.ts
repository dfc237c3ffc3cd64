// Typed access to members of a normalised body; a member of another type counts as absent.

import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { isJsonObject } from '../../lib/json.ts';

export function textAt(owner: JsonObject | undefined, key: string): string | undefined {
  const value = owner?.[key];
  return typeof value === 'string' ? value : undefined;
}

export function numberAt(owner: JsonObject | undefined, key: string): number | undefined {
  const value = owner?.[key];
  return typeof value === 'number' ? value : undefined;
}

export function booleanAt(owner: JsonObject | undefined, key: string): boolean | undefined {
  const value = owner?.[key];
  return typeof value === 'boolean' ? value : undefined;
}

export function objectAt(owner: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = owner?.[key];
  return isJsonObject(value) ? value : undefined;
}

function listAt(owner: JsonObject | undefined, key: string): readonly JsonValue[] {
  const value = owner?.[key];
  return Array.isArray(value) ? value : [];
}

export function objectsAt(owner: JsonObject | undefined, key: string): readonly JsonObject[] {
  return listAt(owner, key).filter(isJsonObject);
}

export function textsAt(owner: JsonObject | undefined, key: string): readonly string[] {
  return listAt(owner, key).filter((value) => typeof value === 'string');
}
