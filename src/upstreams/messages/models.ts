// What one model of a Messages upstream can do: by its line and version, the upstream's own list, the profile.

import type { Effort, ThinkingCapability } from '../../canonical/effort.ts';
import type { ModelCapabilities, UpstreamModel } from '../../canonical/model.ts';
import { remember } from '../../lib/once.ts';
import { MAX_NAMES } from '../wire-parts.ts';
import type { MessagesProfile } from './profiles.ts';

/** Limits the upstream lists win over built-in ones; the profile's overrides win over everything. */
export function capabilitiesOf(
  { signatureFamily, capabilityOverrides }: MessagesProfile,
  modelId: string,
  listed?: UpstreamModel,
): ModelCapabilities {
  const traits = traitsOf(modelId);
  const outputTokenLimit = listed?.outputTokenLimit ?? traits.outputTokenLimit;
  return {
    inputTokenLimit: listed?.inputTokenLimit ?? traits.inputTokenLimit,
    outputTokenLimit,
    thinking: thinkingOf(traits, outputTokenLimit, listed),
    // Signatures stand on thoughts: what a step without them is allowed, the encoder decides.
    unsignedCalls: 'accepted',
    signatureFamily,
    callsFunctions: true,
    takesInstructions: true,
    // No `takesSystemTurns`: newer models take them inside `messages`, under beta flags, and no document says which
    // models without one. A wrong guess costs the request; marked user text costs nothing. Relayed ones stay as they came.
    searchWithFunctions: true,
    outputFormats: traits.takesFormats ? 'everywhere' : 'nowhere',
    takesJsonSchema: true,
    mediaInFunctionResponse: true,
    severalAnswers: false,
    drawsImages: false,
    takesSerialCalls: true,
    searchSettings: true,
    plainToolNames: true,
    takesCacheMarks: true,
    refusesMedia: ['audio', 'video', ...(listed?.refusesMedia ?? [])],
    refusesPrefill: traits.takesPrefill ? undefined : true,
    refusesSpeech: true,
    refusesLogprobs: true,
    ...capabilityOverrides,
  };
}

/** What only the encoder of this wire has to know. */
export interface ModelTraits {
  /** The version as one number, such as 406 for 4.6; undefined for a model of another maker. */
  readonly version: number | undefined;
  readonly inputTokenLimit: number;
  /** Most tokens of an answer, thinking included. */
  readonly outputTokenLimit: number;
  /** The limit of an answer for which the client sets none: the wire demands one. */
  readonly defaultOutputTokens: number;
  /** `manual`: a budget; `adaptive`: the model decides, led by an effort. */
  readonly thinking: 'none' | 'manual' | 'adaptive';
  /** By rising amount; none where an effort is refused. */
  readonly efforts: readonly Effort[];
  /** False where a budget of tokens is refused: "`thinking.type.enabled` is not supported for this model." */
  readonly takesBudgets: boolean;
  /** True where thinking cannot be switched off: "`thinking.type.disabled` is not supported for this model." */
  readonly alwaysThinks: boolean;
  /** False where a call cannot be demanded: "tool_choice: type "tool" and "any" are not supported for this model." */
  readonly takesForcedCalls: boolean;
  /** True where a schema of the answer may be sent. */
  readonly takesFormats: boolean;
  /** False for models that refuse a conversation which ends with the assistant. */
  readonly takesPrefill: boolean;
  /** False for models that take a temperature or a share of the likeliest tokens, not both. */
  readonly takesBothSamplings: boolean;
}

/** The smallest budget the wire knows, and the least that is left for the answer beside a larger one. */
export const MIN_BUDGET = 1024;
const ANSWER_ROOM = 16_384;

/** Line and version in either order and spelling: `claude-opus-4-6-20260101`, `claude-3-7-sonnet-latest`, `anthropic/claude-sonnet-4.5`. */
const VERSION = /(?:^|[/.])(?:claude|beta)-(?:([a-z]+)-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;

/**
 * By version, so that models nobody knows yet are treated as the newest that are known; a model of another
 * maker is asked for what it was asked for. Sources: platform.claude.com, "Models overview", "Extended
 * thinking", "Adaptive thinking", "Effort", "Structured outputs", "Prefill".
 */
export const traitsOf = remember(MAX_NAMES, (modelId): ModelTraits => {
  const [, line, major, minor = '0'] = VERSION.exec(modelId.toLowerCase()) ?? [];
  if (major === undefined) return OTHER_MAKER;
  const version = Number(major) * 100 + Number(minor);
  const outputTokenLimit = outputLimitOf(version, line);
  return {
    version,
    inputTokenLimit: 200_000,
    outputTokenLimit,
    defaultOutputTokens: outputTokenLimit,
    thinking: version < 307 ? 'none' : version < 406 ? 'manual' : 'adaptive',
    efforts: effortsOf(version, line),
    takesBudgets: version < 407,
    alwaysThinks: version >= 505 || FREE_LINES.has(line),
    takesForcedCalls: version < (FREE_LINES.has(line) ? 501 : 505),
    takesFormats: version >= 405,
    takesPrefill: version < 406,
    takesBothSamplings: version < 401,
  };
});

const EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'max'];
const FINE_EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Their models have been free to think and to call earlier than those of the other lines. */
const FREE_LINES: ReadonlySet<string | undefined> = new Set(['fable', 'mythos']);

const OTHER_MAKER: ModelTraits = {
  version: undefined,
  inputTokenLimit: 200_000,
  outputTokenLimit: 128_000,
  defaultOutputTokens: 32_000,
  thinking: 'manual',
  efforts: [],
  takesBudgets: true,
  alwaysThinks: false,
  takesForcedCalls: true,
  takesFormats: false,
  takesPrefill: true,
  takesBothSamplings: true,
};

function outputLimitOf(version: number, line: string | undefined): number {
  if (version >= 406) return 128_000;
  if (version >= 400) return line === 'opus' && version < 405 ? 32_000 : 64_000;
  if (version === 307) return 64_000;
  return version >= 305 ? 8192 : 4096;
}

function effortsOf(version: number, line: string | undefined): readonly Effort[] {
  if (version >= 407) return FINE_EFFORTS;
  if (version === 406) return EFFORTS;
  return version === 405 && line === 'opus' ? ['low', 'medium', 'high'] : [];
}

const NO_THINKING: ThinkingCapability = { kind: 'none' };
const ADAPTIVE: ThinkingCapability = {
  kind: 'level',
  levels: ['LOW', 'MEDIUM', 'HIGH'],
  isAdaptive: true,
  isOptIn: true,
};

function thinkingOf(
  { thinking }: ModelTraits,
  outputTokenLimit: number,
  listed: UpstreamModel | undefined,
): ThinkingCapability {
  if (thinking === 'none' || listed?.supportsThinking === false) return NO_THINKING;
  if (thinking === 'adaptive') return ADAPTIVE;
  const room = Math.min(ANSWER_ROOM, Math.ceil(outputTokenLimit / 2));
  return {
    kind: 'budget',
    minTokens: MIN_BUDGET,
    maxTokens: Math.max(MIN_BUDGET, outputTokenLimit - room),
    canDisable: true,
    isOptIn: true,
  };
}
