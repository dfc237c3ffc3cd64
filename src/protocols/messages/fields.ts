// Reads single fields of a Messages body and words what is wrong with them as the real service does.

import { type GatewayError, invalidRequest } from '../../canonical/error.ts';
import {
  createFieldReader,
  memberPath,
  type NumberFault,
  type NumberRange,
} from '../../canonical/field-reader.ts';
import { noteUnknownFields, type Shape } from '../../canonical/field-shapes.ts';
import { type Receipt, type ReceiptAction, type Sentence, told } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

/** An object of the request and where it stands, as a dotted path; '' is the body itself. */
export interface Scope {
  readonly value: JsonObject;
  readonly path: string;
}

const TYPE_WORDS = {
  string: 'a valid string',
  boolean: 'a valid boolean',
  object: 'a valid dictionary',
  array: 'a valid list',
} as const;

const fields = createFieldReader({
  wrongType: (path, expected) => wrongType(path, TYPE_WORDS[expected]),
  wrongNumber,
});

/** The dotted path of a field of `scope`, such as `messages.0.content`. */
export function pathOf(scope: Scope, key: string | number): string {
  return memberPath(scope.path, String(key));
}

/** A 400 worded `<dotted path>: <what is wrong>`. */
export function fieldError(
  path: string,
  text: string,
  reason: 'missing-field' | 'invalid-value' | 'invalid-type' | 'unsupported' = 'invalid-value',
): GatewayError {
  return invalidRequest(bracketPath(path), `${path}: ${text}`, reason);
}

/** Writes receipt entries with the path in bracket form, as every protocol does. */
export function note(
  receipt: Receipt,
  action: ReceiptAction,
  entry: { readonly path: string; readonly reason: Sentence },
): void {
  receipt.add(action, bracketPath(entry.path), entry.reason);
}

/** Tells every field of `scope` that its shape does not have, at any depth. */
export function noteUnknown(scope: Scope, shape: Shape, receipt: Receipt): void {
  const reason = told`The gateway has no counterpart for this field.`;
  noteUnknownFields(scope.value, {
    shape,
    path: bracketPath(scope.path),
    note: (path) => receipt.add('dropped', path, reason),
  });
}

/** The value of a field; null counts as absent, as it does for the real service's optional fields. */
export function fieldAt(scope: Scope, key: string): JsonValue | undefined {
  const value = scope.value[key];
  return value === null ? undefined : value;
}

export function stringAt(scope: Scope, key: string): string {
  const text = optionalStringAt(scope, key);
  if (text === undefined) throw missing(pathOf(scope, key));
  return text;
}

export function nonEmptyStringAt(scope: Scope, key: string): string {
  const text = stringAt(scope, key);
  if (text === '') {
    throw fieldError(pathOf(scope, key), 'String should have at least 1 character');
  }
  return text;
}

export function optionalStringAt(scope: Scope, key: string): string | undefined {
  return fields.string(scope.value, key, scope.path);
}

export function optionalBooleanAt(scope: Scope, key: string): boolean | undefined {
  return fields.boolean(scope.value, key, scope.path);
}

/** @throws GatewayError unless the field is absent or an integer inside the inclusive range. */
export function optionalIntegerAt(
  scope: Scope,
  key: string,
  range: NumberRange,
): number | undefined {
  return fields.number(scope.value[key], pathOf(scope, key), { ...range, integer: true });
}

/** @throws GatewayError unless the field is absent or a number inside the inclusive range. */
export function optionalNumberAt(
  scope: Scope,
  key: string,
  range: NumberRange,
): number | undefined {
  return fields.number(scope.value[key], pathOf(scope, key), range);
}

export function optionalObjectAt(scope: Scope, key: string): Scope | undefined {
  const value = fields.object(scope.value, key, scope.path);
  return value && { value, path: pathOf(scope, key) };
}

export function objectAt(scope: Scope, key: string): Scope {
  const object = optionalObjectAt(scope, key);
  if (object === undefined) throw missing(pathOf(scope, key));
  return object;
}

export function optionalArrayAt(scope: Scope, key: string): readonly JsonValue[] | undefined {
  return fields.array(scope.value, key, scope.path);
}

export function optionalStringsAt(scope: Scope, key: string): readonly string[] | undefined {
  return optionalArrayAt(scope, key)?.map((item, index) => {
    if (typeof item === 'string') return item;
    throw wrongType(`${pathOf(scope, key)}.${index}`, TYPE_WORDS.string);
  });
}

/** One of a closed set of words; undefined when the field is absent. */
export function optionalWordAt<Word extends string>(
  scope: Scope,
  key: string,
  words: readonly Word[],
): Word | undefined {
  const text = optionalStringAt(scope, key);
  if (text === undefined) return undefined;
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw unknownWord(pathOf(scope, key), words);
}

/** The object at `path` as a scope. */
export function asScope(value: JsonValue | undefined, path: string): Scope {
  if (isJsonObject(value)) return { value, path };
  throw wrongType(path, TYPE_WORDS.object);
}

/** The `type` of a tagged object. */
export function tagOf(scope: Scope): string {
  return stringAt(scope, 'type');
}

/** The 400 for a `type` nobody here knows: its content would be lost. */
export function unknownTag(scope: Scope, expected: string): GatewayError {
  const tag = JSON.stringify(tagOf(scope).slice(0, 60));
  return fieldError(pathOf(scope, 'type'), `Input tag ${tag} is not supported; use ${expected}`);
}

export function missing(path: string): GatewayError {
  return fieldError(path, 'Field required', 'missing-field');
}

export function wrongType(path: string, expected: string): GatewayError {
  return fieldError(path, `Input should be ${expected}`, 'invalid-type');
}

/** The 400 for a word outside a closed list. */
export function unknownWord(path: string, words: readonly string[]): GatewayError {
  return fieldError(path, `Input should be ${listWords(words)}`);
}

/** `'a', 'b' or 'c'`. */
export function listWords(words: readonly string[]): string {
  const quoted = words.map((word) => `'${word}'`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

function wrongNumber(path: string, fault: NumberFault, range: NumberRange): GatewayError {
  switch (fault) {
    case 'not-a-number':
      return wrongType(path, 'a valid number');
    case 'not-an-integer':
      return wrongType(path, 'a valid integer');
    case 'too-small':
      return fieldError(path, `Input should be greater than or equal to ${range.min}`);
    case 'too-large':
      return fieldError(path, `Input should be less than or equal to ${range.max}`);
    default:
      return fault satisfies never;
  }
}

export function bracketPath(path: string): string {
  return path.replace(/\.(\d+)(?=\.|$)/g, '[$1]');
}
