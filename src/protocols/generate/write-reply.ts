// A finished answer as one generateContent response.

import type { ChoiceEnd, FinishReason } from '../../canonical/event.ts';
import type { Reply, ReplyBlock, ReplyChoice } from '../../canonical/fold.ts';
import type { Citation, FetchedPage, GroundingEvent } from '../../canonical/grounding.ts';
import type { Logprobs, RatedToken } from '../../canonical/logprobs.ts';
import type { Signature } from '../../canonical/request.ts';
import { writeServiceTier } from '../../canonical/service-tier.ts';
import { wrapCarrier } from '../../canonical/signatures.ts';
import { totalTokens, type Usage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { languageWord, OUTCOMES, stopMessage } from '../../wire/generate.ts';
import type { ReplyContext } from '../writers.ts';

export interface WriteOptions {
  /** Whether the client asked to see thoughts; their signatures are written in any case. */
  readonly showThoughts: boolean;
}

export function writeReply(reply: Reply, context: ReplyContext, options: WriteOptions): JsonObject {
  const blocked = reply.choices.find((choice) => choice.end.reason === 'prompt-blocked');
  const outcome: JsonObject =
    blocked === undefined
      ? { candidates: reply.choices.map((choice) => writeCandidate(choice, options)) }
      : { promptFeedback: writePromptFeedback(blocked.end) };
  return {
    ...outcome,
    usageMetadata: writeUsage(reply.usage, reply.serviceTier),
    modelVersion: reply.modelVersion ?? context.model,
    responseId: reply.upstreamId ?? context.createId(''),
  };
}

function writeCandidate(
  { blocks, end, grounding }: ReplyChoice,
  { showThoughts }: WriteOptions,
): JsonObject {
  const parts: JsonObject[] = [];
  const texts: CitedText[] = [];
  const pending = new PendingSignature();
  for (const block of blocks) {
    const signature = pending.sign(block.kind, block.signature);
    if (block.kind === 'thinking' && !showThoughts) {
      if (signature !== undefined) parts.push(signPart({ text: '', thought: true }, signature));
      continue;
    }
    if (block.kind === 'text') texts.push({ text: block.text, partIndex: parts.length });
    parts.push(signPart(writeBlock(block), signature));
  }
  const left = pending.take();
  if (left !== undefined || parts.length === 0) parts.push(signPart({ text: '' }, left));
  return {
    content: { role: 'model', parts },
    ...writeFinish(end),
    index: end.choice,
    ...(grounding && writeGrounding(grounding, texts)),
  };
}

/** One block, unsigned. */
export function writeBlock(block: ReplyBlock): JsonObject {
  switch (block.kind) {
    case 'text':
      return { text: block.text };
    case 'thinking':
      return { text: block.text, thought: true };
    case 'tool-call':
      return { functionCall: { id: block.id, name: block.name, args: block.input } };
    case 'media':
      return { inlineData: { mimeType: block.mediaType, data: block.base64 } };
    case 'code': {
      const code = { language: languageWord(block.language), code: block.code };
      return { executableCode: withId(block.id, code) };
    }
    case 'code-result': {
      const result = { outcome: OUTCOMES[block.outcome], output: block.output };
      return { codeExecutionResult: withId(block.id, result) };
    }
    default:
      return block satisfies never;
  }
}

export function signPart(part: JsonObject, signature: Signature | undefined): JsonObject {
  return signature === undefined ? part : { ...part, thoughtSignature: wrapCarrier(signature) };
}

function withId(id: string | undefined, members: JsonObject): JsonObject {
  return id === undefined ? members : { id, ...members };
}

/**
 * The candidate's `avgLogprobs` and `logprobsResult`.
 * Source: ai.google.dev, "GenerateContent API reference", `LogprobsResult`.
 */
function writeLogprobs({ average, tokens }: Logprobs): JsonObject {
  const written: JsonObject = average === undefined ? {} : { avgLogprobs: average };
  if (tokens.length === 0) return written;
  const result: JsonObject = { chosenCandidates: tokens.map(writeToken) };
  if (tokens.some(({ alternatives }) => alternatives.length > 0)) {
    result.topCandidates = tokens.map(({ alternatives }) => ({
      candidates: alternatives.map(writeToken),
    }));
  }
  return { ...written, logprobsResult: result };
}

function writeToken({ token, id, logprob }: RatedToken): JsonObject {
  return { token, ...(id === undefined ? {} : { tokenId: id }), logProbability: logprob };
}

/** There is no finish reason for tool calls, nor for stop sequences: both are STOP. */
const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  'stop-sequence': 'STOP',
  'max-tokens': 'MAX_TOKENS',
  safety: 'SAFETY',
  'prompt-blocked': 'OTHER',
};

/** More exact words an upstream of this family may have used for the same ending. */
const EXACT_REASONS: Readonly<Partial<Record<FinishReason, ReadonlySet<string>>>> = {
  stop: new Set(['LANGUAGE', 'OTHER']),
  safety: new Set([
    ...['RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'],
    ...['IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'ESCALATION', 'MODEL_ARMOR'],
  ]),
};

const BLOCK_REASONS = new Set([
  ...['SAFETY', 'OTHER', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'IMAGE_SAFETY', 'MODEL_ARMOR'],
  'JAILBREAK',
]);

/** The candidate's `finishReason` and `finishMessage`, and what is known of the whole choice. */
export function writeFinish(end: ChoiceEnd): JsonObject {
  const { logprobs, stopSequence } = end;
  const message = stopSequence === undefined ? end.message : stopMessage(stopSequence);
  return {
    finishReason: writeReason(end),
    ...(logprobs && writeLogprobs(logprobs)),
    ...(message !== undefined && { finishMessage: message }),
  };
}

/** The answer's `promptFeedback` when the prompt itself was refused. */
export function writePromptFeedback({ rawReason = '', message }: ChoiceEnd): JsonObject {
  const blockReason = BLOCK_REASONS.has(rawReason) ? rawReason : 'OTHER';
  return message === undefined ? { blockReason } : { blockReason, blockReasonMessage: message };
}

function writeReason({ reason, rawReason = '' }: ChoiceEnd): string {
  return EXACT_REASONS[reason]?.has(rawReason) === true ? rawReason : FINISH_REASONS[reason];
}

/** A text the citations may lie in; the texts of one choice, in order, are its whole text. */
interface CitedText {
  readonly text: string;
  /** Index into the content's parts; absent in streams, where offsets count from the first text. */
  readonly partIndex?: number;
}

const STATUSES: Readonly<Record<FetchedPage['outcome'], string>> = {
  read: 'URL_RETRIEVAL_STATUS_SUCCESS',
  unreachable: 'URL_RETRIEVAL_STATUS_ERROR',
  refused: 'URL_RETRIEVAL_STATUS_UNSAFE',
  unknown: 'URL_RETRIEVAL_STATUS_UNSPECIFIED',
};

/** The fields of a candidate that tell of searches and pages. */
export function writeGrounding(grounding: GroundingEvent, texts: readonly CitedText[]): JsonObject {
  const { queries, sources, citations, pages } = grounding;
  return {
    ...(queries.length + sources.length > 0 && {
      groundingMetadata: {
        webSearchQueries: [...queries],
        groundingChunks: sources.map(({ url, title }) => ({ web: { uri: url, title } })),
        groundingSupports: citations.map((citation) => ({
          segment: writeSegment(citation, texts),
          groundingChunkIndices: [...citation.sources],
        })),
      },
    }),
    ...(pages !== undefined && {
      urlContextMetadata: {
        urlMetadata: pages.map(({ url, outcome }) => ({
          retrievedUrl: url,
          urlRetrievalStatus: STATUSES[outcome],
        })),
      },
    }),
  };
}

function writeSegment(citation: Citation, texts: readonly CitedText[]): JsonObject {
  let offset = 0;
  for (const { text, partIndex } of texts) {
    const start = citation.startIndex - offset;
    if (start >= 0 && start < text.length) {
      const startIndex = Buffer.byteLength(text.slice(0, start));
      const cited = text.slice(start, citation.endIndex - offset);
      const endIndex = startIndex + Buffer.byteLength(cited);
      const segment = { startIndex, endIndex, text: citation.text };
      return partIndex === undefined ? segment : { partIndex, ...segment };
    }
    offset += text.length;
  }
  return { text: citation.text };
}

/** The prompt count includes cached tokens; the candidates' count excludes thoughts. */
export function writeUsage(usage: Usage, serviceTier: string | undefined): JsonObject {
  const metadata: JsonObject = {
    promptTokenCount: usage.promptTokens,
    candidatesTokenCount: usage.answerTokens,
    totalTokenCount: totalTokens(usage),
    cachedContentTokenCount: usage.cachedTokens,
  };
  if (usage.thoughtTokens > 0) metadata.thoughtsTokenCount = usage.thoughtTokens;
  if (usage.toolPromptTokens > 0) metadata.toolUsePromptTokenCount = usage.toolPromptTokens;
  const tier = writeServiceTier(serviceTier, ['standard', 'flex', 'priority']);
  if (tier !== undefined) metadata.serviceTier = tier;
  const { media, answerMedia } = usage;
  if (media) metadata.promptTokensDetails = writeModalities(media, usage.promptTokens);
  if (answerMedia) {
    metadata.candidatesTokensDetails = writeModalities(answerMedia, usage.answerTokens);
  }
  return metadata;
}

function writeModalities({ image, audio }: NonNullable<Usage['media']>, whole: number) {
  return [
    { modality: 'TEXT', tokenCount: whole - image - audio },
    { modality: 'IMAGE', tokenCount: image },
    { modality: 'AUDIO', tokenCount: audio },
  ].filter(({ tokenCount }) => tokenCount > 0);
}

/** A signature that ended a thinking block but came on the part after it: restored to that block. One a choice. */
export class PendingSignature {
  #pending: Signature | undefined;

  /** The signature to write on a block of this kind, given the one the block came with; blocks come in order. */
  sign(kind: string, own: Signature | undefined): Signature | undefined {
    if (kind === 'thinking') {
      if (own?.on === undefined || own.on === 'thinking') return own;
      this.#pending = own;
      return undefined;
    }
    const signature = own ?? (this.#pending?.on === kind ? this.#pending : undefined);
    if (signature !== undefined && signature.value === this.#pending?.value) {
      this.#pending = undefined;
    }
    return signature;
  }

  /** What no later block took. */
  take(): Signature | undefined {
    const left = this.#pending;
    this.#pending = undefined;
    return left;
  }
}
