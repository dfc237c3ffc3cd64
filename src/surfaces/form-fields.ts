// Fields of a multipart form, which are all text, as the values that a shape has for them.

import type { JsonObject } from '../lib/json.ts';
import type { Shape } from '../protocols/body-schema.ts';

/** Switches and numbers in words; an empty field of such says nothing. */
export function readFormFields(
  body: JsonObject,
  { fields }: Extract<Shape, { kind: 'object' }>,
): JsonObject {
  const read: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    const kind = fields.get(name)?.kind;
    if (typeof value !== 'string' || (kind !== 'boolean' && kind !== 'number')) read[name] = value;
    else if (value.trim() !== '') read[name] = kind === 'number' ? numberOf(value) : flagOf(value);
  }
  return read;
}

function numberOf(text: string): number | string {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

function flagOf(text: string): boolean | string {
  return text === 'true' || (text === 'false' ? false : text);
}
