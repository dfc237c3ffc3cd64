// Thoughts on this wire: three fields for them in an answer, and one in which they go back.

import type { ServerToolHistory, Signature, ThinkingPart } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { objectsOf, textOf } from '../read-values.ts';
import type { ChatQuirks, ReasoningField } from './profiles.ts';

/**
 * What was thought before one text or call: words, and the field they came in, or the details an upstream wants back as
 * they came.
 */
export type Reasoning = JsonObject;

/** Fields whose words have no signature of their own. */
const PLAIN_FIELDS = ['reasoning_content', 'reasoning'] as const;
type PlainField = (typeof PLAIN_FIELDS)[number];

/** The words of a delta or a message that are thoughts; each field repeats the others where there are several. */
export function readThought(holder: JsonObject): string | undefined {
  const { reasoning_content: content, reasoning, reasoning_details: details } = holder;
  const said = textOf(content) ?? textOf(reasoning);
  if (said !== undefined || !Array.isArray(details)) return said;
  const words = objectsOf(details).map(
    ({ text, summary }) => textOf(text) ?? textOf(summary) ?? '',
  );
  return words.join('') || undefined;
}

/** Undefined where its thoughts are nothing but details or parts of the content. */
export function plainField(holder: JsonObject): PlainField | undefined {
  return PLAIN_FIELDS.find((field) => textOf(holder[field]) !== undefined);
}

/**
 * The details of one stretch of thinking. Pieces of one detail, as streams bring them, are one again
 * (openrouter.ai/docs, "Reasoning Tokens": the sequence goes back as it came).
 */
export class ReasoningDetails {
  readonly #details: JsonObject[] = [];

  add(value: JsonValue | undefined): void {
    for (const detail of objectsOf(value)) {
      const last = this.#details.at(-1);
      if (last === undefined || !goesOn(last, detail)) this.#details.push(detail);
      else this.#details[this.#details.length - 1] = joined(last, detail);
    }
  }

  /** Undefined where there was none. */
  take(): readonly JsonObject[] | undefined {
    return this.#details.length === 0 ? undefined : this.#details.splice(0);
  }
}

/** Of a detail what streams cut into pieces. */
const CUT_FIELDS = ['text', 'summary', 'data'] as const;

function goesOn(before: JsonObject, after: JsonObject): boolean {
  const isSame = before.type === after.type && (before.index ?? 0) === (after.index ?? 0);
  return isSame && (before.id ?? after.id) === (after.id ?? before.id);
}

function joined(before: JsonObject, after: JsonObject): JsonObject {
  const whole: JsonObject = { ...before };
  for (const [key, value] of Object.entries(after)) {
    if (value === null) continue;
    const known = before[key];
    const isCut = CUT_FIELDS.some((field) => field === key);
    whole[key] =
      isCut && typeof known === 'string' && typeof value === 'string' ? known + value : value;
  }
  return whole;
}

/** What vouches for a thought: its details; else that it was had here, and the field it came in, if it was one. */
export function signatureOf({ details, field }: Reasoning, family: string): Signature {
  const said = details === undefined ? (textOf(field) ?? 'thinking') : JSON.stringify(details);
  return { value: Buffer.from(said).toString('base64url'), family, on: 'thinking' };
}

/** For clients that return calls but no thoughts. */
export function traceOf(
  thoughts: readonly Reasoning[],
  family: string,
): { readonly trace: ServerToolHistory } | undefined {
  return thoughts.length === 0 ? undefined : { trace: { family, parts: thoughts } };
}

/** `{text}`, `{field}` and `{details}`: the form in which thoughts are remembered. */
export function rememberedThought(
  text: string,
  details: readonly JsonObject[] | undefined,
  field?: string,
): Reasoning {
  return {
    text,
    ...(field !== undefined && { field }),
    ...(details !== undefined && { details: [...details] }),
  };
}

/** What a client carried; none for a thought that only carries another part's signature. */
export function readReasoning({ text, signature }: ThinkingPart): readonly Reasoning[] {
  const value = signature?.value;
  const said = value === undefined ? '' : Buffer.from(value, 'base64url').toString();
  const field = PLAIN_FIELDS.find((one) => one === said);
  const details = value === undefined || field !== undefined ? undefined : detailsIn(said);
  return text === '' && details === undefined ? [] : [rememberedThought(text, details, field)];
}

function detailsIn(json: string): readonly JsonObject[] | undefined {
  try {
    const details = parseJson(json);
    return Array.isArray(details) && details.every(isJsonObject) ? details : undefined;
  } catch {
    return undefined;
  }
}

/** In which field thoughts go back; undefined where they stay out. */
export function fieldFor(
  thoughts: readonly Reasoning[],
  sends: ChatQuirks['sendsReasoning'],
): ReasoningField | undefined {
  if (sends !== 'as-told') return sends;
  if (thoughts.some(({ details }) => details !== undefined)) return 'reasoning_details';
  return PLAIN_FIELDS.find((one) => thoughts.some(({ field }) => field === one));
}

/** The thoughts of one message, in the field the upstream reads; details go back unchanged. */
export function reasoningFields(thoughts: readonly Reasoning[], field: ReasoningField): JsonObject {
  if (thoughts.length === 0) return {};
  const text = thoughts.map((thought) => textOf(thought.text) ?? '').join('');
  if (field !== 'reasoning_details') return text === '' ? {} : { [field]: text };
  const details = thoughts.flatMap((thought) => objectsOf(thought.details));
  if (details.length > 0) return { reasoning_details: details };
  return text === '' ? {} : { reasoning: text };
}
