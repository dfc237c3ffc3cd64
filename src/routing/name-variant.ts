// Reads what the end of a model name asks for: `-online`, `-thinking`, `-high`, `-low`.

import type { ModelVariant } from '../canonical/model.ts';

/** A name with some of its variant words taken off, and what those words ask for. */
export interface VariantName {
  readonly base: string;
  readonly variant: ModelVariant;
}

type VariantWord = (variant: ModelVariant) => ModelVariant | undefined;

const WORDS: readonly (readonly [suffix: string, apply: VariantWord])[] = [
  ['-online', (variant) => (variant.webSearch ? undefined : { ...variant, webSearch: true })],
  ['-thinking', (variant) => (variant.thinking ? undefined : { ...variant, thinking: 'on' })],
  ['-high', (variant) => (variant.effort ? undefined : { ...variant, effort: 'high' })],
  ['-low', (variant) => (variant.effort ? undefined : { ...variant, effort: 'low' })],
];

export const NO_VARIANT: ModelVariant = { webSearch: false };

/** The name itself, then the name with one more word taken off each time. */
export function variantNames(name: string, variant: ModelVariant): readonly VariantName[] {
  const names: VariantName[] = [{ base: name, variant }];
  for (let next = names.at(-1); next !== undefined; next = takeWord(next)) {
    if (next !== names.at(-1)) names.push(next);
  }
  return names;
}

/** Takes `-online` off: it says nothing about the model itself. */
export function takeOnline(name: string): VariantName | undefined {
  const suffix = '-online';
  if (!endsWith(name, suffix)) return undefined;
  return { base: name.slice(0, -suffix.length), variant: { ...NO_VARIANT, webSearch: true } };
}

function takeWord({ base, variant }: VariantName): VariantName | undefined {
  for (const [suffix, apply] of WORDS) {
    if (!endsWith(base, suffix)) continue;
    const applied = apply(variant);
    return applied && { base: base.slice(0, -suffix.length), variant: applied };
  }
  return undefined;
}

function endsWith(name: string, suffix: string): boolean {
  return name.length > suffix.length && name.toLowerCase().endsWith(suffix);
}
