// What the small surfaces share: requests of one turn, and the fields of a form as its shape has them.

import type { CanonicalRequest, Part } from '../canonical/request.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Shape } from '../protocols/body-schema.ts';

/** One turn of the user's, without thoughts: the clients of these surfaces know none. */
export function askOnce(parts: readonly Part[], rest: Partial<CanonicalRequest>): CanonicalRequest {
  return {
    system: [],
    turns: [{ role: 'user', parts }],
    tools: [],
    toolChoice: { kind: 'auto', names: [] },
    sampling: {},
    stopSequences: [],
    choices: 1,
    reasoning: { amount: { kind: 'off', isUnasked: true }, showThoughts: false },
    outputFormat: { kind: 'text' },
    safety: [],
    ...rest,
  };
}

/** Forms carry switches and numbers as text; an empty field of such, and one for a word, says nothing. */
export function readFormFields(
  body: JsonObject,
  { fields }: Extract<Shape, { kind: 'object' }>,
): JsonObject {
  const read: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    const shape = fields.get(name);
    const isWord = shape?.kind === 'string' && shape.words !== undefined;
    const isValue = shape?.kind === 'boolean' || shape?.kind === 'number';
    if (typeof value !== 'string' || !(isWord || isValue)) read[name] = value;
    else if (isWord && value !== '') read[name] = value;
    else if (isValue && value.trim() !== '') {
      read[name] = shape.kind === 'number' ? numberOf(value) : flagOf(value);
    }
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
