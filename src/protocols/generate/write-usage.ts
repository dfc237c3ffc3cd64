// Token counts in this protocol's own shape.

import { totalTokens, type Usage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';

/** The prompt count includes cached tokens; the candidates' count excludes thoughts. */
export function writeUsage(usage: Usage): JsonObject {
  const metadata: JsonObject = {
    promptTokenCount: usage.promptTokens,
    candidatesTokenCount: usage.answerTokens,
    totalTokenCount: totalTokens(usage),
    cachedContentTokenCount: usage.cachedTokens,
  };
  if (usage.thoughtTokens > 0) metadata.thoughtsTokenCount = usage.thoughtTokens;
  if (usage.toolPromptTokens > 0) metadata.toolUsePromptTokenCount = usage.toolPromptTokens;
  return metadata;
}
