// How fast a service says it answered: one vocabulary, as protocols call the usual tier by different names.

import type { JsonValue } from '../lib/json.ts';
import { textOf } from '../lib/read-values.ts';

/** The usual tier is `standard`; undefined where nothing is said. */
export function readServiceTier(word: JsonValue | undefined): string | undefined {
  const tier = textOf(word)?.toLowerCase();
  if (tier === 'auto' || tier === 'unspecified') return undefined;
  return tier === 'default' ? 'standard' : tier;
}

/** Among the words of a protocol; undefined where it has none for the tier. */
export function writeServiceTier<Word extends string>(
  tier: string | undefined,
  words: readonly Word[],
): Word | undefined {
  return words.find((word) => readServiceTier(word) === tier);
}
