// Writes the generation configuration: limits, sampling, output format, thinking, images.

import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../canonical/receipt.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { WireGenerationConfig, WireThinkingConfig } from '../../wire/generate.ts';
import type { EncodeTarget } from '../upstream.ts';
import { traitsOf } from './capabilities.ts';
import { definedFields, type Optional } from './defined.ts';
import { drawnSize } from './drawn-size.ts';
import type { EncodeContext } from './encode-context.ts';
import { MEDIA_RESOLUTIONS } from './encode-media.ts';
import { encodeThinking } from './encode-thinking.ts';
import { cleanResponseSchema, cleanTypedResponseSchema } from './schema/clean-response-schema.ts';
import { fitOutputLimit } from './thinking.ts';

type Fields = Optional<WireGenerationConfig>;

const MAX_STOP_SEQUENCES = 5;
const MAX_CANDIDATES = 8;
/** More candidates for a token than this change nothing, and upstreams refuse them. */
const MAX_TOP_K = 1000;
const MODALITIES = { text: 'TEXT', image: 'IMAGE', audio: 'AUDIO' } as const;

/**
 * Undefined when the upstream's defaults say it all.
 * @throws GatewayError (invalid-request) for more stop sequences or answers than the model takes,
 * for log-probabilities of a model known to give none, and for a picture demanded of one that draws none.
 */
export function encodeGenerationConfig(
  request: CanonicalRequest,
  { target, profile }: EncodeContext,
): JsonObject | undefined {
  const thinkingConfig = encodeThinking(request.reasoning, target) ?? draftFields(request, target);
  return definedFields({
    maxOutputTokens: outputLimit(request, thinkingConfig, target),
    ...samplingFields(request, target),
    ...penaltyFields(request, { target, profile }),
    stopSequences: stopSequences(request),
    ...formatFields(request, target),
    ...mediaFields(request, target),
    thinkingConfig,
  } satisfies Fields);
}

/** Unfinished pictures are part of the thoughts. Source: ai.google.dev, "Image generation", thinking. */
function draftFields(
  { imageDrafts = 0 }: CanonicalRequest,
  { modelId, receipt }: EncodeTarget,
): WireThinkingConfig | undefined {
  if (imageDrafts === 0) return undefined;
  if (traitsOf(modelId).showsDrafts) return { includeThoughts: true };
  receipt.add('dropped', 'partial_images', told`This model shows no unfinished pictures.`);
  return undefined;
}

function outputLimit(
  { maxOutputTokens }: CanonicalRequest,
  thinkingConfig: WireThinkingConfig | undefined,
  { capabilities, receipt }: EncodeTarget,
): number | undefined {
  if (maxOutputTokens === undefined) return undefined;
  const { outputTokenLimit } = capabilities;
  if (maxOutputTokens > outputTokenLimit) {
    receipt.add(
      'capped',
      'max_tokens',
      told`This model writes at most ${outputTokenLimit} tokens.`,
    );
  }
  const budget = thinkingConfig?.thinkingBudget ?? 0;
  const fitted = fitOutputLimit(maxOutputTokens, budget, capabilities);
  if (fitted > maxOutputTokens) {
    receipt.add(
      'approximated',
      'max_tokens',
      told`The limit was raised to leave room beside thinking.`,
    );
  }
  return fitted;
}

function samplingFields({ sampling, choices }: CanonicalRequest, target: EncodeTarget) {
  if (choices > MAX_CANDIDATES) {
    throw invalidRequest('n', `n: at most ${MAX_CANDIDATES} answers are possible.`);
  }
  const { logprobs, ...numbers } = sampling;
  if (logprobs !== undefined && !traitsOf(target.modelId).givesLogprobs) {
    throw invalidRequest('logprobs', 'logprobs: this model gives none.', 'unsupported');
  }
  const alternatives = logprobs?.alternatives ?? 0;
  return {
    temperature: numbers.temperature,
    topP: numbers.topP,
    topK: fitTopK(numbers.topK, target),
    seed: fitSeed(numbers.seed, target),
    responseLogprobs: logprobs === undefined ? undefined : true,
    logprobs: alternatives > 0 ? alternatives : undefined,
    candidateCount: choices > 1 ? choices : undefined,
  } satisfies Fields;
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

function fitTopK(topK: number | undefined, { receipt }: EncodeTarget): number | undefined {
  if (topK === undefined || topK <= MAX_TOP_K) return topK;
  receipt.add('capped', 'top_k', told`The upstream looks at most at ${MAX_TOP_K} candidates.`);
  return MAX_TOP_K;
}

/** The wire has 32 bits for it: the same seed always becomes the same number. */
function fitSeed(seed: number | undefined, { receipt }: EncodeTarget): number | undefined {
  if (seed === undefined) return undefined;
  const fitted = Number(BigInt.asIntN(32, BigInt(seed)));
  if (fitted !== seed) receipt.add('approximated', 'seed', told`The upstream is given ${fitted}.`);
  return fitted;
}

function stopSequences({ stopSequences }: CanonicalRequest): string[] | undefined {
  if (stopSequences.length > MAX_STOP_SEQUENCES) {
    throw invalidRequest(
      'stop',
      `stop: at most ${MAX_STOP_SEQUENCES} stop sequences are possible.`,
    );
  }
  return stopSequences.length === 0 ? undefined : [...stopSequences];
}

function formatFields(
  { outputFormat }: CanonicalRequest,
  { receipt, capabilities }: EncodeTarget,
): Fields {
  const path = 'response_schema';
  switch (outputFormat.kind) {
    case 'text':
      return {};
    case 'json':
      return { responseMimeType: 'application/json' };
    case 'json-schema': {
      const { schema } = outputFormat;
      const responseMimeType = 'application/json';
      if (typeof schema === 'boolean') return { responseMimeType };
      if (capabilities.takesJsonSchema) {
        return { responseMimeType, ...cleanTypedResponseSchema(schema, { receipt, path }) };
      }
      return { responseMimeType, responseSchema: cleanResponseSchema(schema, { receipt, path }) };
    }
    case 'enum':
      return {
        responseMimeType: 'text/x.enum',
        responseSchema: cleanResponseSchema(outputFormat.schema, { receipt, path }),
      };
    default:
      return outputFormat satisfies never;
  }
}

function mediaFields(request: CanonicalRequest, target: EncodeTarget) {
  const { capabilities, receipt } = target;
  const { image, outputModalities, mediaResolution, speech } = request;
  const imageConfig = definedFields({
    aspectRatio: image?.aspectRatio,
    imageSize: drawnSize(image?.size, target, 'size'),
  } satisfies Optional<WireGenerationConfig['imageConfig'] & {}>);
  if (request.mustDraw === true && !capabilities.drawsImages) {
    throw invalidRequest(
      'tool_choice',
      'tool_choice demands a picture, and this model draws none. Name a model that draws as model, ' +
        'or use /v1/images/generations.',
      'unsupported',
    );
  }
  if (image !== undefined && !capabilities.drawsImages) {
    receipt.add('dropped', 'size', told`This model draws no images.`);
  }
  return {
    responseModalities: outputModalities?.map((modality) => MODALITIES[modality]),
    imageConfig: capabilities.drawsImages ? imageConfig : undefined,
    speechConfig: speech,
    mediaResolution: mediaResolution && MEDIA_RESOLUTIONS[mediaResolution],
  } satisfies Fields;
}
