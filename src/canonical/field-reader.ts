// Strict readers for single fields of a client's body; each protocol words the refusal itself.

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

/** The path of a member of the object at `parent`. */
export function memberPath(parent: string, key: string): string {
  return parent === '' ? key : `${parent}.${key}`;
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
