// Says how long a stream may be silent: longer while the model thinks or draws.

import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { Frame } from '../upstream.ts';

export const IDLE_MS = 90_000;
const LONG_IDLE_MS = 180_000;

/** The limit in milliseconds after each frame of one answer. */
export function createIdleLimit({
  drawsImages,
}: {
  readonly drawsImages: boolean;
}): (frame: Frame) => number {
  if (drawsImages) return () => LONG_IDLE_MS;
  return ({ value }) => (endsInThought(value) ? LONG_IDLE_MS : IDLE_MS);
}

function endsInThought({ candidates }: JsonObject): boolean {
  const candidate = Array.isArray(candidates) ? candidates.at(-1) : undefined;
  if (!isJsonObject(candidate) || !isJsonObject(candidate.content)) return false;
  const { parts } = candidate.content;
  const part = Array.isArray(parts) ? parts.at(-1) : undefined;
  return isJsonObject(part) && part.thought === true;
}
