// What the grammars share: one error for a broken rule, and narrow readers for what a frame must hold.

import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/lib/json.ts';

/** @throws Error when the rule does not hold */
export function check(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new Error(`Stream grammar: ${rule}.`);
}

export function objectIn(holder: JsonObject, key: string): JsonObject {
  const value = holder[key];
  check(isJsonObject(value), `${key} is an object`);
  return value;
}

export function listIn(holder: JsonObject, key: string): readonly JsonObject[] {
  const value = holder[key];
  check(Array.isArray(value), `${key} is a list`);
  return value.map((item) => {
    check(isJsonObject(item), `${key} holds objects`);
    return item;
  });
}

export function textIn(holder: JsonObject, key: string): string {
  const value: JsonValue | undefined = holder[key];
  check(typeof value === 'string', `${key} is a text`);
  return value;
}

export function idIn(holder: JsonObject, key: string): string {
  const value = textIn(holder, key);
  check(value !== '', `${key} is not empty`);
  return value;
}

export function countIn(holder: JsonObject, key: string): number {
  const value = holder[key];
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  check(isCount, `${key} is a whole number`);
  return value;
}

/** The error object of the chat family. */
export function checkChatError(frame: JsonObject): void {
  const error = objectIn(frame, 'error');
  idIn(error, 'message');
  idIn(error, 'type');
}

export function checkSum(usage: JsonObject, parts: readonly string[], total: string): void {
  const sum = parts.reduce((before, key) => before + countIn(usage, key), 0);
  check(countIn(usage, total) === sum, `${total} is the sum of ${parts.join(' and ')}`);
}
