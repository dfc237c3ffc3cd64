// The models the sandbox offers, as data, and how its model list shows them.

import type { JsonObject } from '../lib/json.ts';

/** Models of one family accept each other's signatures. */
export type ModelFamily = 'alpha' | 'beta';
export const MODEL_FAMILIES: readonly ModelFamily[] = ['alpha', 'beta'];

export interface SandboxModel {
  readonly id: string;
  readonly family: ModelFamily;
  readonly displayName: string;
  readonly description: string;
  readonly inputTokenLimit: number;
  readonly outputTokenLimit: number;
  /** Absent for models that do not think and refuse a thinkingConfig. */
  readonly thinking?: ModelThinking;
}

export interface ModelThinking {
  /** Smallest and largest accepted `thinkingBudget`, in tokens; 0 switches thinking off. */
  readonly minBudget: number;
  readonly maxBudget: number;
  /** Accepted `thinkingLevel` values; empty for models steered by budget alone. */
  readonly levels: readonly string[];
}

const INPUT_LIMIT = 1_048_576;
const ALPHA_OUTPUT_LIMIT = 65_536;
const BETA_OUTPUT_LIMIT = 64_000;
const FLASH_THINKING: ModelThinking = {
  minBudget: 1,
  maxBudget: 24_576,
  levels: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'],
};
const PRO_THINKING: ModelThinking = {
  minBudget: 128,
  maxBudget: 32_768,
  levels: ['LOW', 'MEDIUM', 'HIGH'],
};
const BETA_THINKING: ModelThinking = {
  minBudget: 1024,
  maxBudget: 32_768,
  levels: [],
};

const alpha = { family: 'alpha', inputTokenLimit: INPUT_LIMIT } as const;
const beta = { family: 'beta', inputTokenLimit: INPUT_LIMIT } as const;

export const SANDBOX_MODELS: readonly SandboxModel[] = [
  {
    ...alpha,
    id: 'alpha-3-flash',
    displayName: 'Alpha 3 Flash',
    description: 'Fast and efficient.',
    outputTokenLimit: ALPHA_OUTPUT_LIMIT,
    thinking: FLASH_THINKING,
  },
  {
    ...alpha,
    id: 'alpha-3-pro-high',
    displayName: 'Alpha 3 Pro (high)',
    description: 'High-quality reasoning.',
    outputTokenLimit: ALPHA_OUTPUT_LIMIT,
    thinking: PRO_THINKING,
  },
  {
    ...alpha,
    id: 'alpha-3-pro-low',
    displayName: 'Alpha 3 Pro (low)',
    description: 'Cost-efficient.',
    outputTokenLimit: ALPHA_OUTPUT_LIMIT,
    thinking: PRO_THINKING,
  },
  {
    ...alpha,
    id: 'alpha-3-pro-image',
    displayName: 'Alpha 3 Pro Image',
    description: 'Image generation.',
    outputTokenLimit: ALPHA_OUTPUT_LIMIT,
  },
  {
    ...beta,
    id: 'beta-sonnet-4-6',
    displayName: 'Beta Sonnet 4.6',
    description: 'Balanced.',
    outputTokenLimit: BETA_OUTPUT_LIMIT,
    thinking: BETA_THINKING,
  },
  {
    ...beta,
    id: 'beta-sonnet-4-6-thinking',
    displayName: 'Beta Sonnet 4.6 (thinking)',
    description: 'Extended reasoning.',
    outputTokenLimit: BETA_OUTPUT_LIMIT,
    thinking: BETA_THINKING,
  },
  {
    ...beta,
    id: 'beta-opus-4-6-thinking',
    displayName: 'Beta Opus 4.6 (thinking)',
    description: 'Opus-tier with thinking.',
    outputTokenLimit: BETA_OUTPUT_LIMIT,
    thinking: BETA_THINKING,
  },
];

const BY_ID = new Map(SANDBOX_MODELS.map((model) => [model.id, model]));

export function findModel(id: string): SandboxModel | undefined {
  return BY_ID.get(id);
}

/** The model as `GET /models` shows it: the official fields and the spec's `maxOutputTokens`, `supportsThinking`. */
export function writeModel(model: SandboxModel): JsonObject {
  const thinks = model.thinking !== undefined;
  return {
    name: `models/${model.id}`,
    version: '1',
    displayName: model.displayName,
    description: model.description,
    inputTokenLimit: model.inputTokenLimit,
    outputTokenLimit: model.outputTokenLimit,
    maxOutputTokens: model.outputTokenLimit,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
    temperature: 1,
    topP: 0.95,
    topK: 64,
    maxTemperature: 2,
    thinking: thinks,
    supportsThinking: thinks,
  };
}
