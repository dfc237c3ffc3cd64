// What differs between two JSON values, each side with its own.

import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';

interface Difference {
  /** Undefined where there was nothing. */
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/**
 * Of objects only the fields that are not alike; entries of lists that have ids are compared by those.
 * Both sides are undefined when nothing differs.
 */
export function differenceOf(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): Difference {
  if (JSON.stringify(before) === JSON.stringify(after))
    return { before: undefined, after: undefined };
  const [from, to] = [byId(before), byId(after)];
  if (!isJsonObject(from) || !isJsonObject(to)) return { before, after };
  const sides: Readonly<Record<keyof Difference, JsonObject>> = { before: {}, after: {} };
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const inner = differenceOf(fieldOf(from, name), fieldOf(to, name));
    if (inner.before !== undefined) setField(sides.before, name, inner.before);
    if (inner.after !== undefined) setField(sides.after, name, inner.after);
  }
  return sides;
}

function fieldOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Also one that is called `__proto__`. */
function setField(object: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/** Of objects within objects, with dots: names alone. */
export function fieldNames(value: JsonValue | undefined, prefix = ''): readonly string[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    isJsonObject(inner) && Object.keys(inner).length > 0
      ? fieldNames(inner, `${prefix}${name}.`)
      : [`${prefix}${name}`],
  );
}

/** A list whose entries all have ids, as an object by them; anything else as it is. */
function byId(value: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(value)) return value;
  const object: JsonObject = {};
  for (const item of value) {
    if (!isJsonObject(item) || typeof item.id !== 'string') return value;
    setField(object, item.id, item);
  }
  return object;
}
