// Reads proto JSON by the field tables: any accepted spelling in, the official one out.

import { invalidRequest } from '../../canonical/error.ts';
import { memberPath } from '../../canonical/field-reader.ts';
import { told } from '../../canonical/receipt.ts';
import { tidyBase64 } from '../../lib/base64.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { isJsonObject, readNumber } from '../../lib/json.ts';
import { findField } from '../../wire/find-generate-field.ts';
import type {
  EnumKind,
  FieldKind,
  GenerateMessage,
  ListKind,
  NumberKind,
} from '../../wire/generate-field-kinds.ts';
import { normalizeSchema, UNDEFINED_TEXT } from './normalize-schema.ts';
import { type Place, wrongType } from './place.ts';
import { normalizeSignature } from './signatures.ts';

const INTEGER_TEXT = /^-?\d{1,19}$/;

/**
 * A copy of one message in official camelCase. Free-form values are not copied; unknown fields are
 * dropped with a receipt; null means absent, as in proto JSON.
 * @throws GatewayError (invalid-request) naming the field as the client spelled it.
 */
export function normalizeMessage(
  value: JsonValue,
  message: GenerateMessage,
  place: Place,
): JsonObject {
  if (message === 'Content' && typeof value === 'string') return { parts: [{ text: value }] };
  if (!isJsonObject(value)) throw wrongType(place, 'an object');
  const result: JsonObject = {};
  for (const [key, raw] of Object.entries(value)) {
    if (raw === null) continue;
    const inner = { path: memberPath(place.path, key), receipt: place.receipt };
    const field = findField(message, key);
    if (field === undefined) {
      place.receipt.add('dropped', inner.path, told`The API has no such field.`);
    } else if (isUndefinedText(raw, field.kind)) {
      place.receipt.add(
        'repaired',
        inner.path,
        told`"${UNDEFINED_TEXT}" stands for an absent value.`,
      );
    } else if (Object.hasOwn(result, field.name)) {
      place.receipt.add('dropped', inner.path, told`The field is given twice, in two spellings.`);
    } else {
      const normalized = normalizeValue(raw, field.kind, inner);
      if (normalized !== undefined) result[field.name] = normalized;
    }
  }
  return result;
}

function isUndefinedText(raw: JsonValue, kind: FieldKind): boolean {
  return raw === UNDEFINED_TEXT && kind.kind !== 'text';
}

function normalizeValue(raw: JsonValue, kind: FieldKind, place: Place): JsonValue | undefined {
  switch (kind.kind) {
    case 'text':
    case 'string':
      if (typeof raw !== 'string') throw wrongType(place, 'a string');
      return raw;
    case 'boolean':
      if (typeof raw !== 'boolean') throw wrongType(place, 'true or false');
      return raw;
    case 'integer':
    case 'number':
      return normalizeNumber(raw, kind, place);
    case 'enum':
      return normalizeEnum(raw, kind, place);
    case 'base64':
      return normalizeBase64(raw, place);
    case 'signature':
      return normalizeSignature(raw, place);
    case 'schema':
      return normalizeSchema(raw, place);
    case 'free':
      checkFreeForm(raw, kind.shape, place);
      return raw;
    case 'message':
      return normalizeMessage(raw, kind.message, place);
    case 'string-list':
    case 'enum-list':
    case 'message-list':
      return normalizeList(raw, kind, place);
    default:
      return kind satisfies never;
  }
}

/** A lone value is taken as a list of one, as the service's own parser does for messages. */
function normalizeList(raw: JsonValue, kind: ListKind, place: Place): JsonValue[] {
  const values = Array.isArray(raw) ? raw : [raw];
  const result: JsonValue[] = [];
  values.forEach((value, index) => {
    const path = Array.isArray(raw) ? `${place.path}[${index}]` : place.path;
    const inner = { path, receipt: place.receipt };
    if (value === UNDEFINED_TEXT) {
      place.receipt.add('repaired', path, told`"${UNDEFINED_TEXT}" stands for an absent value.`);
    } else if (kind.kind === 'message-list') {
      result.push(normalizeMessage(value, kind.message, inner));
    } else if (kind.kind === 'enum-list') {
      result.push(normalizeEnum(value, { ...kind, numbered: kind.values }, inner));
    } else {
      if (typeof value !== 'string') throw wrongType(inner, 'a string');
      result.push(value);
    }
  });
  return result;
}

/** Proto JSON writes 64-bit integers as strings and takes strings for every number. */
function normalizeNumber(raw: JsonValue, kind: NumberKind, place: Place): number {
  const isText = typeof raw === 'string' && (kind.kind === 'number' || INTEGER_TEXT.test(raw));
  const value = isText && raw.trim() !== '' ? Number(raw) : readNumber(raw);
  const expected = kind.kind === 'integer' ? 'an integer' : 'a number';
  if (value === undefined || !Number.isFinite(value)) throw wrongType(place, expected);
  if (kind.kind === 'integer' && !Number.isInteger(value)) throw wrongType(place, expected);
  if (value < kind.min || value > kind.max) {
    const range = `from ${kind.min} to ${kind.max}`;
    throw invalidRequest(place.path, `${place.path} must be ${expected} ${range}.`);
  }
  return value;
}

/** Client libraries made from the service's own definitions send the number for the name (`enum-encoding=int`). */
function normalizeEnum(
  raw: JsonValue,
  { values, numbered }: Pick<EnumKind, 'values' | 'numbered'>,
  place: Place,
): string {
  const number = readNumber(raw);
  const named = number === undefined ? raw : numbered?.[number];
  if (typeof named !== 'string') throw wrongType(place, 'a string');
  const value = named.toUpperCase();
  if (values === undefined || values.includes(value)) return value;
  const known = values.filter((word) => !word.endsWith('_UNSPECIFIED')).join(', ');
  throw invalidRequest(place.path, `${place.path} must be one of ${known}.`);
}

function normalizeBase64(raw: JsonValue, place: Place): string {
  if (typeof raw !== 'string') throw wrongType(place, 'a base64 string');
  const text = tidyBase64(raw);
  if (text !== undefined) return text;
  const hint = raw.startsWith('data:') ? ' Send only what follows the comma of the data URI.' : '';
  throw invalidRequest(place.path, `${place.path} is not valid base64.${hint}`);
}

function checkFreeForm(
  raw: JsonValue,
  shape: 'object' | 'schema' | 'string-map',
  place: Place,
): void {
  if (shape === 'schema' && typeof raw === 'boolean') return;
  if (!isJsonObject(raw)) throw wrongType(place, 'an object');
  if (shape !== 'string-map') return;
  for (const value of Object.values(raw)) {
    if (typeof value !== 'string') throw wrongType(place, 'an object of strings');
  }
}
