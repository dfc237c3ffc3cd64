// Reads the wire's running token counts into the canonical ledger.

import type { Usage } from '../../canonical/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';

/**
 * The usage of a frame's `usageMetadata`; undefined when it has none. Absent counts are zero; the
 * answer's, when only the total is there, is what the others leave of it.
 * Source: ai.google.dev, "GenerateContent API reference", `UsageMetadata`.
 */
export function readUsage(metadata: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const promptTokens = countAt(metadata, 'promptTokenCount') ?? 0;
  const toolPromptTokens = countAt(metadata, 'toolUsePromptTokenCount') ?? 0;
  const thoughtTokens = countAt(metadata, 'thoughtsTokenCount') ?? 0;
  const total = countAt(metadata, 'totalTokenCount') ?? 0;
  return {
    promptTokens,
    cachedTokens: Math.min(countAt(metadata, 'cachedContentTokenCount') ?? 0, promptTokens),
    toolPromptTokens,
    answerTokens:
      countAt(metadata, 'candidatesTokenCount') ??
      Math.max(0, total - promptTokens - toolPromptTokens - thoughtTokens),
    thoughtTokens,
  };
}

function countAt(metadata: JsonObject, key: string): number | undefined {
  const given = metadata[key];
  // The JSON form of 64-bit numbers is text (protobuf.dev, "ProtoJSON Format").
  const count = typeof given === 'string' && given !== '' ? Number(given) : readNumber(given);
  return count !== undefined && Number.isFinite(count) && count >= 0
    ? Math.round(count)
    : undefined;
}
