// Writes the generation configuration: limits, sampling, output format, thinking, images.

import type {
  Reasoning,
  ReasoningAmount,
  ThinkingCapability,
  ThinkingLevel,
} from '../../canonical/effort.ts';
import { EFFORT_TOKENS, tokensOfAmount } from '../../canonical/effort.ts';
import { invalidRequest } from '../../canonical/error.ts';
import type { ImageOptions } from '../../canonical/image-options.ts';
import { formBetween, SAME_FORM, sidesOf } from '../../canonical/image-options.ts';
import { unreadableAddress } from '../../canonical/media.ts';
import type { ModelCapabilities } from '../../canonical/model.ts';
import type { CanonicalRequest, MediaPart } from '../../canonical/request.ts';
import {
  definedFields,
  isJsonObject,
  type JsonObject,
  type Optional,
  readNumber,
} from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { toResponseSchema } from '../../schema/tool-schema.ts';
import { fitOutputLimit } from '../../transforms/limit-output.ts';
import { sentStops } from '../../transforms/stop-sequences.ts';
import type {
  WireBlob,
  WireGenerationConfig,
  WirePart,
  WireThinkingConfig,
} from '../../wire/generate.ts';
import type { EncodeTarget } from '../upstream.ts';
import { drawsNone } from '../wire-parts.ts';
import { traitsOf } from './models.ts';
import { type GenerateProfile, isVideoPage } from './profiles.ts';

type Fields = Optional<WireGenerationConfig>;

const MAX_CANDIDATES = 8;
/** ai.google.dev, "GenerateContent API reference", `stopSequences`. */
const MAX_STOPS = 5;
/** More candidates for a token than this change nothing, and upstreams refuse them. */
const MAX_TOP_K = 1000;
const MODALITIES = { text: 'TEXT', image: 'IMAGE', audio: 'AUDIO' } as const;

/**
 * Undefined when the upstream's defaults say it all.
 * @throws GatewayError (invalid-request) for more answers than the model gives, for log-probabilities of
 * a model known to give none, and for a picture demanded of one that draws none.
 */
export function encodeGenerationConfig(
  request: CanonicalRequest,
  context: EncodeContext,
): JsonObject | undefined {
  const { target } = context;
  const { sampling, choices, outputFormat, outputModalities } = request;
  const { maxOutputTokens, mediaResolution, image, imageDrafts, mustDraw, spoken } = request;
  const { topK, seed, logprobs, presencePenalty, frequencyPenalty } = sampling;
  const thinkingConfig =
    encodeThinking(request.reasoning, target) ?? (imageDrafts ? draftConfig(target) : undefined);
  if (choices > MAX_CANDIDATES) {
    throw invalidRequest('n', `n: at most ${MAX_CANDIDATES} answers are possible.`);
  }
  if (logprobs !== undefined) checkLogprobs(target);
  const budget = thinkingConfig?.thinkingBudget ?? 0;
  return definedFields({
    maxOutputTokens:
      maxOutputTokens === undefined ? undefined : fitOutputLimit(maxOutputTokens, budget, target),
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: topK && fitTopK(topK, target),
    seed: seed && fitSeed(seed, target),
    responseLogprobs: logprobs === undefined ? undefined : true,
    logprobs: logprobs?.alternatives || undefined,
    candidateCount: choices > 1 ? choices : undefined,
    ...((presencePenalty ?? frequencyPenalty) !== undefined && penaltyFields(request, context)),
    stopSequences:
      request.stopSequences.length === 0
        ? undefined
        : [...sentStops(request, MAX_STOPS, target.receipt)],
    ...(outputFormat.kind !== 'text' && formatFields(outputFormat, target)),
    responseModalities: outputModalities?.map((modality) => MODALITIES[modality]),
    imageConfig: image || mustDraw ? encodeImage(request, target) : undefined,
    speechConfig: request.speech ?? (spoken && encodeSpeech(spoken, target)),
    mediaResolution: mediaResolution && MEDIA_RESOLUTIONS[mediaResolution],
    thinkingConfig,
  } satisfies Fields);
}

function checkLogprobs({ modelId }: EncodeTarget): void {
  if (traitsOf(modelId).givesLogprobs) return;
  throw invalidRequest('logprobs', 'logprobs: this model gives none.', 'unsupported');
}

/** Names of voices that speak elsewhere (`openai` resources/audio/speech). */
const OTHER_VOICES: ReadonlySet<string> = new Set([
  ...['alloy', 'ash', 'ballad', 'cedar', 'coral', 'echo', 'fable'],
  ...['marin', 'nova', 'onyx', 'sage', 'shimmer', 'verse'],
]);
/** Formats that samples can be given in. */
const SAMPLED: ReadonlySet<string> = new Set(['pcm', 'wav']);

function encodeSpeech(
  { voice, format, speed }: NonNullable<CanonicalRequest['spoken']>,
  { receipt }: EncodeTarget,
): JsonObject | undefined {
  if (!SAMPLED.has(format)) {
    receipt.add('approximated', 'response_format', told`The upstream gives samples: sent as WAV.`);
  }
  if (speed !== undefined) {
    receipt.add('dropped', 'speed', told`The upstream has no such setting.`);
  }
  const voiceName = typeof voice === 'string' ? voice : voice.id;
  if (OTHER_VOICES.has(voiceName)) {
    const reason = told`The voices of the upstream have other names: its own was taken.`;
    receipt.add('approximated', 'voice', reason);
    return undefined;
  }
  return { voiceConfig: { prebuiltVoiceConfig: { voiceName } } };
}

/** Unfinished pictures are part of the thoughts. Source: ai.google.dev, "Image generation", thinking. */
function draftConfig({ modelId, receipt }: EncodeTarget): WireThinkingConfig | undefined {
  if (traitsOf(modelId).showsDrafts) return { includeThoughts: true };
  receipt.add('dropped', 'partial_images', told`This model sends no partial images.`);
  return undefined;
}

/** Most chat apps send penalties with every request, whatever the model. */
function penaltyFields(
  { sampling: { presencePenalty, frequencyPenalty } }: CanonicalRequest,
  { target: { modelId, receipt }, profile }: EncodeContext,
): Fields {
  const { penalties } = traitsOf(modelId);
  if (penalties === 'everywhere' || (penalties === 'on-vertex' && profile.isVertex === true)) {
    return { presencePenalty, frequencyPenalty };
  }
  const reason = told`This model takes no penalties.`;
  if (presencePenalty) receipt.add('dropped', 'presence_penalty', reason);
  if (frequencyPenalty) receipt.add('dropped', 'frequency_penalty', reason);
  return {};
}

function fitTopK(topK: number, { receipt }: EncodeTarget): number {
  if (topK <= MAX_TOP_K) return topK;
  receipt.add('capped', 'top_k', told`The upstream looks at most at ${MAX_TOP_K} candidates.`);
  return MAX_TOP_K;
}

/** The wire has 32 bits for it: the same seed always becomes the same number. */
function fitSeed(seed: number, { receipt }: EncodeTarget): number {
  const fitted = Number(BigInt.asIntN(32, BigInt(seed)));
  if (fitted !== seed) receipt.add('approximated', 'seed', told`The upstream is given ${fitted}.`);
  return fitted;
}

function formatFields(
  format: Exclude<CanonicalRequest['outputFormat'], { kind: 'text' }>,
  { receipt, capabilities }: EncodeTarget,
): Fields {
  const path = 'response_schema';
  if (format.kind === 'enum') {
    const fields = toResponseSchema(format.schema, { receipt, path });
    return { responseMimeType: 'text/x.enum', ...fields };
  }
  const responseMimeType = 'application/json';
  if (format.kind === 'json' || typeof format.schema === 'boolean') return { responseMimeType };
  const { takesJsonSchema } = capabilities;
  return {
    responseMimeType,
    ...toResponseSchema(format.schema, { receipt, path, takesJsonSchema }),
  };
}

function encodeImage(
  { image, mustDraw }: CanonicalRequest,
  target: EncodeTarget,
): JsonObject | undefined {
  if (target.capabilities.drawsImages) {
    const { pixels, aspectRatio, size } = image ?? {};
    if (pixels !== undefined && aspectRatio !== undefined && !isLike(pixels, aspectRatio, size)) {
      const found = `${aspectRatio}, ${size ?? ONLY_SIZE}`;
      target.receipt.add('approximated', 'size', told`This model draws it as ${found}.`);
    }
    const imageSize = drawnSize(size, target, 'size');
    return definedFields({ aspectRatio, imageSize } satisfies Optional<
      WireGenerationConfig['imageConfig'] & {}
    >);
  }
  if (mustDraw === true) throw drawsNone();
  target.receipt.add('dropped', 'size', told`This model draws no images.`);
  return undefined;
}

/** Undefined when the model is to do as it does by itself, or does not think at all. */
function encodeThinking(
  reasoning: Reasoning,
  target: EncodeTarget,
): WireThinkingConfig | undefined {
  const { thinking } = target.capabilities;
  const { amount, showThoughts } = reasoning;
  // Nothing was said of how much.
  if (amount.kind === 'unset') {
    return showThoughts === true && thinking.kind !== 'none'
      ? { includeThoughts: true }
      : undefined;
  }
  switch (thinking.kind) {
    case 'none': {
      if (amount.kind !== 'off')
        target.receipt.add('dropped', 'thinking', told`This model does not think.`);
      return undefined;
    }
    case 'budget':
      return budgetConfig(reasoning, thinking, target);
    case 'level':
      return levelConfig(reasoning, thinking, target);
    default:
      return thinking satisfies never;
  }
}

/** False where nothing was said of thinking, so that there is nothing to tell of it. */
function isNews({ amount }: Reasoning): boolean {
  return amount.kind !== 'off' || amount.isUnasked !== true;
}

function budgetConfig(
  reasoning: Reasoning,
  thinking: BudgetThinking,
  { modelId, capabilities, receipt }: EncodeTarget,
): WireThinkingConfig | undefined {
  const { amount, showThoughts } = reasoning;
  const sent = sentBudget(amount, thinking, capabilities);
  if (sent === undefined) return undefined;
  const { asked, thinkingBudget } = sent;
  if (asked > 0) return { includeThoughts: showThoughts ?? true, thinkingBudget };
  if (!traitsOf(modelId).thinksUnasked) return undefined;
  if (thinkingBudget > 0 && isNews(reasoning)) {
    const reason = told`This model thinks ${thinkingBudget} tokens or more.`;
    receipt.add('approximated', 'thinking', reason);
  }
  return { includeThoughts: false, thinkingBudget };
}

function levelConfig(
  reasoning: Reasoning,
  thinking: LevelThinking,
  { receipt }: EncodeTarget,
): WireThinkingConfig | undefined {
  const { amount, showThoughts } = reasoning;
  const sent = sentLevel(amount, thinking);
  if (sent === undefined) {
    return showThoughts === false ? undefined : { includeThoughts: true };
  }
  const { asked, thinkingLevel } = sent;
  const isExact = amount.kind === 'effort' && amount.effort.toUpperCase() === thinkingLevel;
  if (!isExact && isNews(reasoning)) {
    receipt.add('approximated', 'thinking', levelReason(asked, thinkingLevel));
  }
  return { includeThoughts: asked > 0 && (showThoughts ?? true), thinkingLevel };
}

export type BudgetThinking = Extract<ThinkingCapability, { kind: 'budget' }>;
export type LevelThinking = Extract<ThinkingCapability, { kind: 'level' }>;

const LEVEL_TOKENS: ReadonlyMap<string, number> = new Map([
  ['NONE', 0],
  ['MINIMAL', EFFORT_TOKENS.minimal],
  ['LOW', EFFORT_TOKENS.low],
  ['MEDIUM', EFFORT_TOKENS.medium],
  ['HIGH', EFFORT_TOKENS.high],
]);

const RISING_LEVELS: readonly ThinkingLevel[] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];

/** The tokens a level word stands for; undefined for words that say nothing. */
export function tokensOfLevel(level: string): number | undefined {
  return LEVEL_TOKENS.get(level);
}

/**
 * What is asked for in tokens, and its level: the next one up where the model lacks it, else the model's highest.
 * Undefined where the model decides. A verbatim budget becomes the nearest level like any other.
 */
export function sentLevel(amount: ReasoningAmount, { levels }: LevelThinking) {
  const asked = tokensOfAmount(amount, Number.MAX_SAFE_INTEGER);
  const isLeft = amount.kind === 'adaptive' || (amount.kind === 'budget' && amount.tokens < 0);
  if (asked === undefined || isLeft) return undefined;
  const wanted = RISING_LEVELS.findIndex((level) => asked <= (LEVEL_TOKENS.get(level) ?? 0));
  const rank = wanted < 0 ? RISING_LEVELS.length - 1 : wanted;
  const nearest = levels.find((level) => RISING_LEVELS.indexOf(level) >= rank);
  return { asked, thinkingLevel: nearest ?? levels.at(-1) ?? 'HIGH' };
}

/** What the receipt says of an amount that is not exactly a level of the model. */
export function levelReason(tokens: number, level: ThinkingLevel): Sentence {
  return tokens === 0
    ? told`This model cannot stop thinking; its lowest level is ${level}.`
    : told`This model takes levels only; the nearest is ${level}.`;
}

/** What is asked for, and the nearest budget the model accepts, which leaves room for an answer. */
export function sentBudget(
  amount: ReasoningAmount,
  { minTokens, maxTokens, canDisable }: BudgetThinking,
  { outputTokenLimit }: ModelCapabilities,
) {
  const asked = tokensOfAmount(amount, maxTokens);
  if (asked === undefined) return undefined;
  if (amount.kind === 'budget' && amount.isVerbatim) return { asked, thinkingBudget: asked };
  if (asked <= 0 && canDisable) return { asked, thinkingBudget: 0 };
  const cap = Math.min(maxTokens, outputTokenLimit - 1);
  return { asked, thinkingBudget: Math.min(Math.max(asked, minTokens), cap) };
}

/** The output limit of a body that is sent. */
export function outputLimit({ generationConfig }: JsonObject): number | undefined {
  return isJsonObject(generationConfig) ? readNumber(generationConfig.maxOutputTokens) : undefined;
}

/** The same body with a limit of so many tokens at most, above the thinking it has to hold. */
export function limitOutput(
  body: JsonObject,
  most: number,
  { capabilities }: Partial<Pick<EncodeTarget, 'capabilities'>>,
): JsonObject {
  const limit = outputLimit(body);
  if (limit !== undefined && limit <= most) return body;
  const { generationConfig } = body;
  const config = isJsonObject(generationConfig) ? generationConfig : {};
  const limited: JsonObject = { ...config, maxOutputTokens: most };
  const { thinkingConfig } = config;
  if (isJsonObject(thinkingConfig) && (readNumber(thinkingConfig.thinkingBudget) ?? 0) >= most) {
    limited.thinkingConfig = {
      ...thinkingConfig,
      thinkingBudget: budgetWithin(most, capabilities),
    };
  }
  return { ...body, generationConfig: limited };
}

/** As the model decides, where it can neither think so little nor stop. */
const OWN_BUDGET = -1;

function budgetWithin(limit: number, capabilities: ModelCapabilities | undefined): number {
  const half = Math.floor(limit / 2);
  const thinking = capabilities?.thinking;
  if (thinking?.kind !== 'budget' || half >= thinking.minTokens) return half;
  return thinking.canDisable ? 0 : OWN_BUDGET;
}

/** What models draw that know no other size, or that are told none. */
const ONLY_SIZE = '1K';
const ONLY_AREA = 1024 * 1024;
const SAME_AREA = Math.log(1.5);

/** True where that many pixels are about what is drawn; what was said of the size otherwise is stronger. */
function isLike(pixels: string, ratio: string, size: ImageOptions['size']): boolean {
  const asked = sidesOf(pixels);
  const isOfArea = Math.abs(Math.log((asked.width * asked.height) / ONLY_AREA)) < SAME_AREA;
  return formBetween(asked, sidesOf(ratio)) < SAME_FORM && (size !== undefined || isOfArea);
}

/** Undefined where the model draws in one size; a larger one that was asked for at `path` is in the receipt. */
export function drawnSize(
  size: ImageOptions['size'],
  { modelId, capabilities, receipt }: EncodeTarget,
  path: string,
): ImageOptions['size'] {
  if (!capabilities.drawsImages || traitsOf(modelId).drawsInSizes) return size;
  if (size !== undefined && size !== ONLY_SIZE) {
    receipt.add('approximated', path, told`This model draws pictures of ${ONLY_SIZE} only.`);
  }
  return undefined;
}

export interface EncodeContext {
  readonly target: EncodeTarget;
  readonly profile: Pick<
    GenerateProfile,
    'vocabulary' | 'extraFields' | 'readsUri' | 'webFileType' | 'isVertex'
  >;
}

/** The wire's words for how much detail of a medium the model looks at. */
const MEDIA_RESOLUTIONS = {
  low: 'MEDIA_RESOLUTION_LOW',
  medium: 'MEDIA_RESOLUTION_MEDIUM',
  high: 'MEDIA_RESOLUTION_HIGH',
} as const;

/** @throws GatewayError (invalid-request) for an address the upstream does not read. */
export function encodeMedia(part: MediaPart, context: EncodeContext): WirePart {
  const { source, mediaType } = part;
  switch (source.kind) {
    case 'base64':
      return { inlineData: encodeBlob(part, source.base64), ...resolutionOf(part, context) };
    case 'url':
    case 'file': {
      const fileUri = source.kind === 'url' ? source.url : source.uri;
      const { profile, target } = context;
      const webType = profile.webFileType?.(fileUri, target.modelId);
      if (webType === undefined && !profile.readsUri(fileUri)) throw unreadableAddress(part);
      const mimeType = isVideoPage(fileUri) ? videoType(context) : (webType ?? mediaType);
      const fileData = mimeType === undefined ? { fileUri } : { fileUri, mimeType };
      return { fileData, ...resolutionOf(part, context) };
    }
    default:
      return source satisfies never;
  }
}

/**
 * What a page is called whose video is read, whatever its client took it for. The public API wants no type
 * there (agentjido/req_llm#433), Vertex AI one everywhere ("empty mimeType parameter in fileData").
 */
function videoType({ profile }: EncodeContext): string | undefined {
  return profile.isVertex === true ? 'video/mp4' : undefined;
}

function encodeBlob(part: MediaPart, base64: string): WireBlob {
  if (part.mediaType === undefined || base64 === '') {
    throw invalidRequest('messages', `The ${part.modality} needs a media type and bytes.`);
  }
  return { mimeType: part.mediaType, data: base64 };
}

function resolutionOf(
  { resolution }: MediaPart,
  { target }: EncodeContext,
): Pick<WirePart, 'mediaResolution'> {
  if (resolution === undefined) return {};
  if (traitsOf(target.modelId).takesPartResolution) {
    return { mediaResolution: { level: MEDIA_RESOLUTIONS[resolution] } };
  }
  const reason = told`This model takes no detail level for single media.`;
  target.receipt.add('dropped', 'messages', reason);
  return {};
}
