// How bodies of this wire are written and its answers read, as the transport is given it.

import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { WireRules } from '../transport/client.ts';
import type { AnswerEnding } from '../transport/response.ts';
import { classifyFailure } from './errors.ts';
import { RepeatedEvents } from './event-parser.ts';
import { encodeBody } from './request-body.ts';

/**
 * `finished` when every candidate names the reason why, `thought` when the last part is one: no answer ends in
 * a thought, whatever reason its frame names.
 */
function endingOf({ candidates }: JsonObject): AnswerEnding | undefined {
  if (!Array.isArray(candidates)) return undefined;
  const last = candidates.at(-1);
  const content = isJsonObject(last) ? last.content : undefined;
  const parts = isJsonObject(content) ? content.parts : undefined;
  const part = Array.isArray(parts) ? parts.at(-1) : undefined;
  if (isJsonObject(part) && part.thought === true) return 'thought';
  for (const candidate of candidates) {
    const reason = isJsonObject(candidate) ? candidate.finishReason : undefined;
    // Some upstreams write every field into every frame, also those that say nothing.
    if (typeof reason !== 'string' || reason === '' || reason === 'FINISH_REASON_UNSPECIFIED') {
      return undefined;
    }
  }
  return candidates.length > 0 ? 'finished' : undefined;
}

/** How its bodies are written and its answers read. */
export const WIRE_RULES: WireRules = {
  classifyFailure,
  endingOf,
  createMemory: () => new RepeatedEvents(),
  encodeBody,
};
