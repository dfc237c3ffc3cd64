// One text per JSON meaning: keys sorted, numbers as doubles, no spaces. For hashing and signing.

import { isJsonObject, type JsonValue, readNumber } from '../lib/json.ts';

export function canonicalJson(value: JsonValue): string {
  const number = readNumber(value);
  if (number !== undefined) return JSON.stringify(number);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}
