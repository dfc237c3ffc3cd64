// Reads the wire's running token counts into the canonical ledger.

import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
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
    ...readMedia(metadata.promptTokensDetails),
  };
}

/** Undefined too where the total says that the thoughts are among those of the answer, as some upstreams count. */
export function readAnswerCount(metadata: JsonObject | undefined): number | undefined {
  if (metadata === undefined) return undefined;
  const answer = countAt(metadata, 'candidatesTokenCount');
  if (answer === undefined) return undefined;
  const { promptTokens, toolPromptTokens, thoughtTokens } = readUsage(metadata) ?? NO_USAGE;
  const isInclusive =
    thoughtTokens > 0 &&
    countAt(metadata, 'totalTokenCount') === promptTokens + toolPromptTokens + answer;
  return isInclusive ? undefined : answer;
}

/** `[{modality: "TEXT", tokenCount: 3}, {modality: "IMAGE", tokenCount: 258}]`. Most prompts are text alone. */
function readMedia(details: JsonValue | undefined): Pick<Usage, 'media'> {
  if (!Array.isArray(details)) return {};
  const image = countOf(details, 'IMAGE');
  const audio = countOf(details, 'AUDIO');
  return image === 0 && audio === 0 ? {} : { media: { image, audio } };
}

function countOf(details: readonly JsonValue[], modality: string): number {
  let count = 0;
  for (const detail of details) {
    if (isJsonObject(detail) && detail.modality === modality)
      count += countAt(detail, 'tokenCount') ?? 0;
  }
  return count;
}

/** The counts are 32-bit integers of the API; sums of larger ones would not fit the stores of records. */
const MOST_TOKENS = 2_147_483_647;

/** A number of tokens; undefined for what no answer can have used. */
export function readTokenCount(given: JsonValue | undefined): number | undefined {
  // The JSON form of 64-bit numbers is text (protobuf.dev, "ProtoJSON Format").
  const count = typeof given === 'string' && given !== '' ? Number(given) : readNumber(given);
  return count !== undefined && count >= 0 && count <= MOST_TOKENS ? Math.round(count) : undefined;
}

function countAt(metadata: JsonObject, key: string): number | undefined {
  return readTokenCount(metadata[key]);
}
