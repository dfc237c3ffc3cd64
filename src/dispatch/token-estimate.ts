// Estimates the tokens of a prompt where the upstream cannot count them, and learns from those it did.

import { type Countable, promptSize } from '../canonical/prompt-size.ts';

export interface TokenEstimator {
  /** Whole tokens, at least 1. */
  estimate(request: Countable): number;
  /** Whole tokens of text that is so many by rule of thumb. */
  estimateText(size: number): number;
  /** What the upstream counted for a request, to calibrate later estimates. */
  observe(request: Countable, promptTokens: number): void;
}

/** Each observation moves the factor this far; outliers are held within the bounds. */
const LEARNING_RATE = 0.1;
const LEAST_FACTOR = 0.25;
const MOST_FACTOR = 4;
/** Going through a long conversation costs more than it teaches: of later ones a few are enough. */
const ALL_OBSERVED = 64;
const OBSERVED_LATER = 16;

export function createTokenEstimator(): TokenEstimator {
  let factor = 1;
  let offered = 0;
  return {
    estimate: (request) => Math.max(1, Math.ceil(promptSize(request) * factor)),
    estimateText: (size) => Math.ceil(size * factor),
    observe(request, promptTokens) {
      offered += 1;
      if (offered > ALL_OBSERVED && offered % OBSERVED_LATER !== 0) return;
      const raw = promptSize(request);
      if (raw <= 0 || promptTokens <= 0) return;
      const seen = Math.min(Math.max(promptTokens / raw, LEAST_FACTOR), MOST_FACTOR);
      factor += (seen - factor) * LEARNING_RATE;
    },
  };
}
