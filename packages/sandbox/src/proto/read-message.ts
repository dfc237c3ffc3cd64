// Reads JSON as a protocol-buffers message: strict about fields and types, tolerant only where proto JSON is.

import { badRequest, type Violation } from '../errors.ts';
import { isJsonObject, isRawNumber, type JsonObject, type JsonValue, readNumber } from '../json.ts';
import type {
  BatchEmbedContentsRequest,
  CountTokensRequest,
  EmbedContentRequest,
  GenerateRequest,
} from '../wire.ts';
import {
  type Field,
  type FieldType,
  fieldsOf,
  type MessageName,
  type Words,
} from './descriptors.ts';

/** Deepest nesting proto JSON parsers take. */
const MAX_DEPTH = 100;
const INT32_END = 2 ** 31;

/** Where reading stands; every problem found is added to `violations`. */
interface Place {
  readonly path: string;
  readonly depth: number;
  readonly violations: Violation[];
  readonly words: Words;
}

type Read = JsonValue | undefined;

/** @throws SandboxError 400 naming every unknown or mistyped field. */
export function readGenerateRequest(body: JsonValue, words: Words = 'neutral'): GenerateRequest {
  // The one narrowing: the descriptors have just checked every field the interface declares.
  return readMessage('GenerateContentRequest', body, words) as GenerateRequest;
}

/** @throws SandboxError 400 naming every unknown or mistyped field. */
export function readCountTokensRequest(body: JsonValue): CountTokensRequest {
  // As above.
  return readMessage('CountTokensRequest', body, 'neutral') as CountTokensRequest;
}

/** The form of project paths. @throws SandboxError 400 naming every unknown or mistyped field. */
export function readProjectCountTokensRequest(body: JsonValue, words: Words): GenerateRequest {
  // As above.
  return readMessage('ProjectCountTokensRequest', body, words) as GenerateRequest;
}

/** @throws SandboxError 400 naming every unknown or mistyped field. */
export function readEmbedRequest(body: JsonValue): EmbedContentRequest {
  // As above.
  return readMessage('EmbedContentRequest', body, 'neutral') as EmbedContentRequest;
}

/** @throws SandboxError 400 naming every unknown or mistyped field. */
export function readBatchEmbedRequest(body: JsonValue): BatchEmbedContentsRequest {
  // As above.
  return readMessage('BatchEmbedContentsRequest', body, 'neutral') as BatchEmbedContentsRequest;
}

/** A copy with camelCase keys and upper-case enum values, nulls dropped. */
function readMessage(name: MessageName, body: JsonValue, words: Words): JsonObject {
  const violations: Violation[] = [];
  const result = readFields(name, body, { path: '', depth: 0, violations, words });
  if (violations.length > 0 || result === undefined) throw badRequest(violations);
  return result;
}

function readFields(name: MessageName, value: JsonValue, place: Place): JsonObject | undefined {
  if (!isJsonObject(value)) return reject(place, `must be a ${name} object, not ${show(value)}`);
  if (place.depth > MAX_DEPTH) return reject(place, 'is nested too deeply');
  const fields = fieldsOf(name, place.words);
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const field = fields.get(key);
    if (field === undefined) {
      reject(place, `unknown field ${JSON.stringify(key)} (${name} has no such field)`);
      continue;
    }
    readField(field, item, { result, place });
  }
  return result;
}

function readField(
  field: Field,
  item: JsonValue,
  into: { readonly result: JsonObject; readonly place: Place },
): void {
  const inner = step(into.place, into.place.path === '' ? field.snakeName : `.${field.snakeName}`);
  if (item === null) return;
  if (field.name in into.result) {
    reject(inner, 'is given twice, in camelCase and in snake_case');
    return;
  }
  const read = readValue(field.type, item, inner);
  if (read !== undefined) into.result[field.name] = read;
}

function readValue(type: FieldType, value: JsonValue, place: Place): Read {
  switch (type.kind) {
    case 'string':
      return typeof value === 'string' ? value : mistyped(place, 'a string', value);
    case 'bool':
      return typeof value === 'boolean' ? value : mistyped(place, 'true or false', value);
    case 'int32':
    case 'int64':
      return readInteger(type.kind, value, place);
    case 'double':
      return readDouble(value, place);
    case 'bytes':
      return isBase64(value) ? value : mistyped(place, 'base64 text', value);
    case 'struct':
      return isJsonObject(value)
        ? readFreeForm(value, place)
        : mistyped(place, 'a JSON object', value);
    case 'value':
      return readFreeForm(value, place);
    case 'enum':
      return readEnum(type.values, value, place);
    case 'list':
      return readList(type.of, value, place);
    case 'map':
      return readMap(type.of, value, place);
    case 'message':
      return readFields(type.message, value, place);
    default:
      return type satisfies never;
  }
}

/** Integers may come as decimal text; a fraction, or more than the type holds, is refused. */
function readInteger(kind: 'int32' | 'int64', value: JsonValue, place: Place): Read {
  const number = readNumeric(value);
  const fits =
    number !== undefined &&
    Number.isInteger(number) &&
    (kind === 'int64' || (number < INT32_END && number >= -INT32_END));
  return fits ? number : mistyped(place, `an ${kind}`, value);
}

function readDouble(value: JsonValue, place: Place): Read {
  const number = readNumeric(value);
  return number !== undefined && Number.isFinite(number)
    ? number
    : mistyped(place, 'a number', value);
}

function readNumeric(value: JsonValue): number | undefined {
  if (typeof value === 'string') return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
  return readNumber(value);
}

/** Either alphabet, padded or not. One search for what does not belong is quick over megabytes too. */
function isBase64(value: JsonValue): value is string {
  if (typeof value !== 'string') return false;
  const bare = value.replace(/={1,2}$/, '');
  return bare.length % 4 !== 1 && !/[^A-Za-z0-9+/_-]/.test(bare);
}

function readEnum(values: readonly string[], value: JsonValue, place: Place): Read {
  const word = typeof value === 'string' ? value.toUpperCase() : undefined;
  return word !== undefined && values.includes(word)
    ? word
    : mistyped(place, `one of ${values.join(', ')}`, value);
}

/** A lone message stands for a list of one, as proto JSON parsers take it. */
function readList(of: FieldType, value: JsonValue, place: Place): Read {
  if (!Array.isArray(value) && !(of.kind === 'message' && isJsonObject(value))) {
    return mistyped(place, 'a list', value);
  }
  const items = Array.isArray(value) ? value : [value];
  const result: JsonValue[] = [];
  for (const [index, item] of items.entries()) {
    const read = readValue(of, item, step(place, `[${index}]`));
    if (read !== undefined) result.push(read);
  }
  return result;
}

/** Built through entries: keys are the client's own and may be `__proto__`. */
function readMap(of: FieldType, value: JsonValue, place: Place): Read {
  if (!isJsonObject(value)) return mistyped(place, 'a JSON object', value);
  const entries: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    const read = readValue(of, item, step(place, `[${JSON.stringify(key)}]`));
    if (read !== undefined) entries.push([key, read]);
  }
  return Object.fromEntries(entries);
}

function readFreeForm(value: JsonValue, place: Place): Read {
  return depthWithin(value, MAX_DEPTH - place.depth)
    ? value
    : reject(place, 'is nested too deeply');
}

function depthWithin(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return true;
  if (levels <= 0) return false;
  return Object.values(value).every((item) => depthWithin(item, levels - 1));
}

function mistyped(place: Place, wanted: string, value: JsonValue): undefined {
  return reject(place, `must be ${wanted}, not ${show(value)}`);
}

function reject(place: Place, description: string): undefined {
  place.violations.push({ field: place.path, description });
  return undefined;
}

function step(place: Place, suffix: string): Place {
  return { ...place, path: place.path + suffix, depth: place.depth + 1 };
}

function show(value: JsonValue): string {
  if (Array.isArray(value)) return 'a list';
  if (isJsonObject(value)) return 'an object';
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
