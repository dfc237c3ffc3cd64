// What one model of one upstream can do: built-in model data, the upstream's own list, the profile.

import type { ThinkingLevel } from '../../canonical/effort.ts';
import type { ModelCapabilities, UpstreamModel } from '../../canonical/model.ts';
import { remember } from '../../lib/once.ts';
import { neutralModelName } from '../../wire/vocabulary.ts';
import { MAX_NAMES } from '../wire-parts.ts';
import type { GenerateProfile } from './profiles.ts';

/** Limits the upstream lists win over built-in ones; the profile's overrides win over everything. */
export function capabilitiesOf(
  profile: Pick<GenerateProfile, 'capabilityOverrides'>,
  modelId: string,
  listed?: UpstreamModel,
): ModelCapabilities {
  const row = rowOf(modelId);
  return {
    ...row.capabilities,
    inputTokenLimit: listed?.inputTokenLimit ?? row.capabilities.inputTokenLimit,
    outputTokenLimit: listed?.outputTokenLimit ?? row.capabilities.outputTokenLimit,
    thinking: thinkingOf(row, listed),
    signatureFamily: familyOf(modelId),
    refusesLogprobs: row.traits.givesLogprobs ? undefined : true,
    ...profile.capabilityOverrides,
  };
}

export function traitsOf(modelId: string): ModelTraits {
  return rowOf(modelId).traits;
}

const rowOf = remember(MAX_NAMES, (modelId): ModelRow => {
  const id = bareId(modelId);
  return MODEL_ROWS.find((row) => row.pattern.test(id)) ?? UNKNOWN_MODEL;
});

function thinkingOf(row: ModelRow, listed: UpstreamModel | undefined) {
  if (listed?.supportsThinking === false) return { kind: 'none' } as const;
  const isSurprise = row === UNKNOWN_MODEL && listed?.supportsThinking === true;
  return isSurprise ? UNKNOWN_THINKING : row.capabilities.thinking;
}

/** `gemini-3-flash` and `alpha-3-pro` are one family: `alpha`. */
function familyOf(modelId: string): string {
  const [family = ''] = neutralModelName(bareId(modelId)).split('-');
  return family;
}

function bareId(modelId: string): string {
  return modelId.toLowerCase().replace(/^models\//, '');
}

/** One model generation; the first matching row applies. */
interface ModelRow {
  /** Matched against the model id in lower case. */
  readonly pattern: RegExp;
  readonly capabilities: Omit<ModelCapabilities, 'signatureFamily'>;
  readonly traits: ModelTraits;
}

/** What only the encoder of this wire has to know. */
interface ModelTraits {
  /** True when the model thinks unless told not to; else silence is how thinking is switched off. */
  readonly thinksUnasked: boolean;
  /** True when a budget of -1 lets the model decide. */
  readonly takesAutomaticBudget: boolean;
  /** True when a single part may say its media resolution. */
  readonly takesPartResolution: boolean;
  /** False for models known to give no log-probabilities; all others are asked. */
  readonly givesLogprobs: boolean;
  /**
   * Where penalties are taken; elsewhere any but 0 is a 400 ("Penalty is not enabled for this model").
   * Sources: `@ai-sdk/google`, `sampling.penalties`; BerriAI/litellm, `_supports_penalty_parameters`.
   */
  readonly penalties: 'everywhere' | 'on-vertex' | 'nowhere';
  /** False for models that draw in one size, whatever they are asked for. */
  readonly drawsInSizes: boolean;
  /** True for models that draw while they think, and show it when asked. */
  readonly showsDrafts: boolean;
  /** True when calls can be held to their schemas, also where the model need not call at all. */
  readonly validatesCalls: boolean;
  /** True for models that give vectors and nothing else, where the upstream's list does not say. */
  readonly embeds: boolean;
}

const ASKED_ONLY: ModelTraits = {
  thinksUnasked: false,
  takesAutomaticBudget: false,
  takesPartResolution: false,
  givesLogprobs: true,
  penalties: 'everywhere',
  validatesCalls: false,
  drawsInSizes: true,
  showsDrafts: false,
  embeds: false,
};
/** Draws or speaks, or is of a family whose protocol has no log-probabilities. */
const UNRATED: ModelTraits = { ...ASKED_ONLY, givesLogprobs: false };
const AUTOMATIC: ModelTraits = {
  ...ASKED_ONLY,
  thinksUnasked: true,
  takesAutomaticBudget: true,
  penalties: 'on-vertex',
};
const LEVELLED: ModelTraits = {
  ...ASKED_ONLY,
  thinksUnasked: true,
  takesPartResolution: true,
  penalties: 'nowhere',
  validatesCalls: true,
};

/** Models under the neutral names: the sandbox and upstreams like it. */
const NEUTRAL: ModelRow['capabilities'] = {
  inputTokenLimit: 1_048_576,
  outputTokenLimit: 65_536,
  thinking: { kind: 'budget', minTokens: 128, maxTokens: 32_768, canDisable: true },
  unsignedCalls: 'sentinel',
  callsFunctions: true,
  takesInstructions: true,
  searchWithFunctions: false,
  outputFormats: 'everywhere',
  takesJsonSchema: false,
  mediaInFunctionResponse: false,
  severalAnswers: true,
  drawsImages: false,
};

/** Before generation 3: signatures are optional, few features combine. */
const EARLIER: ModelRow['capabilities'] = {
  ...NEUTRAL,
  thinking: { kind: 'none' },
  unsignedCalls: 'accepted',
  outputFormats: 'without-tools',
};

const GENERATION_3: ModelRow['capabilities'] = {
  ...NEUTRAL,
  thinking: levels('LOW', 'HIGH'),
  searchWithFunctions: true,
  mediaInFunctionResponse: true,
  severalAnswers: false,
};

/** What is drawn is one answer, in all generations. */
const DRAWS = { drawsImages: true, severalAnswers: false } as const;

/**
 * Sources: ai.google.dev, "Thinking", "Thought signatures", model pages; docs.cloud.google.com, "Thinking";
 * googleapis/js-genai#1609 ("Multiple candidates is not enabled for this model").
 */
const MODEL_ROWS: readonly ModelRow[] = [
  {
    pattern: /(^|-)embedding(-|$)/,
    capabilities: { ...EARLIER, inputTokenLimit: 2048 },
    traits: { ...UNRATED, embeds: true },
  },
  {
    pattern: /^alpha-.*(image|nano-banana)/,
    capabilities: { ...NEUTRAL, thinking: { kind: 'none' }, ...DRAWS },
    traits: { ...UNRATED, showsDrafts: true },
  },
  {
    pattern: /^alpha-.*flash/,
    capabilities: { ...NEUTRAL, thinking: budget(0, 24_576) },
    traits: ASKED_ONLY,
  },
  { pattern: /^alpha-/, capabilities: NEUTRAL, traits: ASKED_ONLY },
  {
    pattern: /^(beta|claude)-/,
    capabilities: {
      ...NEUTRAL,
      inputTokenLimit: 200_000,
      outputTokenLimit: 64_000,
      thinking: budget(1024, 32_768),
    },
    traits: UNRATED,
  },
  // "JSON mode is not enabled for this model" (google-gemini/cookbook#1028); sizes are ignored or refused
  // (GoogleCloudPlatform/vertex-ai-creative-studio#1787).
  {
    pattern: /^gemini-[12][.-].*image/,
    capabilities: {
      ...EARLIER,
      inputTokenLimit: 32_768,
      outputTokenLimit: 32_768,
      ...DRAWS,
      callsFunctions: false,
      outputFormats: 'nowhere',
    },
    traits: { ...UNRATED, penalties: 'on-vertex', drawsInSizes: false },
  },
  // Newer ones are called by another word: gemini-nano-banana-2.1 (TanStack/ai, `@tanstack/ai-gemini` 0.36.0).
  {
    pattern: /^(gemini|imagen)-.*image|(^|-)nano-banana/,
    capabilities: {
      ...GENERATION_3,
      inputTokenLimit: 65_536,
      outputTokenLimit: 32_768,
      thinking: { kind: 'none' },
      ...DRAWS,
    },
    traits: { ...LEVELLED, givesLogprobs: false, showsDrafts: true },
  },
  {
    pattern: /^gemini-.*tts/,
    capabilities: { ...EARLIER, outputTokenLimit: 16_384, callsFunctions: false },
    traits: { ...UNRATED, penalties: 'on-vertex' },
  },
  {
    pattern: /^gemini-.*(native-audio|live)/,
    capabilities: { ...EARLIER, outputTokenLimit: 16_384 },
    traits: { ...UNRATED, penalties: 'on-vertex' },
  },
  // Before generation 4: "Developer instruction is not enabled for models/gemma-3-…", and neither is function
  // calling (BerriAI/litellm#10313, agno-agi/agno#3505; PAIR-code/deliberate-lab#1223 of generation 4), nor JSON
  // mode (vercel/ai#8080).
  {
    pattern: /^gemma-(?:[123]n?[.-]|\d+b)/,
    capabilities: {
      ...EARLIER,
      outputTokenLimit: 8192,
      takesInstructions: false,
      callsFunctions: false,
      outputFormats: 'nowhere',
    },
    traits: ASKED_ONLY,
  },
  {
    pattern: /^gemini-2\.5-pro/,
    capabilities: {
      ...EARLIER,
      thinking: { kind: 'budget', minTokens: 128, maxTokens: 32_768, canDisable: false },
    },
    traits: AUTOMATIC,
  },
  {
    pattern: /^gemini-2\.5-flash-lite/,
    capabilities: { ...EARLIER, thinking: budget(512, 24_576) },
    traits: { ...AUTOMATIC, thinksUnasked: false },
  },
  {
    pattern: /^gemini-2\.5-/,
    capabilities: { ...EARLIER, thinking: budget(0, 24_576) },
    traits: AUTOMATIC,
  },
  {
    pattern: /^gemini-[12][.-]/,
    capabilities: { ...EARLIER, outputTokenLimit: 8192 },
    traits: ASKED_ONLY,
  },
  {
    pattern: /^gemini-(3|3\.1|3\.5|3\.6)-flash/,
    capabilities: { ...GENERATION_3, thinking: levels('MINIMAL', 'LOW', 'MEDIUM', 'HIGH') },
    traits: LEVELLED,
  },
  {
    pattern: /^gemini-(3\.1-pro|3\.[789]-)/,
    capabilities: { ...GENERATION_3, thinking: levels('LOW', 'MEDIUM', 'HIGH') },
    traits: LEVELLED,
  },
  // 3 Pro, and everything newer until its levels are known: all models take these two.
  { pattern: /^gemini-/, capabilities: GENERATION_3, traits: LEVELLED },
];

/** A model nobody described: it is asked for nothing special. */
const UNKNOWN_MODEL: ModelRow = {
  pattern: /^/,
  capabilities: { ...NEUTRAL, thinking: { kind: 'none' } },
  traits: ASKED_ONLY,
};

/** Assumed of a model only known to think. */
const UNKNOWN_THINKING = budget(0, 24_576);

function budget(minTokens: number, maxTokens: number): ModelCapabilities['thinking'] {
  return { kind: 'budget', minTokens, maxTokens, canDisable: true };
}

function levels(...accepted: readonly ThinkingLevel[]): ModelCapabilities['thinking'] {
  return { kind: 'level', levels: accepted };
}
