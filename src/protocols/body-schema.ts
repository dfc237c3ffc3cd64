// What a client's body may hold: shapes that one pass checks, which also finds fields that are not known. Each protocol
// words refusals itself.

import { memberPath } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../lib/json.ts';
import { findUrlFault } from '../lib/net.ts';

/** Bounds of a number; both ends are allowed values. */
export interface NumberRange {
  readonly min?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

type NumberFault = 'not-a-number' | 'too-small' | 'too-large' | 'not-an-integer';

export function findNumberFault(
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
 * What a value may hold. A shape also stands for each item of a list of such values where unknown fields are
 * looked for; values that are no objects have no fields and fit every shape there.
 */
export type Shape<Value = unknown> = (ValueShape | ListShape | ObjectShape | TaggedShape) & {
  /** Never set: carries the type of the values alone. */
  readonly value?: Value;
};

type ValueShape =
  | { readonly kind: 'anything' | 'boolean' | 'free' }
  | {
      readonly kind: 'string';
      readonly isFilled?: boolean | undefined;
      readonly words?: readonly string[] | undefined;
      /** Whether it names something that any server may fetch. */
      readonly isPublic?: boolean | undefined;
    }
  | { readonly kind: 'number'; readonly range: NumberRange };

interface ListShape {
  readonly kind: 'list';
  readonly items: Shape;
  /** Whether a text stands for a list of one. */
  readonly takesText: boolean;
}

interface ObjectShape {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, Shape>;
  readonly needed: readonly string[];
  /** Whether a text may stand for the object. */
  readonly takesText?: boolean;
  /** True when other fields are nobody's business. */
  readonly isOpen?: boolean;
}

interface TaggedShape {
  readonly kind: 'tagged';
  readonly key: string;
  readonly shapes: ReadonlyMap<string, Shape>;
  readonly otherwise: Shape;
}

/** Not looked into: free objects, and what a reader refuses or tells as a whole. */
export const ANYTHING: Shape<JsonValue> = { kind: 'anything' };
export const STRING: Shape<string> = { kind: 'string' };
/** A text that is not empty. */
export const FILLED: Shape<string> = { kind: 'string', isFilled: true };
/** The address of a public host. */
export const PUBLIC_URL: Shape<string> = { kind: 'string', isFilled: true, isPublic: true };
export const BOOLEAN: Shape<boolean> = { kind: 'boolean' };
/** An object that is not looked into. */
export const FREE: Shape<JsonObject> = { kind: 'free' };

export function wordOf<Word extends string>(words: readonly Word[]): Shape<Word> {
  return { kind: 'string', words };
}

/** Read with `readNumber`, as a number may be kept as its source text. */
export function numberIn(range: NumberRange): Shape<JsonValue> {
  return { kind: 'number', range };
}

export function listOf<Item>(items: Shape<Item>): Shape<readonly Item[]> {
  return { kind: 'list', items, takesText: false };
}

export function textOrListOf<Item>(items: Shape<Item>): Shape<string | readonly Item[]> {
  return { kind: 'list', items, takesText: true };
}

type Needed = { readonly isNeeded: true };

/** A field that an object cannot do without. */
export function needed<Value>(shape: Shape<Value>): Shape<Value> & Needed {
  return { ...shape, isNeeded: true };
}

/** What a value of the shape is once `checkShape` has seen it; null stands for an absent field. */
export type ValueOf<Of> = Of extends { readonly value?: infer Value }
  ? Exclude<Value, undefined>
  : never;

export type ShapesByName = Readonly<Record<string, Shape>>;

type NeededIn<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends Needed ? Name : never;
}[keyof Fields];

type ObjectOf<Fields, Known extends string = never> = {
  readonly [Name in NeededIn<Fields>]: ValueOf<Fields[Name]>;
} & {
  readonly [Name in Exclude<keyof Fields, NeededIn<Fields>>]?: ValueOf<Fields[Name]> | null;
} & { readonly [Name in Exclude<Known, keyof Fields>]?: JsonValue };

/** An object with these fields, and those of `known`, which are not looked into. */
export function objectOf<Fields extends ShapesByName, const Known extends string = never>(
  fields: Fields,
  known: readonly Known[] = [],
): ObjectShape & Shape<ObjectOf<Fields, Known>> {
  const plain = known.map((field) => [field, ANYTHING] as const);
  const all = new Map<string, Shape>([...plain, ...Object.entries(fields)]);
  const required = Object.keys(fields).filter((name) => 'isNeeded' in (fields[name] ?? {}));
  return { kind: 'object', fields: all, needed: required };
}

/** The object, or a text in its place. */
export function textOr<Value>(
  shape: ObjectShape & Shape<Value>,
): ObjectShape & Shape<string | Value> {
  return { ...shape, takesText: true };
}

/** An object of which only these fields matter. */
export function openObjectOf<Fields extends ShapesByName>(fields: Fields): Shape<ObjectOf<Fields>> {
  return { ...objectOf(fields), isOpen: true };
}

type TaggedOf<Key extends string, Shapes> = {
  [Tag in keyof Shapes]: Omit<ValueOf<Shapes[Tag]>, Key> & { readonly [Name in Key]: Tag };
}[keyof Shapes];

/**
 * An object whose shape is told by the word at `key`; other words, and none, mean `otherwise`. The type
 * of the values knows of those words alone.
 */
export function taggedShape<Key extends string, Shapes extends ShapesByName>(
  key: Key,
  shapes: Shapes,
  otherwise: Shape = ANYTHING,
): TaggedShape & Shape<TaggedOf<Key, Shapes>> {
  return { kind: 'tagged', key, shapes: new Map(Object.entries(shapes)), otherwise };
}

/** What is wrong with a value: it does not hold what `shape` says, or is undefined and may not be. */
export interface Fault {
  /** From the value that was looked at: dots between all steps, '' for that value itself. */
  readonly path: string;
  readonly shape: Shape;
  readonly value: unknown;
}

/** A value that is all its shape says. */
export interface Checked<Value> {
  readonly value: Value;
  /** Paths of fields outside the shapes of their objects that say something, as many as are told of; undefined for none. */
  readonly unknown: readonly string[] | undefined;
}

/** What one look finds on its way. */
interface Survey {
  /** From the value looked at, as receipts write paths. */
  unknown: string[] | undefined;
}

/** More than a receipt lists, which then says that there are more. */
const MAX_UNKNOWN = 2000;

/** One pass, which puts paths together only where there is something to tell. @throws what `refuse` makes of the first fault */
export function checkShape<Value>(
  value: unknown,
  shape: Shape<Value>,
  refuse: (fault: Fault) => Error,
): Checked<Value> {
  const survey: Survey = { unknown: undefined };
  const fault = findFault(value, shape, survey);
  if (fault !== undefined) throw refuse(fault);
  // The one narrowing of this file: the look just taken says what the value is.
  return { value: value as Value, unknown: survey.unknown };
}

function findFault(value: unknown, shape: Shape, survey: Survey): Fault | undefined {
  let isRight = false;
  switch (shape.kind) {
    case 'anything':
      return undefined;
    case 'string':
      isRight =
        typeof value === 'string' &&
        (shape.words?.includes(value) ?? (shape.isFilled !== true || value !== '')) &&
        (shape.isPublic !== true || findUrlFault(value) === undefined);
      break;
    case 'boolean':
      isRight = typeof value === 'boolean';
      break;
    case 'number':
      isRight = findNumberFault(readNumber(value), shape.range) === undefined;
      break;
    case 'free':
      isRight = isJsonObject(value);
      break;
    case 'list':
      if (Array.isArray(value)) return findItemFault(value, shape.items, survey);
      isRight = shape.takesText && typeof value === 'string';
      break;
    case 'object':
      if (isJsonObject(value)) return findFieldFault(value, shape, survey);
      isRight = shape.takesText === true && typeof value === 'string';
      break;
    case 'tagged': {
      if (!isJsonObject(value)) break;
      const tag = value[shape.key] ?? undefined;
      if (typeof tag !== 'string') return { path: shape.key, shape: STRING, value: tag };
      return findFault(value, shape.shapes.get(tag) ?? shape.otherwise, survey);
    }
    default:
      return shape satisfies never;
  }
  return isRight ? undefined : { path: '', shape, value };
}

function findItemFault(items: readonly unknown[], shape: Shape, survey: Survey): Fault | undefined {
  for (let index = 0; index < items.length; index += 1) {
    const fault = findFaultAt(index, items[index], shape, survey);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function findFieldFault(
  object: JsonObject,
  { fields, needed, isOpen }: ObjectShape,
  survey: Survey,
): Fault | undefined {
  for (const name of needed) {
    if ((object[name] ?? null) === null) return { path: name, shape: STRING, value: undefined };
  }
  for (const name in object) {
    const value = object[name];
    const shape = fields.get(name);
    if (shape === undefined) {
      if (isOpen === true || isEmptyValue(value)) continue;
      survey.unknown ??= [];
      if (survey.unknown.length < MAX_UNKNOWN) survey.unknown.push(name);
    } else if (shape.kind !== 'anything' && value !== null) {
      const fault = findFaultAt(name, value, shape, survey);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

/** As `findFault`, with the step to the value put before the paths of what is found in it. */
function findFaultAt(
  step: string | number,
  value: unknown,
  shape: Shape,
  survey: Survey,
): Fault | undefined {
  const known = survey.unknown?.length ?? 0;
  const fault = findFault(value, shape, survey);
  if (fault !== undefined) return { ...fault, path: joinPaths(String(step), fault.path) };
  const { unknown } = survey;
  for (let index = known; unknown !== undefined && index < unknown.length; index += 1) {
    unknown[index] = joinPaths(typeof step === 'number' ? `[${step}]` : step, unknown[index] ?? '');
  }
  return undefined;
}

function joinPaths(step: string, path: string): string {
  return path === '' || path.startsWith('[') ? step + path : memberPath(step, path);
}

/** Absent, null, false and empty values ask for nothing, and neither does an object that holds no others. */
export function isEmptyValue(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.values(value).every(isEmptyValue);
}
