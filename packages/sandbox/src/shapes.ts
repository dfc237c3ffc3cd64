// The shapes of a wire as data, and the first place where a value has another one. Each wire words the fault itself.

import { isJsonObject, type JsonObject, type JsonValue, readNumber } from './json.ts';

export type Shape =
  | { readonly kind: 'any' }
  | TextShape
  | { readonly kind: 'whole'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'number'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'word'; readonly words: readonly string[] }
  /** Any JSON object. */
  | { readonly kind: 'object' }
  | ListShape
  /** A text, or else this. */
  | { readonly kind: 'text-or'; readonly other: Shape }
  | FieldsShape
  /** An object whose `tag` field tells its shape; without it, it is `untagged`. */
  | TaggedShape;

interface TextShape {
  readonly kind: 'text';
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
}

interface ListShape {
  readonly kind: 'list';
  readonly of: Shape;
  readonly min?: number;
  readonly max?: number;
}

interface FieldsShape {
  readonly kind: 'fields';
  readonly required: Shapes;
  readonly optional: Shapes;
  /** May be absent or null. */
  readonly nullable: Shapes;
}

interface TaggedShape {
  readonly kind: 'tagged';
  readonly tag: string;
  readonly shapes: Shapes;
  readonly untagged?: string;
}

export type Shapes = Readonly<Record<string, Shape>>;

export const ANY: Shape = { kind: 'any' };
export const TEXT: Shape = { kind: 'text' };
export const FLAG: Shape = { kind: 'flag' };
export const WHOLE: Shape = { kind: 'whole' };
export const OBJECT: Shape = { kind: 'object' };

export function words(...all: readonly string[]): Shape {
  return { kind: 'word', words: all };
}

export function listOf(of: Shape, limits: { min?: number; max?: number } = {}): Shape {
  return { kind: 'list', of, ...limits };
}

export function textOr(other: Shape): Shape {
  return { kind: 'text-or', other };
}

export function fields(required: Shapes, optional: Shapes = {}, nullable: Shapes = {}) {
  return { kind: 'fields', required, optional, nullable } as const satisfies Shape;
}

export function tagged(shapes: Shapes, { tag = 'type', untagged = '' } = {}): Shape {
  return { kind: 'tagged', tag, shapes, ...(untagged !== '' && { untagged }) };
}

/** A field, a position in a list, or the tag of an object that is named in paths of some wires. */
export type Step = string | number | { readonly tag: string };

export type ShapeFault = {
  readonly path: readonly Step[];
  readonly value: JsonValue | undefined;
} & (
  | { readonly kind: 'unknown-field' | 'missing-field' }
  | { readonly kind: 'wrong-type'; readonly shape: Shape }
  | { readonly kind: 'unknown-word' | 'unknown-tag'; readonly words: readonly string[] }
  | { readonly kind: 'wrong-pattern'; readonly pattern: RegExp }
  | { readonly kind: 'too-small' | 'too-large'; readonly shape: Shape; readonly limit: number }
);

/** Undefined for a value of that shape. */
export function findFault(
  value: JsonValue,
  shape: Shape,
  path: readonly Step[] = [],
): ShapeFault | undefined {
  if (!isOfKind(value, shape)) return { kind: 'wrong-type', shape, path, value };
  switch (shape.kind) {
    case 'text':
      return findTextFault(String(value), shape, path);
    case 'word':
      return shape.words.includes(String(value))
        ? undefined
        : { kind: 'unknown-word', words: shape.words, path, value };
    case 'whole':
    case 'number':
      return findSizeFault(readNumber(value) ?? 0, shape, { path, value });
    case 'list':
      return Array.isArray(value) ? findListFault(value, shape, path) : undefined;
    case 'text-or':
      return typeof value === 'string' ? undefined : findFault(value, shape.other, path);
    case 'fields':
      return isJsonObject(value) ? findFieldFault(value, shape, path) : undefined;
    case 'tagged':
      return isJsonObject(value) ? findTaggedFault(value, shape, path) : undefined;
    default:
      return undefined;
  }
}

function isOfKind(value: JsonValue, shape: Shape): boolean {
  switch (shape.kind) {
    case 'any':
      return true;
    case 'text':
    case 'word':
      return typeof value === 'string';
    case 'flag':
      return typeof value === 'boolean';
    case 'number':
      return readNumber(value) !== undefined;
    case 'whole':
      return Number.isInteger(readNumber(value));
    case 'list':
      return Array.isArray(value);
    case 'text-or':
      return typeof value === 'string' || isOfKind(value, shape.other);
    case 'object':
    case 'fields':
    case 'tagged':
      return isJsonObject(value);
    default:
      return shape satisfies never;
  }
}

function findTextFault(
  value: string,
  shape: TextShape,
  path: readonly Step[],
): ShapeFault | undefined {
  const size = findSizeFault(value.length, shape, { path, value });
  if (size !== undefined || shape.pattern === undefined) return size;
  if (shape.pattern.test(value)) return undefined;
  return { kind: 'wrong-pattern', pattern: shape.pattern, path, value };
}

function findSizeFault(
  size: number,
  shape: Extract<Shape, { min?: number }>,
  at: Pick<ShapeFault, 'path' | 'value'>,
): ShapeFault | undefined {
  const { min, max } = shape;
  if (min !== undefined && size < min) return { kind: 'too-small', shape, limit: min, ...at };
  if (max !== undefined && size > max) return { kind: 'too-large', shape, limit: max, ...at };
  return undefined;
}

function findListFault(
  value: JsonValue[],
  shape: ListShape,
  path: readonly Step[],
): ShapeFault | undefined {
  const size = findSizeFault(value.length, shape, { path, value });
  if (size !== undefined) return size;
  for (const [index, item] of value.entries()) {
    const fault = findFault(item, shape.of, [...path, index]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function findFieldFault(
  value: JsonObject,
  { required, optional, nullable }: FieldsShape,
  path: readonly Step[],
): ShapeFault | undefined {
  const known = { ...required, ...optional, ...nullable };
  for (const [name, item] of Object.entries(value)) {
    const at = [...path, name];
    const shape = Object.hasOwn(known, name) ? known[name] : undefined;
    if (shape === undefined) return { kind: 'unknown-field', path: at, value: item };
    if (item === null && Object.hasOwn(nullable, name)) continue;
    const fault = findFault(item, shape, at);
    if (fault !== undefined) return fault;
  }
  const missing = Object.keys(required).find((name) => !Object.hasOwn(value, name));
  if (missing === undefined) return undefined;
  return { kind: 'missing-field', path: [...path, missing], value: undefined };
}

function findTaggedFault(
  value: JsonObject,
  { tag, shapes, untagged }: TaggedShape,
  path: readonly Step[],
): ShapeFault | undefined {
  const given = value[tag] ?? untagged;
  if (given === undefined) return { kind: 'missing-field', path: [...path, tag], value: undefined };
  const shape =
    typeof given === 'string' && Object.hasOwn(shapes, given) ? shapes[given] : undefined;
  if (shape === undefined || typeof given !== 'string') {
    return { kind: 'unknown-tag', words: Object.keys(shapes), path, value: given };
  }
  return findFault(value, shape, [...path, { tag: given }]);
}
