// Strict readers for single fields of a client's body; each protocol words the refusal itself.

import { memberPath } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../lib/json.ts';

type FieldType = 'string' | 'boolean' | 'object' | 'array';

/** Bounds of a number; both ends are allowed values. */
export interface NumberRange {
  readonly min?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

export type NumberFault = 'not-a-number' | 'too-small' | 'too-large' | 'not-an-integer';

/** The 400 of a protocol for what can be wrong with a field. */
export interface FieldWording {
  wrongType(path: string, expected: FieldType): Error;
  wrongNumber(path: string, fault: NumberFault, range: NumberRange): Error;
}

type ReadField<Value> = (object: JsonObject, key: string, parent?: string) => Value | undefined;

/**
 * In all readers null means absent, as it does for the protocols' optional fields. `parent` is the
 * path of the object, '' for the body itself. @throws the wording's errors.
 */
export interface FieldReader {
  readonly string: ReadField<string>;
  readonly boolean: ReadField<boolean>;
  readonly object: ReadField<JsonObject>;
  readonly array: ReadField<readonly JsonValue[]>;
  /** A finite number at `path`; an integer is one a double holds exactly. */
  number(value: JsonValue | undefined, path: string, range: NumberRange): number | undefined;
}

export function createFieldReader(wording: FieldWording): FieldReader {
  const reader =
    <Value extends JsonValue>(
      type: FieldType,
      isType: (value: JsonValue) => value is Value,
    ): ReadField<Value> =>
    (object, key, parent = '') => {
      const value = object[key];
      if (value === undefined || value === null) return undefined;
      if (!isType(value)) throw wording.wrongType(memberPath(parent, key), type);
      return value;
    };
  return {
    string: reader('string', (value) => typeof value === 'string'),
    boolean: reader('boolean', (value) => typeof value === 'boolean'),
    object: reader('object', isJsonObject),
    array: reader('array', (value) => Array.isArray(value)),
    number(value, path, range) {
      if (value === undefined || value === null) return undefined;
      const number = readNumber(value);
      const fault = findNumberFault(number, range);
      if (fault !== undefined) throw wording.wrongNumber(path, fault, range);
      return number;
    },
  };
}

function findNumberFault(
  number: number | undefined,
  { min, max, integer }: NumberRange,
): NumberFault | undefined {
  if (number === undefined) return 'not-a-number';
  if (min !== undefined && number < min) return 'too-small';
  if (max !== undefined && number > max) return 'too-large';
  if (integer === true && !Number.isSafeInteger(number)) return 'not-an-integer';
  return Number.isFinite(number) ? undefined : 'not-a-number';
}

/**
 * What a value may hold. A shape also stands for each item of a list of such values; values that are
 * no objects have no fields and fit every shape.
 */
export type Shape = ObjectShape | TaggedShape | typeof ANYTHING;

interface ObjectShape {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, Shape>;
}

interface TaggedShape {
  readonly kind: 'tagged';
  readonly key: string;
  readonly shapes: ReadonlyMap<string, Shape>;
  readonly otherwise: Shape;
}

/** Not looked into: free objects, and what a reader refuses or tells as a whole. */
export const ANYTHING = { kind: 'anything' } as const;

/** An object with these fields; those in `nested` are looked into themselves. */
export function objectShape(
  fields: readonly string[],
  nested: Readonly<Record<string, Shape>> = {},
): ObjectShape {
  const plain = fields.map((field) => [field, ANYTHING] as const);
  return { kind: 'object', fields: new Map<string, Shape>([...plain, ...Object.entries(nested)]) };
}

/** An object whose shape is told by the word at `key`; other words, and none, mean `otherwise`. */
export function taggedShape(
  key: string,
  shapes: Readonly<Record<string, Shape>>,
  otherwise: Shape = ANYTHING,
): TaggedShape {
  return { kind: 'tagged', key, shapes: new Map(Object.entries(shapes)), otherwise };
}

/** An object shape with fields of its own beside those of another. */
export function extendShape(
  base: ObjectShape,
  fields: readonly string[],
  nested: Readonly<Record<string, Shape>> = {},
): ObjectShape {
  return {
    kind: 'object',
    fields: new Map([...base.fields, ...objectShape(fields, nested).fields]),
  };
}

export interface ShapeCheck {
  readonly shape: Shape;
  /** Path of the value; '' for the body. */
  readonly path: string;
  /** Told the path of each field outside the shape that says something. */
  readonly note: (path: string) => void;
}

/**
 * One look-up a field, and paths only where one is unknown: cheap enough for every object of a long
 * conversation.
 */
export function noteUnknownFields(value: JsonValue | undefined, check: ShapeCheck): void {
  if (!fits(value, check.shape)) noteIn(value, check);
}

function fits(value: JsonValue | undefined, shape: Shape): boolean {
  if (typeof value !== 'object' || value === null || shape.kind === 'anything') return true;
  if (Array.isArray(value)) {
    for (const item of value) if (!fits(item, shape)) return false;
    return true;
  }
  if (shape.kind === 'tagged') return fits(value, shapeOfTag(value, shape));
  for (const key in value) {
    const known = shape.fields.get(key);
    if (known === undefined) return false;
    if (known !== ANYTHING && !fits(value[key], known)) return false;
  }
  return true;
}

function noteIn(value: JsonValue | undefined, { shape, path, note }: ShapeCheck): void {
  if (typeof value !== 'object' || value === null || shape.kind === 'anything') return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      noteIn(item, { shape, path: `${path}[${index}]`, note });
    }
    return;
  }
  if (shape.kind === 'tagged') {
    noteIn(value, { shape: shapeOfTag(value, shape), path, note });
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    const known = shape.fields.get(key);
    const at = memberPath(path, key);
    if (known !== undefined) noteIn(member, { shape: known, path: at, note });
    else if (!saysNothing(member)) note(at);
  }
}

function shapeOfTag(object: JsonObject, { key, shapes, otherwise }: TaggedShape): Shape {
  const tag = object[key];
  return (typeof tag === 'string' ? shapes.get(tag) : undefined) ?? otherwise;
}

/** Absent, null, false and empty values ask for nothing, and neither does an object that holds no others. */
export function saysNothing(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.values(value).every(saysNothing);
}
