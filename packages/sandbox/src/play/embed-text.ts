// Vectors of texts: the sum of one direction for each word and each part of a word, of length 1.

import { createHash } from 'node:crypto';

export interface EmbedTextOptions {
  /** Vectors for different tasks differ a little. */
  readonly task: string;
  readonly dimensions: number;
}

/** How much each kind of feature weighs: words most, their parts for words that look alike. */
const WORD = 1;
const WORD_PART = 0.4;
const TASK = 0.3;
const PART_LENGTH = 3;
const DECIMALS = 8;
/** George Marsaglia, "Xorshift RNGs": the triple of the 32-bit generator. */
const SHIFTS = [13, 17, 5] as const;

/**
 * The same text always gives the same vector; texts that share words point the same way. Fewer
 * dimensions are the beginning of more, brought back to length 1.
 */
export function embedText(text: string, { task, dimensions }: EmbedTextOptions): number[] {
  const sum = new Float64Array(dimensions);
  for (const [feature, weight] of featuresOf(text)) addDirection(sum, feature, weight);
  addDirection(sum, `task ${task}`, TASK);
  // With very few dimensions the directions may cancel each other out.
  if (sum.every((value) => value === 0)) sum[0] = 1;
  const length = Math.hypot(...sum);
  return Array.from(sum, (value) => Number((value / length).toFixed(DECIMALS)));
}

function featuresOf(text: string): ReadonlyMap<string, number> {
  const folded = text.normalize('NFKC').toLowerCase();
  const words = folded.match(/[\p{L}\p{N}]+/gu) ?? [folded.trim()];
  const features = new Map<string, number>();
  const add = (feature: string, weight: number): void => {
    features.set(feature, (features.get(feature) ?? 0) + weight);
  };
  for (const word of words) {
    add(`word ${word}`, WORD);
    const letters = [...`^${word}$`];
    for (let at = 0; at + PART_LENGTH <= letters.length; at += 1) {
      add(`part ${letters.slice(at, at + PART_LENGTH).join('')}`, WORD_PART);
    }
  }
  return features;
}

/** Each feature has a direction of its own: signs drawn from its hash, the first ones first. */
function addDirection(sum: Float64Array, feature: string, weight: number): void {
  let state = createHash('sha256').update(feature).digest().readUInt32LE() || 1;
  const [first, second, third] = SHIFTS;
  for (const [index, value] of sum.entries()) {
    state ^= state << first;
    state ^= state >>> second;
    state ^= state << third;
    sum[index] = value + (state < 0 ? -weight : weight);
  }
}
