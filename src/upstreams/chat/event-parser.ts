// Which chunks of a stream say one text and nothing else.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { objectOf } from '../read-values.ts';
import type { TextEvent } from '../transport/repeated-texts.ts';

/** Beside these nothing may be said in the one choice, and in its delta, of such a chunk. */
const CHOICE_FIELDS: ReadonlySet<string> = new Set(['index', 'delta']);
const DELTA_FIELDS: ReadonlySet<string> = new Set(['role', 'content']);

/** Random texts of OpenAI and of Mistral, which make all chunks differ. */
const PADDINGS = ['obfuscation', 'p'] as const;

/** Undefined where a chunk also tells of an end, of usage, of an error, of calls or of thoughts. */
export function findTextChunk(event: JsonObject): TextEvent | undefined {
  const { choices, error, usage, citations, x_groq: groq } = event;
  const [choice] = Array.isArray(choices) && choices.length === 1 ? choices : [];
  const delta = isJsonObject(choice) ? objectOf(choice.delta) : undefined;
  if (!isJsonObject(choice) || delta === undefined) return undefined;
  if ([error, usage, citations, groq].some(isSaid)) return undefined;
  if (saysMore(choice, CHOICE_FIELDS) || saysMore(delta, DELTA_FIELDS)) return undefined;
  const { content } = delta;
  if (typeof content !== 'string') return undefined;
  return {
    field: 'content',
    text: content,
    padding: PADDINGS.find((field) => event[field] !== undefined),
    write: (said) => ({ ...event, choices: [{ ...choice, delta: { ...delta, content: said } }] }),
  };
}

function saysMore(object: JsonObject, fields: ReadonlySet<string>): boolean {
  for (const name in object) if (!fields.has(name) && isSaid(object[name])) return true;
  return false;
}

function isSaid(value: JsonValue | undefined): boolean {
  const isEmpty = Array.isArray(value) && value.length === 0;
  return value !== undefined && value !== null && !isEmpty;
}
