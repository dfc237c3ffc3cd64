// The models the sandbox offers, as data, and its model lists.

import { badRequest } from './errors.ts';
import type { JsonObject } from './json.ts';

/** Models of one family accept each other's signatures. */
export type ModelFamily = 'alpha' | 'beta';
export const MODEL_FAMILIES: readonly ModelFamily[] = ['alpha', 'beta'];

export interface SandboxModel {
  readonly id: string;
  /** Its names on project paths, which speak the real words; empty where it has none. */
  readonly realIds: readonly string[];
  /** Counts against the image quota. */
  readonly drawsImages?: true;
  /** Gives vectors and no answers. */
  readonly embeds?: true;
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

const THINKING = {
  flash: { minBudget: 1, maxBudget: 24_576, levels: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'] },
  pro: { minBudget: 128, maxBudget: 32_768, levels: ['LOW', 'MEDIUM', 'HIGH'] },
  beta: { minBudget: 1024, maxBudget: 32_768, levels: [] },
} as const satisfies Readonly<Record<string, ModelThinking>>;

const alpha = {
  family: 'alpha',
  realIds: [],
  inputTokenLimit: 1_048_576,
  outputTokenLimit: 65_536,
} as const;
const beta = {
  ...alpha,
  family: 'beta',
  outputTokenLimit: 64_000,
  thinking: THINKING.beta,
} as const;

export const SANDBOX_MODELS: readonly SandboxModel[] = [
  {
    ...alpha,
    id: 'alpha-3-flash',
    realIds: ['gemini-3-flash-preview', 'gemini-3-flash'],
    displayName: 'Alpha 3 Flash',
    description: 'Fast and efficient.',
    thinking: THINKING.flash,
  },
  {
    ...alpha,
    id: 'alpha-3-pro-high',
    realIds: ['gemini-3.1-pro-preview', 'gemini-3-pro-preview', 'gemini-3-pro'],
    displayName: 'Alpha 3 Pro (high)',
    description: 'High-quality reasoning.',
    thinking: THINKING.pro,
  },
  {
    ...alpha,
    id: 'alpha-3-pro-low',
    displayName: 'Alpha 3 Pro (low)',
    description: 'Cost-efficient.',
    thinking: THINKING.pro,
  },
  {
    ...alpha,
    id: 'alpha-3-pro-image',
    realIds: ['gemini-3-pro-image-preview', 'gemini-3-pro-image'],
    drawsImages: true,
    displayName: 'Alpha 3 Pro Image',
    description: 'Image generation.',
  },
  {
    ...beta,
    id: 'beta-sonnet-4-6',
    displayName: 'Beta Sonnet 4.6',
    description: 'Balanced.',
  },
  {
    ...beta,
    id: 'beta-sonnet-4-6-thinking',
    displayName: 'Beta Sonnet 4.6 (thinking)',
    description: 'Extended reasoning.',
  },
  {
    ...beta,
    id: 'beta-opus-4-6-thinking',
    displayName: 'Beta Opus 4.6 (thinking)',
    description: 'Opus-tier with thinking.',
  },
  {
    ...alpha,
    id: 'alpha-embedding-001',
    embeds: true,
    displayName: 'Alpha Embedding 1',
    description: 'Text embeddings.',
    inputTokenLimit: 2048,
    outputTokenLimit: 1,
  },
];

const BY_ID = new Map(SANDBOX_MODELS.map((model) => [model.id, model]));

const BY_REAL_ID = new Map(
  SANDBOX_MODELS.flatMap((model) => model.realIds.map((id) => [id, model] as const)),
);

export function findModel(id: string): SandboxModel | undefined {
  return BY_ID.get(id);
}

/** The model a project path names by a real id; it goes by that id from there on. */
export function findProjectModel(id: string): SandboxModel | undefined {
  const model = BY_REAL_ID.get(id);
  return model && { ...model, id };
}

/** The sandbox's own id of a model that may go by a real one: quotas and controls know models by it. */
export function ownIdOf(id: string): string {
  return BY_REAL_ID.get(id)?.id ?? id;
}

export function methodsOf({ embeds }: SandboxModel): readonly string[] {
  return [embeds === true ? 'embedContent' : 'generateContent', 'countTokens'];
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
    supportedGenerationMethods: [...methodsOf(model)],
    temperature: 1,
    topP: 0.95,
    topK: 64,
    maxTemperature: 2,
    thinking: thinks,
    supportsThinking: thinks,
  };
}

/** The model as a publisher's list shows it (Vertex AI API, "PublisherModel"). */
export function writePublisherModels(): JsonObject {
  const publisherModels = SANDBOX_MODELS.flatMap(({ realIds }) =>
    realIds.map((id) => ({
      name: `publishers/google/models/${id}`,
      versionId: 'default',
      openSourceCategory: 'PROPRIETARY',
      launchStage: 'GA',
    })),
  );
  return { publisherModels };
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/**
 * `{models, nextPageToken?}`; a page token is the position to go on from.
 * @throws SandboxError 400 when pageSize or pageToken is no whole number.
 */
export function listModels(query: URLSearchParams): JsonObject {
  const size = Math.min(readCount(query, 'pageSize') || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const from = readCount(query, 'pageToken');
  const models = SANDBOX_MODELS.slice(from, from + size).map(writeModel);
  const next = from + size;
  return { models, ...(next < SANDBOX_MODELS.length && { nextPageToken: String(next) }) };
}

function readCount(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  if (!/^\d{0,6}$/.test(text)) {
    throw badRequest([{ field: name, description: 'must be a whole number' }]);
  }
  return Number(text);
}
