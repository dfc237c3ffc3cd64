// Checks what a caller of the admin API sent against its schema, and says in words what is wrong.

import type { XSchema } from 'typebox/schema';
import { type ErrorReason, type GatewayError, invalidRequest } from '../canonical/error.ts';
import { type SchemaError, sayKeyword } from '../config/schema-words.ts';
import { told } from '../lib/told.ts';
import { patternWords } from './patterns.ts';

/** @throws GatewayError invalid-request naming the first field that is wrong; values are never repeated. */
type Check = (value: unknown) => void;

/** Compiled on first use: most routes are never called, and the compiler takes time to load. */
export function createCheck(schema: XSchema): (value: unknown) => Promise<void> {
  let compiled: Promise<Check> | undefined;
  return async (value) => {
    compiled ??= compile(schema);
    (await compiled)(value);
  };
}

async function compile(schema: XSchema): Promise<Check> {
  const { Compile } = await import('typebox/schema');
  const validator = Compile(schema);
  return (value) => {
    if (validator.Check(value)) return;
    const [, errors] = validator.Errors(value);
    throw sayProblem(errors.find(({ keyword }) => keyword !== 'boolean'));
  };
}

function sayProblem(problem: SchemaError | undefined): GatewayError {
  if (problem === undefined) return invalidRequest('body', told`The request does not fit.`);
  const path = problem.instancePath.split('/').slice(1).map(unescapeStep);
  const { keyword, params } = problem;
  if (keyword === 'required') {
    const field = fieldName([...path, firstOf(params, 'requiredProperties')]);
    return invalidRequest(field, told`${field}: is missing.`, 'missing-field');
  }
  if (keyword === 'additionalProperties') {
    const field = fieldName([...path, firstOf(params, 'additionalProperties')]);
    return invalidRequest(field, told`${field}: there is no such field here.`);
  }
  const field = fieldName(path);
  return invalidRequest(field, `${field}: ${wordsOf(problem)}.`, REASONS.get(keyword));
}

const REASONS: ReadonlyMap<string, ErrorReason> = new Map([['type', 'invalid-type']]);

function wordsOf(problem: SchemaError): string {
  const words = problem.keyword === 'pattern' ? patternWords(problem.params) : undefined;
  return words ?? sayKeyword(problem);
}

function firstOf(params: object, key: string): string {
  const names = Object.entries(params).find(([name]) => name === key)?.[1];
  return Array.isArray(names) ? String(names[0]) : '';
}

function fieldName(steps: readonly string[]): string {
  const text = steps
    .map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('');
  return text === '' ? 'body' : text;
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
