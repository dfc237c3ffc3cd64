// Frames that say nothing but a text, as most of a stream do.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { objectOf } from '../../lib/read-values.ts';
import type { TextEvent } from '../transport/repeated-texts.ts';
import { choiceNumber } from '../wire-parts.ts';

const PLAIN_CANDIDATE: ReadonlySet<string> = new Set(['content', 'index', 'safetyRatings']);
const PLAIN_PART: ReadonlySet<string> = new Set(['text', 'thought']);

/** The number of the choice whose text a frame says, and what kind it is; undefined where more is said. */
export function plainTextOf({ candidates, promptFeedback }: JsonObject) {
  const candidate = onlyObject(candidates, PLAIN_CANDIDATE);
  if (candidate === undefined || promptFeedback !== undefined) return undefined;
  const { content } = candidate;
  const part = isJsonObject(content) ? onlyObject(content.parts, PLAIN_PART) : undefined;
  if (part === undefined || typeof part.text !== 'string') return undefined;
  const kind = part.thought === true ? 'thinking' : 'text';
  return { number: choiceNumber(candidate), kind } as const;
}

/** The only item of a list, when it is an object, with no other fields than these. */
function onlyObject(
  list: JsonValue | undefined,
  fields?: ReadonlySet<string>,
): JsonObject | undefined {
  const item = Array.isArray(list) && list.length === 1 ? list[0] : undefined;
  if (!isJsonObject(item)) return undefined;
  return fields === undefined || Object.keys(item).every((key) => fields.has(key))
    ? item
    : undefined;
}

/**
 * Which frames of a stream differ in one text, and in the counts. What has an end is followed by none like it. A stream
 * of 50 events costs a sixth less CPU with it (client and upstream in the same process).
 */
export function findTextPart(event: JsonObject): TextEvent | undefined {
  const candidate = onlyObject(event.candidates);
  const content = objectOf(candidate?.content);
  const part = onlyObject(content?.parts);
  if (typeof part?.text !== 'string' || candidate?.finishReason !== undefined) return undefined;
  return {
    field: 'text',
    text: part.text,
    changing: 'usageMetadata',
    write: (text) => {
      const parts = [{ ...part, text }];
      return { ...event, candidates: [{ ...candidate, content: { ...content, parts } }] };
    },
  };
}
