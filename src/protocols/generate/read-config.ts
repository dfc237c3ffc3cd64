// The generationConfig of a normalised body as the canonical request's settings.

import { amountOfBudget, amountOfWord } from '../../canonical/effort.ts';
import { asImageSize } from '../../canonical/image-options.ts';
import { type Receipt, told } from '../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  ImageOptions,
  OutputFormat,
  OutputModality,
  Reasoning,
  ReasoningAmount,
  Sampling,
} from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { booleanAt, numberAt, objectAt, textAt, textsAt } from './native-fields.ts';
import { noteUncarried, readResolution } from './read-parts.ts';

type ConfigFields = Pick<
  CanonicalRequest,
  | 'sampling'
  | 'maxOutputTokens'
  | 'reasoning'
  | 'outputFormat'
  | 'outputModalities'
  | 'image'
  | 'speech'
  | 'mediaResolution'
>;

const UNCARRIED_MEMBERS = [
  'audioTimestamp',
  'enableAffectiveDialog',
  'routingConfig',
  'modelConfig',
  'audioTranscriptionConfig',
  'translationConfig',
  'enableEnhancedCivicAnswers',
];

const MODALITIES: ReadonlyMap<string, OutputModality> = new Map([
  ['TEXT', 'text'],
  ['IMAGE', 'image'],
  ['AUDIO', 'audio'],
]);

export function readConfig(config: JsonObject, receipt: Receipt): ConfigFields {
  noteUncarried(config, UNCARRIED_MEMBERS, { path: 'generationConfig', receipt });
  return {
    sampling: readSampling(config),
    maxOutputTokens: numberAt(config, 'maxOutputTokens'),
    reasoning: readReasoning(objectAt(config, 'thinkingConfig')),
    outputFormat: readOutputFormat(config),
    outputModalities: readModalities(config, receipt),
    image: readImage(objectAt(config, 'imageConfig'), receipt),
    speech: objectAt(config, 'speechConfig'),
    mediaResolution: readResolution(textAt(config, 'mediaResolution')),
  };
}

function readSampling(config: JsonObject): Sampling {
  const alternatives = numberAt(config, 'logprobs') ?? 0;
  return {
    temperature: numberAt(config, 'temperature'),
    topP: numberAt(config, 'topP'),
    topK: numberAt(config, 'topK'),
    seed: numberAt(config, 'seed'),
    presencePenalty: numberAt(config, 'presencePenalty'),
    frequencyPenalty: numberAt(config, 'frequencyPenalty'),
    logprobs: booleanAt(config, 'responseLogprobs') === true ? { alternatives } : undefined,
  };
}

function readReasoning(thinking: JsonObject | undefined): Reasoning {
  return {
    amount: readAmount(thinking),
    showThoughts: booleanAt(thinking, 'includeThoughts'),
  };
}

/** A level word is one of `NONE`, `MINIMAL`, `LOW`, `MEDIUM`, `HIGH`. */
function readAmount(thinking: JsonObject | undefined): ReasoningAmount {
  const tokens = numberAt(thinking, 'thinkingBudget');
  if (tokens !== undefined) return amountOfBudget(tokens);
  const level = textAt(thinking, 'thinkingLevel')?.toLowerCase();
  return (level === undefined ? undefined : amountOfWord(level)) ?? { kind: 'unset' };
}

function readOutputFormat(config: JsonObject): OutputFormat {
  const given = config.responseJsonSchema ?? config.responseSchema;
  const schema = typeof given === 'boolean' ? given : readSchema(config);
  const mimeType = textAt(config, 'responseMimeType');
  if (mimeType === 'text/x.enum' && typeof schema === 'object') return { kind: 'enum', schema };
  if (schema !== undefined) return { kind: 'json-schema', schema };
  return { kind: mimeType === 'application/json' ? 'json' : 'text' };
}

function readSchema(config: JsonObject): JsonObject | undefined {
  return objectAt(config, 'responseJsonSchema') ?? objectAt(config, 'responseSchema');
}

function readModalities(
  config: JsonObject,
  receipt: Receipt,
): readonly OutputModality[] | undefined {
  const modalities: OutputModality[] = [];
  textsAt(config, 'responseModalities').forEach((value, index) => {
    const modality = MODALITIES.get(value);
    if (modality !== undefined) modalities.push(modality);
    else if (value === 'VIDEO') {
      const path = `generationConfig.responseModalities[${index}]`;
      receipt.add('dropped', path, told`No model of the pool answers with video.`);
    }
  });
  return modalities.length === 0 ? undefined : modalities;
}

function readImage(image: JsonObject | undefined, receipt: Receipt): ImageOptions | undefined {
  if (image === undefined) return undefined;
  const place = { path: 'generationConfig.imageConfig', receipt };
  noteUncarried(image, ['personGeneration', 'prominentPeople', 'imageOutputOptions'], place);
  const size = textAt(image, 'imageSize');
  const known = size === undefined ? undefined : asImageSize(size);
  if (size !== undefined && known === undefined) noteUncarried(image, ['imageSize'], place);
  const aspectRatio = textAt(image, 'aspectRatio');
  return known === undefined ? { aspectRatio } : { aspectRatio, size: known };
}
