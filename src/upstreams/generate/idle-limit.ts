// Says how long a stream may be silent: longer while the model thinks or draws, less when it has finished.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import type { Frame } from '../upstream.ts';

export const IDLE_MS = 90_000;
const LONG_IDLE_MS = 180_000;
/** Usage and sources may come behind the finish reason; and some upstreams write it into every frame. */
const FINISHED_IDLE_MS = 30_000;

/** The limit in milliseconds after each frame of one answer. */
export function createIdleLimit({
  drawsImages,
}: {
  readonly drawsImages: boolean;
}): (frame: Frame) => number {
  return (frame) => {
    if (saysItsEnd(frame)) return FINISHED_IDLE_MS;
    return drawsImages || endsInThought(frame.value) ? LONG_IDLE_MS : IDLE_MS;
  };
}

/** True when every candidate of the frame names the reason why it has finished; no answer ends in a thought. */
export function saysItsEnd({ value }: Frame): boolean {
  const { candidates } = value;
  if (!Array.isArray(candidates) || candidates.length === 0 || endsInThought(value)) return false;
  return candidates.every(
    (candidate) => isJsonObject(candidate) && isReason(candidate.finishReason),
  );
}

/** Some upstreams write every field into every frame, also those that say nothing. */
function isReason(reason: JsonValue | undefined): boolean {
  return typeof reason === 'string' && reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED';
}

function endsInThought({ candidates }: JsonObject): boolean {
  const candidate = Array.isArray(candidates) ? candidates.at(-1) : undefined;
  if (!isJsonObject(candidate) || !isJsonObject(candidate.content)) return false;
  const { parts } = candidate.content;
  const part = Array.isArray(parts) ? parts.at(-1) : undefined;
  return isJsonObject(part) && part.thought === true;
}
