// Reads proto JSON by the field tables: any accepted spelling in, the official one out.

import { type ErrorReason, type GatewayError, invalidRequest } from '../../canonical/error.ts';
import { type ClientNames, memberPath, NotedMemo, type Receipt } from '../../canonical/receipt.ts';
import type { Signature } from '../../canonical/request.ts';
import {
  isCarrier,
  isSignatureValue,
  readCarrier,
  unwrapCarrier,
} from '../../canonical/signatures.ts';
import { tidyBase64 } from '../../lib/base64.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { shareAs } from '../../lib/shared-json.ts';
import {
  CONTENT,
  type EnumField,
  type Field,
  type ListField,
  type MessageField,
  NUMBERED_TYPES,
  type NumberField,
  officialSchemaKey,
} from '../../wire/generate.ts';

const INTEGER_TEXT = /^-?\d{1,19}$/;

/**
 * A copy of one message in official camelCase. Free-form values are not copied; unknown fields are
 * dropped with a receipt; null means absent, as in proto JSON.
 * @throws GatewayError (invalid-request) naming the field as the client spelled it.
 */
export function normalizeMessage<Value>(
  value: JsonValue,
  message: MessageField & Field<Value>,
  place: Place,
): Value {
  // The one narrowing of this file: every field of the copy has the kind that the message gives it.
  return normalizeObject(value, message, place) as Value;
}

function normalizeObject(value: JsonValue, message: MessageField, place: Place): JsonObject {
  if (!isJsonObject(value)) throw wrongType(place, 'an object');
  const result: JsonObject = {};
  for (const [key, raw] of Object.entries(value)) {
    if (raw === null) continue;
    const inner = { path: memberPath(place.path, key), receipt: place.receipt };
    const known = message.spellings.get(key);
    if (known === undefined) {
      place.receipt.add('dropped', inner.path, told`The API has no such field.`);
    } else if (raw === UNDEFINED_TEXT && known.field.kind !== 'text') {
      place.receipt.add('repaired', inner.path, ABSENT);
    } else if (Object.hasOwn(result, known.name)) {
      place.receipt.add('dropped', inner.path, told`The field is given twice, in two spellings.`);
    } else {
      const normalized = normalizeValue(raw, known.field, inner);
      if (normalized !== undefined) result[known.name] = normalized;
    }
  }
  for (const name of message.needed) {
    if ((result[name] ?? '') !== '') continue;
    throw fieldError(memberPath(place.path, name), 'is required.', 'missing-field');
  }
  return result;
}

/** Notes every field of a normalised message, at any depth, that the translate lane cannot carry. */
export function noteUncarried(
  owner: Readonly<Record<string, unknown>>,
  { spellings, uncarried }: MessageField,
  { path, receipt }: Place,
): void {
  for (const name of uncarried) {
    if (owner[name] !== undefined) receipt.add('dropped', memberPath(path, name), NOT_CARRIED);
  }
  for (const name in owner) {
    const field = spellings.get(name)?.field;
    const inner = field?.kind === 'list' ? field.items : field;
    if (inner?.kind !== 'message' || uncarried.includes(name)) continue;
    const place = memberPath(path, name);
    const value = owner[name];
    if (isJsonObject(value)) noteUncarried(value, inner, { path: place, receipt });
    else if (Array.isArray(value)) {
      value.forEach((item, index) => {
        noteUncarried(item, inner, { path: `${place}[${index}]`, receipt });
      });
    }
  }
}

export const NOT_CARRIED = told`The upstream in use has no counterpart.`;

function normalizeValue(raw: JsonValue, field: Field, place: Place): JsonValue | undefined {
  switch (field.kind) {
    case 'text':
    case 'string':
      if (typeof raw !== 'string') throw wrongType(place, 'a string');
      return raw;
    case 'boolean':
      if (typeof raw !== 'boolean') throw wrongType(place, 'true or false');
      return raw;
    case 'integer':
    case 'number':
      return normalizeNumber(raw, field, place);
    case 'enum':
      return normalizeEnum(raw, field, place);
    case 'base64':
      return normalizeBase64(raw, place);
    case 'signature':
      return normalizeSignature(raw, place);
    case 'schema':
      if (!isJsonObject(raw)) throw wrongType(place, 'a schema object');
      return spellSchema(raw, place, 0);
    case 'json-schema':
      if (typeof raw !== 'boolean' && !isJsonObject(raw)) throw wrongType(place, 'an object');
      return raw;
    case 'object':
    case 'string-map':
      if (!isJsonObject(raw)) throw wrongType(place, 'an object');
      if (field.kind === 'string-map') checkStrings(raw, place);
      return raw;
    case 'message':
      if (typeof raw === 'string' && field === CONTENT) return { parts: [{ text: raw }] };
      return normalizeObject(raw, field, place);
    case 'list':
      return normalizeList(raw, field, place);
    default:
      return field satisfies never;
  }
}

function checkStrings(map: JsonObject, { path, receipt }: Place): void {
  for (const [key, value] of Object.entries(map)) {
    if (typeof value !== 'string') {
      throw wrongType({ path: memberPath(path, key), receipt }, 'a string');
    }
  }
}

const normalizedLists = new NotedMemo<JsonValue[]>();

/** A lone value is taken as a list of one, as the service's own parser does for messages. */
function normalizeList(raw: JsonValue, { items }: ListField, place: Place): JsonValue[] {
  const { path } = place;
  if (!Array.isArray(raw)) return normalizeItem(raw, items, place);
  return normalizedLists.get(raw, { variant: path, receipt: place.receipt }, (receipt) =>
    shareAs(
      raw,
      raw.flatMap((value, index) =>
        normalizeItem(value, items, { path: `${path}[${index}]`, receipt }),
      ),
    ),
  );
}

/** A list of it; an empty one for what stands for an absent value. */
function normalizeItem(raw: JsonValue, field: Field, place: Place): JsonValue[] {
  if (raw === UNDEFINED_TEXT) {
    place.receipt.add('repaired', place.path, ABSENT);
    return [];
  }
  const normalized = normalizeValue(raw, field, place);
  return normalized === undefined ? [] : [normalized];
}

/** Proto JSON writes 64-bit integers as strings and takes strings for every number. */
function normalizeNumber(raw: JsonValue, kind: NumberField, place: Place): number {
  const isText = typeof raw === 'string' && (kind.kind === 'number' || INTEGER_TEXT.test(raw));
  const value = isText && raw.trim() !== '' ? Number(raw) : readNumber(raw);
  const expected = kind.kind === 'integer' ? 'an integer' : 'a number';
  if (value === undefined || !Number.isFinite(value)) throw wrongType(place, expected);
  if (kind.kind === 'integer' && !Number.isInteger(value)) throw wrongType(place, expected);
  if (value < kind.min || value > kind.max) {
    throw fieldError(place.path, `must be ${expected} from ${kind.min} to ${kind.max}.`);
  }
  return value;
}

/** Client libraries made from the service's own definitions send the number for the name (`enum-encoding=int`). */
function normalizeEnum(raw: JsonValue, { values, numbered }: EnumField, place: Place): string {
  const number = readNumber(raw);
  const named = number === undefined ? raw : numbered?.[number];
  if (typeof named !== 'string') throw wrongType(place, 'a string');
  const value = named.toUpperCase();
  if (values === undefined || values.includes(value)) return value;
  const known = values.filter((word) => !word.endsWith('_UNSPECIFIED')).join(', ');
  throw fieldError(place.path, `must be one of ${known}.`);
}

function normalizeBase64(raw: JsonValue, place: Place): string {
  if (typeof raw !== 'string') throw wrongType(place, 'a base64 string');
  const text = tidyBase64(raw);
  if (text !== undefined) return text;
  const hint = raw.startsWith('data:') ? ' Send only what follows the comma of the data URI.' : '';
  throw fieldError(place.path, `is not valid base64.${hint}`);
}

/** Deeper schemas than this are left as they are; no upstream takes them. */
const MAX_DEPTH = 64;

/** What some clients write for a value they do not have. */
const UNDEFINED_TEXT = '[undefined]';
const ABSENT = told`"${UNDEFINED_TEXT}" stands for an absent value.`;

/**
 * The same schema with snake_case Schema keys in camelCase, without what stands for absent values. The value itself is
 * returned when nothing has to change, so keyword cleaning elsewhere sees what the client sent.
 */
function spellSchema(schema: JsonValue, place: Place, depth: number): JsonValue {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return schema;
  const spell = (inner: JsonValue): JsonValue => spellSchema(inner, place, depth + 1);
  return spellMembers(schema, place, (key, value) => {
    const official = officialSchemaKey(key);
    const name = Object.hasOwn(schema, official) ? key : official;
    if (name === 'items') return [name, spell(value)];
    if (name === 'type' && typeof value === 'number') return [name, NUMBERED_TYPES[value] ?? value];
    if (name === 'properties' && isJsonObject(value)) {
      return [name, spellMembers(value, place, (property, inner) => [property, spell(inner)])];
    }
    if (name !== 'anyOf' || !Array.isArray(value)) return [name, value];
    const spelled = value.map(spell);
    return [name, spelled.some((inner, index) => inner !== value[index]) ? spelled : value];
  });
}

function spellMembers(
  object: JsonObject,
  { path, receipt }: Place,
  spell: (key: string, value: JsonValue) => [string, JsonValue],
): JsonObject {
  let isChanged = false;
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(object)) {
    if (value === UNDEFINED_TEXT) {
      receipt.add('repaired', path, told`${key}: "${UNDEFINED_TEXT}" stands for an absent value.`);
      isChanged = true;
      continue;
    }
    const [name, spelled] = spell(key, value);
    isChanged ||= name !== key || spelled !== value;
    entries.push([name, spelled]);
  }
  return isChanged ? Object.fromEntries(entries) : object;
}

/** The location of a value in the client's request, for errors and receipts. */
export interface Place {
  /** Path in the client's own spelling; '' for the body itself. */
  readonly path: string;
  readonly receipt: Receipt;
}

/** A 400 worded `<path> <what is wrong>`. */
export function fieldError(path: string, text: string, reason?: ErrorReason): GatewayError {
  return invalidRequest(path, `${path} ${text}`, reason);
}

/** The error for a value of the wrong JSON type. */
function wrongType(place: Place, expected: string): GatewayError {
  const name = place.path === '' ? 'The body' : place.path;
  return invalidRequest(place.path, `${name} must be ${expected}.`, 'invalid-type');
}

/** The objects of a list; anything else holds none. */
/** Client field names that receipts and errors use. */
const NAMES: ClientNames = {
  system: 'systemInstruction',
  messages: 'contents',
  tool_choice: 'toolConfig.functionCallingConfig',
  max_tokens: 'generationConfig.maxOutputTokens',
  stop: 'generationConfig.stopSequences',
  n: 'generationConfig.candidateCount',
  seed: 'generationConfig.seed',
  temperature: 'generationConfig.temperature',
  top_p: 'generationConfig.topP',
  top_k: 'generationConfig.topK',
  presence_penalty: 'generationConfig.presencePenalty',
  frequency_penalty: 'generationConfig.frequencyPenalty',
  logprobs: 'generationConfig.responseLogprobs',
  thinking: 'generationConfig.thinkingConfig',
  size: 'generationConfig.imageConfig',
  speech: 'generationConfig.speechConfig',
  modalities: 'generationConfig.responseModalities',
  media_resolution: 'generationConfig.mediaResolution',
  safety_settings: 'safetySettings',
  service_tier: 'serviceTier',
  tool_calls: 'candidates.content.functionCall',
  answer: 'candidates.content.text',
};

/** `config` is the body's `generationConfig`: its schema has two spellings. */
export function clientNamesOf(config: { readonly responseJsonSchema?: unknown }): ClientNames {
  const key = config.responseJsonSchema === undefined ? 'responseSchema' : 'responseJsonSchema';
  const path = `generationConfig.${key}`;
  return { ...NAMES, response_format: path, response_schema: path };
}

/**
 * The signature a client hands back, a wrapped carrier unwrapped to `gw1:…`. The API's field holds
 * bytes, so a value that cannot be base64 is no signature: dropped with a receipt.
 */
function normalizeSignature(raw: JsonValue, place: Place): string | undefined {
  if (raw === '') return undefined;
  if (typeof raw === 'string') {
    if (isCarrier(raw)) return unwrapCarrier(raw);
    if (isSignatureValue(raw)) return raw;
  }
  place.receipt.add('dropped', place.path, told`The value is not base64, so it is no signature.`);
  return undefined;
}

/** The signature of a part of the given kind; `on` defaults to that kind. */
export function readPartSignature(
  text: string | undefined,
  on: NonNullable<Signature['on']>,
): Signature | undefined {
  const signature = readCarrier(text);
  return signature && { ...signature, on: signature.on ?? on };
}
