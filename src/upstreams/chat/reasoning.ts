// Thoughts on this wire: three fields for them in an answer, and one in which they go back.

import type { ServerToolHistory, Signature, ThinkingPart } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { objectsOf, textOf } from '../read-values.ts';
import type { ReasoningField } from './profiles.ts';

/** What was thought before one text or call: words, or the details an upstream wants back as they came. */
export type Reasoning = JsonObject;

/** Vouches for thoughts that have no signature of their own: they were had here. */
const PLAIN_SIGNATURE = 'cmVhc29uaW5n';

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

/** What vouches for a thought: its details, where it has any. */
export function signatureOf(details: readonly JsonObject[] | undefined, family: string): Signature {
  const value =
    details === undefined
      ? PLAIN_SIGNATURE
      : Buffer.from(JSON.stringify(details)).toString('base64url');
  return { value, family, on: 'thinking' };
}

/** For clients that return calls but no thoughts. */
export function traceOf(
  thoughts: readonly Reasoning[],
  family: string,
): { readonly trace: ServerToolHistory } | undefined {
  return thoughts.length === 0 ? undefined : { trace: { family, parts: thoughts } };
}

/** `{text}` and `{details}`: the form in which thoughts are remembered. */
export function rememberedThought(
  text: string,
  details: readonly JsonObject[] | undefined,
): Reasoning {
  return details === undefined ? { text } : { text, details: [...details] };
}

/** What a client carried; none for a thought that only carries another part's signature. */
export function readReasoning({ text, signature }: ThinkingPart): readonly Reasoning[] {
  const value = signature?.value;
  const details = value === undefined || value === PLAIN_SIGNATURE ? undefined : detailsIn(value);
  return text === '' && details === undefined ? [] : [rememberedThought(text, details)];
}

function detailsIn(value: string): readonly JsonObject[] | undefined {
  try {
    const details = parseJson(Buffer.from(value, 'base64url').toString());
    return Array.isArray(details) && details.every(isJsonObject) ? details : undefined;
  } catch {
    return undefined;
  }
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
