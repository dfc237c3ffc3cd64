// What is embedded, and the vectors of it.

import type { JsonObject } from '../lib/json.ts';
import type { Usage } from './usage.ts';

/** One text that becomes one vector. */
export interface EmbedInput {
  readonly text: string;
  /** Wanted length of the vector; the model's own when absent. */
  readonly dimensions?: number | undefined;
}

export interface Embedding {
  /** Never empty; all finite. */
  readonly values: readonly number[];
  /** The same as the upstream wrote it, for clients of its own wire. */
  readonly native: JsonObject;
}

/** Vectors in the order of what was embedded. */
export interface EmbedAnswer {
  readonly embeddings: readonly Embedding[];
  /** Absent where the upstream counts nothing. */
  readonly promptTokens?: number | undefined;
  /** The parts of these that are pictures and sound; absent where it has neither, or nobody says. */
  readonly media?: Usage['media'];
  /** The counts as the upstream wrote them, one a call; empty where it counts nothing. */
  readonly nativeUsages: readonly JsonObject[];
}
