// The type words of JSON Schema, the near misses clients send, and the case they are written in.

import type { JsonValue } from '../../../lib/json.ts';

const TYPE_NAMES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;

export type TypeName = (typeof TYPE_NAMES)[number];

const NEAR_MISSES = new Map<string, TypeName>([
  ['str', 'string'],
  ['text', 'string'],
  ['int', 'integer'],
  ['long', 'integer'],
  ['float', 'number'],
  ['double', 'number'],
  ['decimal', 'number'],
  ['bool', 'boolean'],
  ['list', 'array'],
  ['tuple', 'array'],
  ['dict', 'object'],
  ['map', 'object'],
  ['none', 'null'],
]);

/** Formats the upstream takes, by type (generate-content `Schema.format`). */
const FORMATS: Partial<Record<TypeName, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** The type a word means; `any` for words that allow everything; undefined for unknown words. */
export function readTypeName(word: JsonValue): TypeName | 'any' | undefined {
  if (typeof word !== 'string') return undefined;
  const lower = word.toLowerCase();
  if (lower === 'any' || lower === 'type_unspecified') return 'any';
  return TYPE_NAMES.find((name) => name === lower) ?? NEAR_MISSES.get(lower);
}

/** True for words the upstream takes as they are: all lower or all upper case. */
export function isOfficialTypeWord(word: JsonValue): word is string {
  if (typeof word !== 'string') return false;
  return TYPE_NAMES.some((name) => word === name || word === name.toUpperCase());
}

export function isKnownFormat(type: TypeName, format: string): boolean {
  return FORMATS[type]?.includes(format) ?? false;
}

/** The types both sides allow; an integer is a number. */
export function intersectTypes(left: readonly TypeName[], right: readonly TypeName[]): TypeName[] {
  const both = new Set<TypeName>();
  for (const type of left) {
    if (right.includes(type)) both.add(type);
    else if (type === 'integer' && right.includes('number')) both.add('integer');
    else if (type === 'number' && right.includes('integer')) both.add('integer');
  }
  return [...both];
}
