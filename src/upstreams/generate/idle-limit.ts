// Says how long a stream may be silent: longer while the model thinks or draws, less when it has finished.

import { isJsonObject, type JsonObject } from '../../lib/json.ts';
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

/** True when every candidate of the frame names the reason why it has finished. */
export function saysItsEnd({ value: { candidates } }: Frame): boolean {
  if (!Array.isArray(candidates) || candidates.length === 0) return false;
  return candidates.every(
    (candidate) => isJsonObject(candidate) && typeof candidate.finishReason === 'string',
  );
}

function endsInThought({ candidates }: JsonObject): boolean {
  const candidate = Array.isArray(candidates) ? candidates.at(-1) : undefined;
  if (!isJsonObject(candidate) || !isJsonObject(candidate.content)) return false;
  const { parts } = candidate.content;
  const part = Array.isArray(parts) ? parts.at(-1) : undefined;
  return isJsonObject(part) && part.thought === true;
}
