// What one model of this wire can do: the upstream's list, the profile, and the generation its id names.

import type { ModelCapabilities, UpstreamModel } from '../../canonical/model.ts';
import { MODALITIES, type Modality } from '../../canonical/request.ts';
import { createWildcard, foldCase } from '../../lib/names.ts';
import type { EncodeTarget } from '../upstream.ts';
import type { ChatProfile, ChatQuirks, EffortWord, MediaModel } from './profiles.ts';

/** A generation of models that reason. */
interface Generation {
  readonly family: 'o' | 'gpt';
  readonly version: number;
}

/** What only the writers of this wire have to know. */
export interface ModelTraits {
  /** True for models known to reason, false for those known not to; undefined where nobody says. */
  readonly reasons: boolean | undefined;
  /** True where a model that reasons refuses settings of sampling. */
  readonly refusesSampling: boolean;
  readonly limitField: ChatQuirks['limitField'];
  readonly takesParallelToolCalls: boolean;
  /** True where tools may take free text, under a grammar, and the length of answers be said. */
  readonly takesFreeText: boolean;
  /**
   * True where an effort beside functions is refused ("Function tools with reasoning_effort are not supported for
   * gpt-5.4 in /v1/chat/completions").
   */
  readonly refusesEffortWithTools: boolean;
  /** True where no effort stands for none ("gpt-5.1 defaults to none", platform.openai.com, "Using GPT-5.1"). */
  readonly thinksIfTold: boolean;
  /** True for models that may search the web; their ids say so. */
  readonly searches: boolean;
  /** By rising amount; empty where the amount cannot be said. */
  readonly efforts: readonly EffortWord[];
}

/** Whom a body is written for. */
export interface FitContext {
  readonly target: EncodeTarget;
  readonly profile: ChatProfile;
  /** True for a client's own body: what needs no change stays as it came. */
  readonly isRelayed?: true | undefined;
}

/** Nobody told a limit: the upstream decides. */
const UNKNOWN_LIMIT = 1_000_000;

/** An unknown model is taken to do what its profile does: the upstream refuses what it cannot. */
export function capabilitiesOf(
  profile: Pick<ChatProfile, 'id' | 'quirks' | 'findMediaModel'>,
  modelId: string,
  listed?: UpstreamModel,
): ModelCapabilities {
  const { quirks } = profile;
  const media = profile.findMediaModel(modelId);
  const { reasons, searches, takesParallelToolCalls, thinksIfTold } = traitsOf(quirks, modelId);
  const thinks = quirks.effort !== undefined && (listed?.supportsThinking ?? reasons ?? true);
  const inputTokenLimit = listed?.inputTokenLimit ?? UNKNOWN_LIMIT;
  const answering: ModelCapabilities = {
    inputTokenLimit,
    outputTokenLimit: listed?.outputTokenLimit ?? inputTokenLimit,
    thinking: thinks ? levelsOf(quirks, thinksIfTold) : { kind: 'none' },
    unsignedCalls: 'accepted',
    signatureFamily: familyOf(profile.id, modelId),
    callsFunctions: listed?.callsFunctions ?? true,
    takesInstructions: true,
    takesSystemTurns: quirks.takesSystemTurns,
    takesSerialCalls: takesParallelToolCalls,
    searchWithFunctions: true,
    outputFormats: 'everywhere',
    takesJsonSchema: true,
    mediaInFunctionResponse: false,
    severalAnswers: quirks.takesChoices,
    relaysOneAnswer: quirks.takesChoices ? undefined : true,
    drawsImages: drawsInChat(quirks, modelId),
    plainToolNames: true,
    takesCacheMarks: quirks.takesCacheMarks,
    refusesMedia: [...new Set([...mediaRefusedBy(quirks), ...(listed?.refusesMedia ?? [])])],
    serverTools: searches ? ['web-search'] : [],
    refusesSchemas: quirks.responseFormat === 'json-object' ? true : listed?.refusesSchemas,
    refusesLogprobs: quirks.takesLogprobs && reasons !== true ? listed?.refusesLogprobs : true,
    countsNoTokens: true,
    // A service of which nothing is known may pass a client's own tools on to one that takes them.
    refusesFreeText: quirks.takesCustomTools || quirks.ownTools === undefined ? undefined : true,
  };
  return media === undefined ? answering : { ...answering, ...capabilitiesOfMedia(media) };
}

/** The wire has no part for videos. */
function mediaRefusedBy({ takesAudio, takesFiles }: ChatQuirks): readonly Modality[] {
  const refused: Modality[] = ['video'];
  if (!takesAudio) refused.push('audio');
  if (!takesFiles) refused.push('document');
  return refused;
}

/** What is left of a conversation for a model with an endpoint of its own. */
function capabilitiesOfMedia({ kind, traits }: MediaModel): Partial<ModelCapabilities> {
  const isRead = {
    image: kind === 'images' && traits.edits,
    audio: kind === 'transcriptions',
    video: false,
    document: false,
  };
  return {
    refusesMedia: MODALITIES.filter((modality) => !isRead[modality]),
    hasOwnForm: true,
    thinking: { kind: 'none' },
    callsFunctions: false,
    severalAnswers: false,
    drawsImages: kind === 'images',
    takesMasks: kind === 'images' ? true : undefined,
    imageDetails: kind === 'images' ? traits.details : undefined,
    takesChunking: kind === 'transcriptions' && traits.takesChunking ? true : undefined,
  };
}

/** Whether it draws where it is asked to in a conversation. */
function drawsInChat({ drawsInChat: patterns }: ChatQuirks, modelId: string): boolean {
  return patterns.some((pattern) => createWildcard(pattern).matches(foldCase(modelId)));
}

const LEVELS: ModelCapabilities['thinking'] = {
  kind: 'level',
  levels: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'],
};
const TOLD: ModelCapabilities['thinking'] = { ...LEVELS, isAdaptive: true };
/** Where thinking can be switched on, some models think only then. */
const SWITCHED: ModelCapabilities['thinking'] = { ...TOLD, isOptIn: true };

function levelsOf({ effort }: ChatQuirks, thinksIfTold: boolean): ModelCapabilities['thinking'] {
  if (effort !== 'field') return SWITCHED;
  return thinksIfTold ? TOLD : LEVELS;
}

/** Thoughts mean nothing to another vendor's models, nor to the same ones reached in another way. */
function familyOf(profileId: string, modelId: string): string {
  const [vendor = ''] = modelId.toLowerCase().split(/[/\-.:]/);
  return `chat.${profileId}.${vendor}`.replace(/[^a-z0-9._-]+/gi, '_');
}

export function traitsOf(quirks: ChatQuirks, modelId: string): ModelTraits {
  const { publicIds, limitField, takesParallelToolCalls } = quirks;
  const generation = publicIds === 'none' ? undefined : generationOf(modelId);
  const searches = quirks.takesWebSearch && /(?:^|[-/])search(?:$|-)/.test(modelId);
  const takesEfforts = quirks.effort === undefined ? [] : quirks.efforts;
  if (generation === undefined) {
    const isKnown = publicIds === 'all' || (publicIds === 'some' && isPublicId(modelId));
    return {
      reasons: isKnown ? false : undefined,
      refusesSampling: false,
      limitField,
      takesParallelToolCalls,
      takesFreeText: false,
      refusesEffortWithTools: false,
      thinksIfTold: false,
      searches,
      efforts: takesEfforts,
    };
  }
  const known = effortsOf(generation);
  return {
    reasons: true,
    refusesSampling: true,
    limitField: 'max_completion_tokens',
    takesParallelToolCalls: takesParallelToolCalls && generation.family !== 'o',
    // platform.openai.com, "Using GPT-5": custom tools and verbosity came with it.
    takesFreeText: quirks.takesCustomTools && generation.family === 'gpt',
    refusesEffortWithTools:
      publicIds === 'all' &&
      generation.version >= FIRST_WITHOUT_TOOL_EFFORT &&
      generation.family === 'gpt',
    thinksIfTold: known.includes('none'),
    searches,
    efforts: takesEfforts.filter((word) => known.includes(word)),
  };
}

/** `gpt-4o`, `openai/gpt-3.5-turbo`, `chatgpt-4o-latest`, but not `gpt-oss-120b`, which others serve. */
function isPublicId(modelId: string): boolean {
  return /^(?:chatgpt|gpt-\d)/.test(bareId(modelId));
}

function bareId(modelId: string): string {
  return modelId.toLowerCase().replace(/^.*\//, '');
}

/** `o3-mini`, `gpt-5.1`, `openai/gpt-6`; models for chat alone (`gpt-5-chat-latest`) do not reason. */
function generationOf(modelId: string): Generation | undefined {
  const id = bareId(modelId);
  if (/-chat\b/.test(id)) return undefined;
  const early = /^o(\d+)(?:$|[-.])/.exec(id);
  if (early !== null) return { family: 'o', version: Number(early[1]) };
  const version = Number(/^gpt-(\d+(?:\.\d+)?)(?:$|[-.])/.exec(id)?.[1]);
  return version >= FIRST_REASONING_VERSION ? { family: 'gpt', version } : undefined;
}

const FIRST_REASONING_VERSION = 5;
/** From here on `none` in place of `minimal`. */
const FIRST_WITH_NONE = 5.1;
const FIRST_WITH_XHIGH = 5.2;
/** openai/openai-openapi#541. */
const FIRST_WITHOUT_TOOL_EFFORT = 5.4;
/** From here on some cannot stop, and nothing in their ids says which. */
const FIRST_WITHOUT_NONE = 6;

/**
 * Sources: platform.openai.com, "Reasoning models"; learn.microsoft.com, `ReasoningEffort`: "All models before gpt-5.1
 * … do not support none", "xhigh is supported for all models after gpt-5.1-codex-max".
 */
function effortsOf({ family, version }: Generation): readonly EffortWord[] {
  if (family === 'o') return ['low', 'medium', 'high'];
  if (version < FIRST_WITH_NONE) return ['minimal', 'low', 'medium', 'high'];
  if (version < FIRST_WITH_XHIGH) return ['none', 'low', 'medium', 'high'];
  const upper: readonly EffortWord[] = ['low', 'medium', 'high', 'xhigh'];
  return version < FIRST_WITHOUT_NONE ? ['none', ...upper] : upper;
}
