// How deep a schema may be: upstreams take JSON of 100 levels (protobuf's own limit), the request around it included.

import type { JsonValue } from '../../../lib/json.ts';

/**
 * Objects and lists around the deepest object or array that is declared. A few levels are left for the request around
 * the schema, and for the plain values below.
 */
export const MAX_LEVEL = 84;
/** Of a schema that goes as it came. */
const MOST_LEVELS = 90;

/** True for a schema that cannot go upstream as it is. */
export function isTooDeep(schema: JsonValue | undefined): boolean {
  return schema !== undefined && isDeeperThan(schema, MOST_LEVELS);
}

function isDeeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(item, levels - 1));
}
