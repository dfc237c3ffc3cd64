// A short name for what a body asks, so that the same request is known again; never a promise that two are equal.

import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';

/** Whatever the size of the body, so much of it is looked at. */
const MAX_NODES = 4_000;
/** Of a list the first and the last: conversations differ at their end. */
const MAX_ENDS = 20;
const MAX_TEXT = 200;

export function fingerprintOf(body: JsonObject): string {
  const hash = createHash('sha256');
  let nodes = 0;
  const walk = (value: JsonValue | undefined): void => {
    nodes += 1;
    if (nodes > MAX_NODES) return;
    if (Array.isArray(value)) {
      hash.update(`[${value.length}`);
      for (const item of endsOf(value)) walk(item);
    } else if (isJsonObject(value)) {
      hash.update('{');
      for (const [key, field] of Object.entries(value)) {
        hash.update(key.slice(0, MAX_TEXT));
        walk(field);
      }
    } else hash.update(textOf(value));
  };
  walk(body);
  return hash.digest('base64url').slice(0, 22);
}

/** The last ones first, as they are what differs. */
function endsOf(items: readonly JsonValue[]): readonly JsonValue[] {
  if (items.length <= 2 * MAX_ENDS) return items;
  return [...items.slice(-MAX_ENDS), ...items.slice(0, MAX_ENDS)];
}

function textOf(value: JsonValue | undefined): string {
  const text = String(value);
  if (text.length <= 2 * MAX_TEXT) return `${text.length}:${text}`;
  return `${text.length}:${text.slice(0, MAX_TEXT)}${text.slice(-MAX_TEXT)}`;
}
