// The models the gateway knows by name, as data: limits, abilities, and what a name implies.

import type { ModelTask } from '../canonical/model.ts';
import type { Effort } from '../canonical/request.ts';

export type Modality = 'text' | 'image' | 'audio' | 'video' | 'document';

export interface CatalogModel {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  /** Seconds since the epoch; constant for one release of the catalogue. */
  readonly createdAt: number;
  /** Tokens. Limits an upstream itself lists win over these three. */
  readonly inputTokenLimit: number;
  readonly outputTokenLimit: number;
  /** Largest thinking budget; 0 for models that do not think. */
  readonly thinkingTokenLimit: number;
  readonly supportsThinking: boolean;
  readonly drawsImages: boolean;
  readonly tasks: readonly ModelTask[];
  readonly inputs: readonly Modality[];
  readonly outputs: readonly Modality[];
  /** What the name says about reasoning where the request says nothing. */
  readonly implies: ImpliedReasoning;
}

export interface ImpliedReasoning {
  readonly effort?: Effort | undefined;
  readonly thinking?: 'on' | undefined;
}

/** When the models of this catalogue were made, for lists that want a date. */
export const CATALOG_CREATED_AT = Date.UTC(2026, 0, 1) / 1000;
const INPUT_LIMIT = 1_048_576;
const FLASH_THINKING = 24_576;
const STRONG_THINKING = 32_768;

const READS: readonly Modality[] = ['text', 'image', 'audio', 'video', 'document'];

const ALPHA = {
  createdAt: CATALOG_CREATED_AT,
  inputTokenLimit: INPUT_LIMIT,
  outputTokenLimit: 65_536,
  drawsImages: false,
  tasks: ['generate'],
  inputs: READS,
  outputs: ['text'],
} as const;

const BETA = { ...ALPHA, outputTokenLimit: 64_000, inputs: ['text', 'image', 'document'] } as const;

export const CATALOG: readonly CatalogModel[] = [
  {
    ...ALPHA,
    id: 'alpha-3-flash',
    displayName: 'Alpha 3 Flash',
    description: 'Fast and efficient.',
    thinkingTokenLimit: FLASH_THINKING,
    supportsThinking: true,
    implies: {},
  },
  {
    ...ALPHA,
    id: 'alpha-3-pro-high',
    displayName: 'Alpha 3 Pro (high)',
    description: 'High-quality reasoning.',
    thinkingTokenLimit: STRONG_THINKING,
    supportsThinking: true,
    implies: { effort: 'high' },
  },
  {
    ...ALPHA,
    id: 'alpha-3-pro-low',
    displayName: 'Alpha 3 Pro (low)',
    description: 'Cost-efficient.',
    thinkingTokenLimit: STRONG_THINKING,
    supportsThinking: true,
    implies: { effort: 'low' },
  },
  {
    ...ALPHA,
    id: 'alpha-3-pro-image',
    displayName: 'Alpha 3 Pro Image',
    description: 'Image generation.',
    thinkingTokenLimit: 0,
    supportsThinking: false,
    drawsImages: true,
    inputs: ['text', 'image'],
    outputs: ['text', 'image'],
    implies: {},
  },
  {
    ...BETA,
    id: 'beta-sonnet-4-6',
    displayName: 'Beta Sonnet 4.6',
    description: 'Balanced.',
    thinkingTokenLimit: STRONG_THINKING,
    supportsThinking: true,
    implies: {},
  },
  {
    ...BETA,
    id: 'beta-sonnet-4-6-thinking',
    displayName: 'Beta Sonnet 4.6 (thinking)',
    description: 'Extended reasoning.',
    thinkingTokenLimit: STRONG_THINKING,
    supportsThinking: true,
    implies: { thinking: 'on' },
  },
  {
    ...BETA,
    id: 'beta-opus-4-6-thinking',
    displayName: 'Beta Opus 4.6 (thinking)',
    description: 'Opus-tier with thinking.',
    thinkingTokenLimit: STRONG_THINKING,
    supportsThinking: true,
    implies: { thinking: 'on' },
  },
  {
    ...ALPHA,
    id: 'alpha-embedding-001',
    displayName: 'Alpha Embedding 1',
    description: 'Text embeddings.',
    inputTokenLimit: 2048,
    outputTokenLimit: 1,
    thinkingTokenLimit: 0,
    supportsThinking: false,
    tasks: ['embed'],
    inputs: ['text'],
    outputs: [],
    implies: {},
  },
];

const BY_ID = new Map(CATALOG.map((model) => [model.id, model]));

/** The catalogue model of exactly this id. */
export function findCatalogModel(id: string): CatalogModel | undefined {
  return BY_ID.get(id);
}
