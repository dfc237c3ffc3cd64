// Reads what is told of a choice beside its parts: why it ended, well or as a fault, its log-probabilities, the counts
// of tokens; and which frame is the last.

import type { FinishReason } from '../../canonical/event.ts';
import type { Logprobs, RatedToken, TokenLogprob } from '../../canonical/logprobs.ts';
import { readTokenCount, type Usage } from '../../canonical/usage.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  sizeOf,
} from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { itemsOf, objectOf } from '../../lib/read-values.ts';
import { stopMessage } from '../../wire/generate.ts';
import type { AnswerEnding } from '../transport/response.ts';

type Ending =
  /** `isOdd` where the reason is none of a natural end, though what was said can be used. */
  | {
      readonly kind: 'finished';
      readonly reason: FinishReason;
      readonly isOdd?: true | undefined;
      readonly stopSequence?: string | undefined;
    }
  /** What other upstreams refuse with a status: there is no answer, or no more of it. */
  | { readonly kind: 'refused'; readonly failure: 'missing-signature' | 'model-forbidden' }
  /** Worth another attempt; `message` is safe for clients. */
  | { readonly kind: 'failed'; readonly message: Sentence };

/** What the choice has said until it ended. */
interface SaidBefore {
  readonly hasBrokenCall: boolean;
  readonly hasToolCalls: boolean;
  readonly hasContent: boolean;
  /** The upstream's words for the end. */
  readonly message?: string | undefined;
}

const UNUSABLE_CALL: Ending = {
  kind: 'failed',
  message: told`The model made a tool call that cannot be used.`,
};

/**
 * How one choice ended. The wire has no reason of its own for tool calls, so their presence decides.
 * Source: ai.google.dev, "GenerateContent API reference", and `google-genai` 3.4 (Python), `FinishReason`.
 */
export function readEnding(
  rawReason: string,
  answer: SaidBefore,
  body: JsonObject | undefined,
): Ending {
  switch (rawReason) {
    case 'SAFETY':
    case 'RECITATION':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
    case 'IMAGE_SAFETY':
    case 'IMAGE_PROHIBITED_CONTENT':
    case 'IMAGE_RECITATION':
    case 'ESCALATION':
    case 'MODEL_ARMOR':
      return { kind: 'finished', reason: 'safety' };
    case 'MISSING_THOUGHT_SIGNATURE':
      return { kind: 'refused', failure: 'missing-signature' };
    // The account broke the rules of use: it is limited or closed.
    case 'PUP_LIMITED_DISABLED':
      return { kind: 'refused', failure: 'model-forbidden' };
    case 'MALFORMED_FUNCTION_CALL':
    case 'UNEXPECTED_TOOL_CALL':
    case 'TOO_MANY_TOOL_CALLS':
      return UNUSABLE_CALL;
    case 'MALFORMED_RESPONSE':
      return { kind: 'failed', message: told`The model gave an answer that cannot be used.` };
    case 'MAX_TOKENS':
    case 'CONTINUATION':
      if (answer.hasBrokenCall) return UNUSABLE_CALL;
      return { kind: 'finished', reason: answer.hasToolCalls ? 'tool-calls' : 'max-tokens' };
    default: {
      if (answer.hasBrokenCall) return UNUSABLE_CALL;
      // LANGUAGE, OTHER, NO_IMAGE, IMAGE_OTHER, and every reason newer than this table are odd.
      const isOdd = rawReason === 'STOP' ? undefined : true;
      if (answer.hasToolCalls) return { kind: 'finished', reason: 'tool-calls', isOdd };
      const stops = stopsOf(body);
      const stopSequence = stops.find((stop) => answer.message === stopMessage(stop));
      if (stopSequence !== undefined) {
        return { kind: 'finished', reason: 'stop-sequence', stopSequence };
      }
      // A stop sequence is left out of the text and ends it naturally: it may be all there was to say.
      if (answer.hasContent || (isOdd === undefined && stops.length > 0)) {
        return { kind: 'finished', reason: 'stop', isOdd };
      }
      return { kind: 'failed', message: told`The model gave an empty answer.` };
    }
  }
}

function stopsOf(body: JsonObject | undefined): readonly string[] {
  const stops = itemsOf(objectOf(body?.generationConfig)?.stopSequences);
  return stops.filter((stop) => typeof stop === 'string');
}

/** Grows with the frames of one candidate. */
export interface GatheredLogprobs extends Logprobs {
  readonly tokens: TokenLogprob[];
  average: number | undefined;
}

/**
 * Adds what this frame tells: tokens are added up, the last average counts.
 * `topCandidates` has an entry a decoding step, as `chosenCandidates` has.
 * Source: ai.google.dev, "GenerateContent API reference", `LogprobsResult`.
 */
export function addLogprobs(
  choice: { logprobs: GatheredLogprobs | undefined; lateBytes: number },
  { logprobsResult, avgLogprobs }: JsonObject,
): void {
  const tokens = isJsonObject(logprobsResult) ? readTokens(logprobsResult) : [];
  const average = readNumber(avgLogprobs) ?? choice.logprobs?.average;
  if (tokens.length === 0 && average === undefined) return;
  const gathered: GatheredLogprobs = choice.logprobs ?? { tokens: [], average };
  for (const token of tokens) gathered.tokens.push(token);
  choice.lateBytes += sizeOf(logprobsResult ?? null);
  gathered.average = average;
  choice.logprobs = gathered;
}

function readTokens({ chosenCandidates, topCandidates }: JsonObject): TokenLogprob[] {
  const steps = itemsOf(topCandidates);
  return itemsOf(chosenCandidates).flatMap((chosen, index) => {
    const token = readToken(chosen);
    if (token === undefined) return [];
    const step = steps[index];
    const alternatives = itemsOf(objectOf(step)?.candidates);
    return [{ ...token, alternatives: alternatives.flatMap((one) => readToken(one) ?? []) }];
  });
}

/** An absent log-probability is 0: the wire leaves zeros out. */
function readToken(value: JsonValue): RatedToken | undefined {
  if (!isJsonObject(value) || typeof value.token !== 'string') return undefined;
  const { token } = value;
  return { token, id: readNumber(value.tokenId), logprob: readNumber(value.logProbability) ?? 0 };
}

/**
 * The usage of a frame's `usageMetadata`; undefined when it has none. Absent counts are zero; the
 * answer's, when only the total is there, is what the others leave of it. Some upstreams have the thoughts among it.
 * Source: ai.google.dev, "GenerateContent API reference", `UsageMetadata`.
 */
export function readUsage(metadata: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const promptTokens = readTokenCount(metadata.promptTokenCount) ?? 0;
  const toolPromptTokens = readTokenCount(metadata.toolUsePromptTokenCount) ?? 0;
  const thoughtTokens = readTokenCount(metadata.thoughtsTokenCount) ?? 0;
  const cachedTokens = readTokenCount(metadata.cachedContentTokenCount) ?? 0;
  const total = readTokenCount(metadata.totalTokenCount) ?? 0;
  const input = promptTokens + toolPromptTokens;
  const answer = readTokenCount(metadata.candidatesTokenCount);
  const output = answer ?? Math.max(0, total - input);
  const isInclusive = answer === undefined || (answer >= thoughtTokens && total === input + answer);
  const { promptTokensDetails: promptDetails, candidatesTokensDetails: answerDetails } = metadata;
  const media = promptDetails === undefined ? undefined : readMedia(promptDetails);
  const answerMedia = answerDetails === undefined ? undefined : readMedia(answerDetails);
  return {
    promptTokens,
    cachedTokens: Math.min(cachedTokens, promptTokens),
    toolPromptTokens,
    answerTokens: isInclusive ? Math.max(0, output - thoughtTokens) : output,
    thoughtTokens,
    ...(media && { media }),
    ...(answerMedia && { answerMedia }),
  };
}

/** Undefined where nobody says; and where it has the thoughts, which the limit of a client does not count. */
export function readAnswerCount(metadata: JsonObject | undefined): number | undefined {
  const answer = readTokenCount(metadata?.candidatesTokenCount);
  return answer === readUsage(metadata)?.answerTokens ? answer : undefined;
}

/** `[{modality: "TEXT", tokenCount: 3}, {modality: "IMAGE", tokenCount: 258}]`. Most are text alone. */
export function readMedia(details: JsonValue | undefined): Usage['media'] {
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

/**
 * `finished` when every candidate names the reason why, `thought` when the last part is one: no answer ends in
 * a thought, whatever reason its frame names.
 */
export function endingOf({ candidates }: JsonObject): AnswerEnding | undefined {
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
