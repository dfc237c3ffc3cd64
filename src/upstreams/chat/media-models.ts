// Models of this wire that are asked at an endpoint of their own (pictures, recordings, speech), as data.

import { createWildcard, foldCase, type Wildcard } from '../../lib/names.ts';
import { remember } from '../../lib/once.ts';

/** Of each kind the first entry that matches a model counts. */
export interface MediaModels {
  readonly images: readonly ImageModels[];
  readonly transcriptions: readonly TranscriptionModels[];
  readonly speech: readonly SpeechModels[];
}

interface NamedModels {
  /** Patterns of model ids, in which `*` stands for any run of characters. */
  readonly names: readonly string[];
}

export interface ImageModels extends NamedModels {
  /** `<width>x<height>` each; `any` for all whose sides can be divided by 16, `none` where no size is taken. */
  readonly sizes: readonly string[] | 'any' | 'none';
  /** Words by rising quality; empty where none is taken. */
  readonly qualities: readonly string[];
  /** Whether `response_format` asks for the picture itself; others give nothing else. */
  readonly takesFormat: boolean;
  /** Whether pictures can be changed, too. */
  readonly edits: boolean;
  /** Whether unfinished pictures can be shown in a stream. */
  readonly streams: boolean;
}

export interface TranscriptionModels extends NamedModels {
  /** Whether `verbose_json` tells times. */
  readonly tellsTimes: boolean;
  /** Whether there is an endpoint that translates into English as well. */
  readonly translates: boolean;
  readonly streams: boolean;
  /** Whether several languages and keywords have fields; else the first language has one, and keywords are in the prompt. */
  readonly takesLists: boolean;
}

export interface SpeechModels extends NamedModels {
  /** What is asked for; samples are 16 bits, 24,000 a second. */
  readonly format: 'pcm' | 'wav';
  /** Where the client names none that is known here. */
  readonly voice: string;
  /** Whether `instructions` say how to speak. */
  readonly takesInstructions: boolean;
  /** Whether it comes as events, piece by piece. */
  readonly streams: boolean;
}

export type MediaModel =
  | { readonly kind: 'images'; readonly traits: ImageModels }
  | { readonly kind: 'transcriptions'; readonly traits: TranscriptionModels }
  | { readonly kind: 'speech'; readonly traits: SpeechModels };

const STANDARD_SIZES = ['1024x1024', '1536x1024', '1024x1536'];
const QUALITIES = ['low', 'medium', 'high'];
const GPT_IMAGE = { takesFormat: false, edits: true, streams: true } as const;

/** What nothing is known of but its name. */
export const PLAIN_IMAGES: Omit<ImageModels, 'names'> = {
  sizes: 'any',
  qualities: [],
  takesFormat: true,
  edits: true,
  streams: false,
};
export const PLAIN_TRANSCRIPTIONS: Omit<TranscriptionModels, 'names'> = {
  tellsTimes: true,
  translates: true,
  streams: false,
  takesLists: false,
};
export const PLAIN_SPEECH: Omit<SpeechModels, 'names'> = {
  format: 'wav',
  voice: 'alloy',
  takesInstructions: false,
  streams: false,
};

export const NO_MEDIA_MODELS: MediaModels = { images: [], transcriptions: [], speech: [] };

/** Sources: the types of `openai` (resources/images, audio/transcriptions, audio/translations, audio/speech). */
export const OPENAI_MEDIA_MODELS: MediaModels = {
  images: [
    {
      names: ['gpt-image-1*', 'chatgpt-image*'],
      sizes: STANDARD_SIZES,
      qualities: QUALITIES,
      ...GPT_IMAGE,
    },
    { names: ['gpt-image-2', 'gpt-image-2-*'], sizes: 'any', qualities: QUALITIES, ...GPT_IMAGE },
    {
      names: ['gpt-image-*'],
      sizes: 'any',
      qualities: [...QUALITIES, 'xhigh', 'max'],
      ...GPT_IMAGE,
    },
    // Retired, but other servers have models of these names.
    {
      names: ['dall-e-3'],
      sizes: ['1024x1024', '1792x1024', '1024x1792'],
      qualities: ['standard', 'hd'],
      takesFormat: true,
      edits: false,
      streams: false,
    },
    { names: ['dall-e-2'], ...PLAIN_IMAGES, sizes: ['256x256', '512x512', '1024x1024'] },
  ],
  transcriptions: [
    { names: ['whisper*'], ...PLAIN_TRANSCRIPTIONS },
    {
      names: ['gpt-transcribe*'],
      tellsTimes: false,
      translates: false,
      streams: true,
      takesLists: true,
    },
    {
      names: ['gpt-*transcribe*'],
      tellsTimes: false,
      translates: false,
      streams: true,
      takesLists: false,
    },
  ],
  speech: [
    {
      names: ['tts-1*'],
      format: 'pcm',
      voice: 'alloy',
      takesInstructions: false,
      streams: false,
    },
    {
      names: ['gpt-*tts*'],
      format: 'pcm',
      voice: 'alloy',
      takesInstructions: true,
      streams: true,
    },
  ],
};

const MAX_NAMES = 1000;

type Compiled = readonly { readonly wildcards: readonly Wildcard[]; readonly model: MediaModel }[];

/** How a model is asked that has an endpoint of its own; undefined for one that takes part in conversations. */
export function createMediaModelFinder(
  models: MediaModels,
): (modelId: string) => MediaModel | undefined {
  const compiled = compile(models);
  return remember(MAX_NAMES, (modelId) => findModel(compiled, modelId));
}

function compile({ images, transcriptions, speech }: MediaModels): Compiled {
  const models: readonly MediaModel[] = [
    ...images.map((traits) => ({ kind: 'images', traits }) as const),
    ...transcriptions.map((traits) => ({ kind: 'transcriptions', traits }) as const),
    ...speech.map((traits) => ({ kind: 'speech', traits }) as const),
  ];
  return models.map((model) => ({ wildcards: model.traits.names.map(createWildcard), model }));
}

/** With the vendor before it, or without: `openai/gpt-image-2`. */
function findModel(compiled: Compiled, modelId: string): MediaModel | undefined {
  const id = foldCase(modelId);
  const names = [id, id.replace(/^.*\//, '')];
  const found = compiled.find(({ wildcards }) =>
    wildcards.some((wildcard) => names.some((name) => wildcard.matches(name))),
  );
  return found?.model;
}
