// Reads single fields of a client's body and words what is wrong with them, naming the path.

import { invalidRequest } from '../../canonical/error.ts';
import { createFieldReader, memberPath, type NumberRange } from '../../canonical/field-reader.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

const TYPE_WORDS = {
  string: 'a string',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
} as const;

const fields = createFieldReader({
  wrongType: (path, expected) => wrongType(path, TYPE_WORDS[expected]),
  wrongNumber: (path, fault, range) =>
    fault === 'not-a-number'
      ? wrongType(path, describe(range))
      : invalidRequest(path, `${path} must be ${describe(range)}.`),
});

/** Optional fields; null means absent. @throws GatewayError 400 */
export const readString = fields.string;
export const readBoolean = fields.boolean;
export const readObject = fields.object;
export const readArray = fields.array;
/** A number at `path`, the whole path being given. @throws GatewayError 400 outside the range. */
export const readNumberIn = fields.number;

export function requireString(object: JsonObject, key: string, parent: string): string {
  const path = memberPath(parent, key);
  const value = readString(object, key, parent);
  if (value === undefined) throw missingField(path);
  if (value === '') throw invalidRequest(path, `${path} is empty.`);
  return value;
}

export function requireObject(object: JsonObject, key: string, parent: string): JsonObject {
  const value = readObject(object, key, parent);
  if (value === undefined) throw missingField(memberPath(parent, key));
  return value;
}

/** An array element that has to be an object. */
export function asObject(value: JsonValue | undefined, path: string): JsonObject {
  if (!isJsonObject(value)) throw wrongType(path, TYPE_WORDS.object);
  return value;
}

export function wrongType(path: string, expected: string): Error {
  return invalidRequest(path, `${path} must be ${expected}.`, 'invalid-type');
}

export function missingField(path: string): Error {
  return invalidRequest(path, `${path} is required.`, 'missing-field');
}

/** The error for a word outside a closed list. */
export function unknownWord(path: string, words: readonly string[]): Error {
  return invalidRequest(path, `${path} must be one of: ${words.join(', ')}.`);
}

function describe({ min, max, integer }: NumberRange): string {
  const noun = integer === true ? 'an integer' : 'a number';
  if (min !== undefined && max !== undefined) return `${noun} from ${min} to ${max}`;
  if (min !== undefined) return `${noun} of at least ${min}`;
  return noun;
}
