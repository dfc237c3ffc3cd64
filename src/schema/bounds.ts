// The bounds of a JSON Schema as draft 2020-12 writes them, whatever dialect they came in.

import { isRawNumber, type JsonObject, type JsonValue } from '../lib/json.ts';

export const NUMBER_BOUNDS: readonly string[] = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
];
const COUNT_BOUNDS: readonly string[] = [
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
];
const BOUNDS: ReadonlySet<string> = new Set([...NUMBER_BOUNDS, ...COUNT_BOUNDS]);

export function isBound(key: string): boolean {
  return BOUNDS.has(key);
}

/** Under which name a bound is written, and its value; undefined for one without a meaning. */
export function writeBound(
  key: string,
  value: JsonValue,
  schema: JsonObject,
): readonly [name: string, value: JsonValue] | undefined {
  if (COUNT_BOUNDS.includes(key)) {
    const count = numberOf(value);
    const isCount = count !== undefined && Number.isInteger(count) && count >= 0;
    return isCount ? [key, count] : undefined;
  }
  // Up to draft 4 an exclusive bound was a flag beside the bound.
  if (typeof value === 'boolean') return undefined;
  const bound = numberOf(value);
  if (bound === undefined) return isRawNumber(value) ? [key, value] : undefined;
  const exclusive = EXCLUSIVE.get(key);
  const isFlagged = exclusive !== undefined && schema[exclusive] === true;
  return [isFlagged ? exclusive : key, bound];
}

const EXCLUSIVE: ReadonlyMap<string, string> = new Map([
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
]);

/** Generate-content clients write counts as texts: they are of 64 bits there. */
function numberOf(value: JsonValue): number | undefined {
  if (typeof value === 'number') return value;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
