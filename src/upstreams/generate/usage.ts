// Reads the counts of tokens that frames and answers tell.

import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';

/**
 * The usage of a frame's `usageMetadata`; undefined when it has none. Absent counts are zero; the
 * answer's, when only the total is there, is what the others leave of it.
 * Source: ai.google.dev, "GenerateContent API reference", `UsageMetadata`.
 */
export function readUsage(metadata: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const promptTokens = readTokenCount(metadata.promptTokenCount) ?? 0;
  const toolPromptTokens = readTokenCount(metadata.toolUsePromptTokenCount) ?? 0;
  const thoughtTokens = readTokenCount(metadata.thoughtsTokenCount) ?? 0;
  const cachedTokens = readTokenCount(metadata.cachedContentTokenCount) ?? 0;
  const answerTokens = readTokenCount(metadata.candidatesTokenCount);
  const total = answerTokens ?? readTokenCount(metadata.totalTokenCount) ?? 0;
  const { promptTokensDetails: promptDetails, candidatesTokensDetails: answerDetails } = metadata;
  const media = promptDetails === undefined ? undefined : readMedia(promptDetails);
  const answerMedia = answerDetails === undefined ? undefined : readMedia(answerDetails);
  return {
    promptTokens,
    cachedTokens: Math.min(cachedTokens, promptTokens),
    toolPromptTokens,
    answerTokens:
      answerTokens ?? Math.max(0, total - promptTokens - toolPromptTokens - thoughtTokens),
    thoughtTokens,
    ...(media && { media }),
    ...(answerMedia && { answerMedia }),
  };
}

/** Undefined too where the total says that the thoughts are among those of the answer, as some upstreams count. */
export function readAnswerCount(metadata: JsonObject | undefined): number | undefined {
  const answer = readTokenCount(metadata?.candidatesTokenCount);
  if (answer === undefined) return undefined;
  const { promptTokens, toolPromptTokens, thoughtTokens } = readUsage(metadata) ?? NO_USAGE;
  const isInclusive =
    thoughtTokens > 0 &&
    readTokenCount(metadata?.totalTokenCount) === promptTokens + toolPromptTokens + answer;
  return isInclusive ? undefined : answer;
}

/** `[{modality: "TEXT", tokenCount: 3}, {modality: "IMAGE", tokenCount: 258}]`. Most are text alone. */
function readMedia(details: JsonValue | undefined): Usage['media'] {
  if (!Array.isArray(details)) return undefined;
  let image = 0;
  let audio = 0;
  for (const detail of details) {
    if (!isJsonObject(detail)) continue;
    const count = readTokenCount(detail.tokenCount) ?? 0;
    if (detail.modality === 'IMAGE') image += count;
    else if (detail.modality === 'AUDIO') audio += count;
  }
  return image === 0 && audio === 0 ? undefined : { image, audio };
}

/** The counts are 32-bit integers of the API; sums of larger ones would not fit the stores of records. */
const MAX_TOKEN_COUNT = 2_147_483_647;

/** A number of tokens; undefined for what no answer can have used. */
export function readTokenCount(given: JsonValue | undefined): number | undefined {
  if (given === undefined) return undefined;
  // The JSON form of 64-bit numbers is text (protobuf.dev, "ProtoJSON Format").
  const count = typeof given === 'string' && given !== '' ? Number(given) : readNumber(given);
  return count !== undefined && count >= 0 && count <= MAX_TOKEN_COUNT
    ? Math.round(count)
    : undefined;
}
