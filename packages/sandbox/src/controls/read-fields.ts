// Reads the bodies of the controls: known fields only, each of its own kind.

import { SANDBOX_TIERS, type SandboxTier } from '../accounts.ts';
import { badRequest, type Violation } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../json.ts';
import { SANDBOX_MODELS } from '../models.ts';

/** Says what a field must be when its value is not that. */
export interface FieldRule {
  readonly mustBe: string;
  readonly accepts: (value: JsonValue) => boolean;
}

export const TEXT: FieldRule = { mustBe: 'a text', accepts: (value) => typeof value === 'string' };
export const FLAG: FieldRule = {
  mustBe: 'true or false',
  accepts: (value) => typeof value === 'boolean',
};
export const TIER: FieldRule = {
  mustBe: `one of ${SANDBOX_TIERS.join(', ')}`,
  accepts: (value) => readTier(value) !== undefined,
};
export const MODEL: FieldRule = {
  mustBe: 'the id of a model of GET /v1beta/models',
  accepts: (value) => SANDBOX_MODELS.some(({ id }) => id === value),
};
export const MODELS: FieldRule = {
  mustBe: 'a list of ids of GET /v1beta/models',
  accepts: (value) => Array.isArray(value) && value.every(MODEL.accepts),
};

export function wholeNumber(from: number, to: number): FieldRule {
  return {
    mustBe: `a whole number from ${from} to ${to}`,
    accepts: (value) => isWithin(value, from, to) && Number.isInteger(readNumber(value)),
  };
}

export function fraction(): FieldRule {
  return { mustBe: 'a number from 0 to 1', accepts: (value) => isWithin(value, 0, 1) };
}

/** @throws SandboxError 400 naming every field that is unknown or of another kind. */
export function readFields(
  body: JsonValue,
  rules: Readonly<Record<string, FieldRule>>,
): JsonObject {
  if (!isJsonObject(body)) throw badRequest([{ field: '', description: 'must be a JSON object' }]);
  const ruleOf = new Map(Object.entries(rules));
  const violations = Object.entries(body).flatMap(([field, value]): Violation[] => {
    const rule = ruleOf.get(field);
    if (rule?.accepts(value)) return [];
    const known = [...ruleOf.keys()].join(', ');
    const description = rule ? `must be ${rule.mustBe}` : `is unknown; there are ${known}`;
    return [{ field, description }];
  });
  if (violations.length > 0) throw badRequest(violations);
  return body;
}

export function readTier(value: JsonValue | undefined): SandboxTier | undefined {
  return SANDBOX_TIERS.find((tier) => tier === value);
}

function isWithin(value: JsonValue, from: number, to: number): boolean {
  const number = readNumber(value);
  return number !== undefined && number >= from && number <= to;
}
