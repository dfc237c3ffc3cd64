// What differs between two JSON values, each side with its own; and between the lines of two texts.

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

interface ComparedLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Comparing takes the product of both: beyond so many lines a side, all of the middle counts as changed. */
const MAX_LINES = 1000;

/** In the order of the texts: put together, `same` and `removed` are the first and `same` and `added` the second. */
export function compareLines(left: readonly string[], right: readonly string[]): ComparedLine[] {
  const found: ComparedLine[] = [];
  const add = (kind: ComparedLine['kind'], lines: readonly string[]): void => {
    for (const text of lines) found.push({ kind, text });
  };
  const start = countSame(left, right);
  const end = countSame(left.slice(start).reverse(), right.slice(start).reverse());
  add('same', left.slice(0, start));
  compare(left.slice(start, left.length - end), right.slice(start, right.length - end), add);
  add('same', left.slice(left.length - end));
  return found;
}

function countSame(left: readonly string[], right: readonly string[]): number {
  let count = 0;
  while (count < left.length && count < right.length && left[count] === right[count]) count += 1;
  return count;
}

function compare(
  left: readonly string[],
  right: readonly string[],
  add: (kind: ComparedLine['kind'], lines: readonly string[]) => void,
): void {
  let [row, column] = [0, 0];
  if (left.length <= MAX_LINES && right.length <= MAX_LINES) {
    const common = measureCommon(left, right);
    while (row < left.length && column < right.length) {
      const isSame = left[row] === right[column];
      const isRemoved = !isSame && common(row + 1, column) >= common(row, column + 1);
      if (isSame || isRemoved) add(isSame ? 'same' : 'removed', left.slice(row, row + 1));
      else add('added', right.slice(column, column + 1));
      if (isSame || isRemoved) row += 1;
      if (!isRemoved) column += 1;
    }
  }
  add('removed', left.slice(row));
  add('added', right.slice(column));
}

/** How many lines the rests behind two places have in common, in order. */
function measureCommon(
  left: readonly string[],
  right: readonly string[],
): (row: number, column: number) => number {
  const width = right.length + 1;
  const lengths = new Uint16Array((left.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        left[row] === right[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  return at;
}
