// The models the gateway knows by name, as data: limits, abilities, and what a name implies.

import type { Effort } from '../canonical/effort.ts';
import type { ListedModel } from '../canonical/model.ts';

/** Limits an upstream itself lists win over these. */
interface CatalogModel extends ListedModel {
  readonly inputTokenLimit: number;
  readonly outputTokenLimit: number;
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
  supportsThinking: true,
  drawsImages: false,
  tasks: ['generate'],
  implies: {},
} as const;

const BETA = { ...ALPHA, inputTokenLimit: 200_000, outputTokenLimit: 64_000 } as const;
const THINKING = { ...BETA, implies: { thinking: 'on' } } as const;
const DRAWING = { ...ALPHA, supportsThinking: false, drawsImages: true } as const;
const EMBEDDING = {
  ...ALPHA,
  inputTokenLimit: 2048,
  outputTokenLimit: 1,
  supportsThinking: false,
  tasks: ['embed'],
} as const;

type Row = readonly [
  kind: Omit<CatalogModel, 'id' | 'displayName' | 'description'>,
  id: string,
  displayName: string,
  description: string,
  implies?: ImpliedReasoning,
];

const ROWS: readonly Row[] = [
  [ALPHA, 'alpha-3-flash', 'Alpha 3 Flash', 'Fast and efficient.'],
  [ALPHA, 'alpha-3-pro-high', 'Alpha 3 Pro (high)', 'High-quality reasoning.', { effort: 'high' }],
  [ALPHA, 'alpha-3-pro-low', 'Alpha 3 Pro (low)', 'Cost-efficient.', { effort: 'low' }],
  [DRAWING, 'alpha-3-pro-image', 'Alpha 3 Pro Image', 'Image generation.'],
  [BETA, 'beta-sonnet-4-6', 'Beta Sonnet 4.6', 'Balanced.'],
  [THINKING, 'beta-sonnet-4-6-thinking', 'Beta Sonnet 4.6 (thinking)', 'Extended reasoning.'],
  [THINKING, 'beta-opus-4-6-thinking', 'Beta Opus 4.6 (thinking)', 'Opus-tier with thinking.'],
  [EMBEDDING, 'alpha-embedding-001', 'Alpha Embedding 1', 'Text embeddings.'],
];

export const CATALOG: readonly CatalogModel[] = ROWS.map(
  ([kind, id, displayName, description, implies = kind.implies]) => ({
    ...kind,
    id,
    displayName,
    description,
    implies,
  }),
);

const BY_ID = new Map(CATALOG.map((model) => [model.id, model]));

export function findCatalogModel(id: string): CatalogModel | undefined {
  return BY_ID.get(id);
}
