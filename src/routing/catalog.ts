// The models the gateway knows by name, as data: limits, abilities, and what a name implies.

import type { ListedModel } from '../canonical/model.ts';
import type { Effort } from '../canonical/request.ts';

/** Limits an upstream itself lists win over these. */
export interface CatalogModel extends ListedModel {
  /** What the name says about reasoning where the request says nothing. */
  readonly implies: ImpliedReasoning;
}

export interface ImpliedReasoning {
  readonly effort?: Effort | undefined;
  readonly thinking?: 'on' | undefined;
}

/** When the models of this catalogue were made, for lists that want a date. */
export const CATALOG_CREATED_AT = Date.UTC(2026, 0, 1) / 1000;

const ALPHA = {
  createdAt: CATALOG_CREATED_AT,
  inputTokenLimit: 1_048_576,
  outputTokenLimit: 65_536,
  drawsImages: false,
  tasks: ['generate'],
} as const;

const BETA = { ...ALPHA, inputTokenLimit: 200_000, outputTokenLimit: 64_000 } as const;

export const CATALOG: readonly CatalogModel[] = [
  {
    ...ALPHA,
    id: 'alpha-3-flash',
    displayName: 'Alpha 3 Flash',
    description: 'Fast and efficient.',
    supportsThinking: true,
    implies: {},
  },
  {
    ...ALPHA,
    id: 'alpha-3-pro-high',
    displayName: 'Alpha 3 Pro (high)',
    description: 'High-quality reasoning.',
    supportsThinking: true,
    implies: { effort: 'high' },
  },
  {
    ...ALPHA,
    id: 'alpha-3-pro-low',
    displayName: 'Alpha 3 Pro (low)',
    description: 'Cost-efficient.',
    supportsThinking: true,
    implies: { effort: 'low' },
  },
  {
    ...ALPHA,
    id: 'alpha-3-pro-image',
    displayName: 'Alpha 3 Pro Image',
    description: 'Image generation.',
    supportsThinking: false,
    drawsImages: true,
    implies: {},
  },
  {
    ...BETA,
    id: 'beta-sonnet-4-6',
    displayName: 'Beta Sonnet 4.6',
    description: 'Balanced.',
    supportsThinking: true,
    implies: {},
  },
  {
    ...BETA,
    id: 'beta-sonnet-4-6-thinking',
    displayName: 'Beta Sonnet 4.6 (thinking)',
    description: 'Extended reasoning.',
    supportsThinking: true,
    implies: { thinking: 'on' },
  },
  {
    ...BETA,
    id: 'beta-opus-4-6-thinking',
    displayName: 'Beta Opus 4.6 (thinking)',
    description: 'Opus-tier with thinking.',
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
    supportsThinking: false,
    tasks: ['embed'],
    implies: {},
  },
];

const BY_ID = new Map(CATALOG.map((model) => [model.id, model]));

/** The catalogue model of exactly this id. */
export function findCatalogModel(id: string): CatalogModel | undefined {
  return BY_ID.get(id);
}
