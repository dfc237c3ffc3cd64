// Writes the generation configuration: limits, sampling, output format, thinking, images.

import { invalidRequest } from '../../canonical/error.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { WireGenerationConfig, WireThinkingConfig } from '../../wire/generate.ts';
import type { EncodeTarget } from '../upstream.ts';
import { definedFields, type Optional } from './defined.ts';
import { MEDIA_RESOLUTIONS } from './encode-media.ts';
import { encodeThinking } from './encode-thinking.ts';
import { cleanResponseSchema } from './schema/clean-response-schema.ts';
import { fitOutputLimit } from './thinking.ts';

type Fields = Optional<WireGenerationConfig>;

const MAX_STOP_SEQUENCES = 5;
const MODALITIES = { text: 'TEXT', image: 'IMAGE', audio: 'AUDIO' } as const;

/**
 * Undefined when the upstream's defaults say it all.
 * @throws GatewayError (invalid-request) for more stop sequences than the upstream takes.
 */
export function encodeGenerationConfig(
  request: CanonicalRequest,
  target: EncodeTarget,
): JsonObject | undefined {
  const thinkingConfig = encodeThinking(request.reasoning, target);
  return definedFields({
    maxOutputTokens: outputLimit(request, thinkingConfig, target),
    ...samplingFields(request),
    stopSequences: stopSequences(request),
    ...formatFields(request, target),
    ...mediaFields(request, target),
    thinkingConfig,
  } satisfies Fields);
}

function outputLimit(
  { maxOutputTokens }: CanonicalRequest,
  thinkingConfig: WireThinkingConfig | undefined,
  { capabilities, receipt }: EncodeTarget,
): number | undefined {
  if (maxOutputTokens === undefined) return undefined;
  const { outputTokenLimit } = capabilities;
  if (maxOutputTokens > outputTokenLimit) {
    receipt.add('capped', 'max_tokens', `This model writes at most ${outputTokenLimit} tokens.`);
  }
  return fitOutputLimit(maxOutputTokens, thinkingConfig?.thinkingBudget ?? 0, capabilities);
}

function samplingFields({ sampling, choices }: CanonicalRequest) {
  const { logprobs, ...numbers } = sampling;
  const alternatives = logprobs?.alternatives ?? 0;
  return {
    temperature: numbers.temperature,
    topP: numbers.topP,
    topK: numbers.topK,
    seed: numbers.seed,
    presencePenalty: numbers.presencePenalty,
    frequencyPenalty: numbers.frequencyPenalty,
    responseLogprobs: logprobs === undefined ? undefined : true,
    logprobs: alternatives > 0 ? alternatives : undefined,
    candidateCount: choices > 1 ? choices : undefined,
  } satisfies Fields;
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

function formatFields({ outputFormat }: CanonicalRequest, { receipt }: EncodeTarget): Fields {
  const path = 'response_format';
  switch (outputFormat.kind) {
    case 'text':
      return {};
    case 'json':
      return { responseMimeType: 'application/json' };
    case 'json-schema': {
      const { schema } = outputFormat;
      const responseMimeType = 'application/json';
      if (typeof schema === 'boolean') return { responseMimeType };
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

function mediaFields(request: CanonicalRequest, { capabilities, receipt }: EncodeTarget) {
  const { image, outputModalities, mediaResolution, speech } = request;
  const imageConfig = definedFields({
    aspectRatio: image?.aspectRatio,
    imageSize: image?.size,
  } satisfies Optional<WireGenerationConfig['imageConfig'] & {}>);
  if (imageConfig !== undefined && !capabilities.drawsImages) {
    receipt.add('dropped', 'size', 'This model draws no images.');
  }
  return {
    responseModalities: outputModalities?.map((modality) => MODALITIES[modality]),
    imageConfig: capabilities.drawsImages ? imageConfig : undefined,
    speechConfig: speech,
    mediaResolution: mediaResolution && MEDIA_RESOLUTIONS[mediaResolution],
  } satisfies Fields;
}
