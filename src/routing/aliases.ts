// Names that stand for catalogue models: the catalogue's real names and well-known foreign names.

import type { ModelFamily } from '../config/settings.ts';
import { createWildcard, foldCase } from '../lib/names.ts';
import { realModelName } from '../wire/vocabulary.ts';
import { CATALOG } from './catalog.ts';

/** Short names of model lines, beside the catalogue's own ids. */
const LINES: readonly (readonly [name: string, target: string])[] = [
  ['alpha-3-pro', 'alpha-3-pro-high'],
  ['beta-opus-4-6', 'beta-opus-4-6-thinking'],
];

/** Every alias of one exact name, in both vocabularies. */
export const EXACT_ALIASES: ReadonlyMap<string, string> = new Map([
  ...CATALOG.map(({ id }) => [realModelName(id), id] as const),
  ...LINES.flatMap(([name, target]) => [
    [name, target] as const,
    [realModelName(name), target] as const,
  ]),
]);

/** Of names that begin with a letter and a digit, which no pattern covers without more. */
const GENERATIONS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/**
 * Well-known names of other models, first match wins; images and small models come first. Vectors of
 * two models do not compare, so names of this vendor's embedding models stand for nothing but themselves.
 */
const PATTERN_ALIASES: readonly (readonly [
  pattern: string,
  target: string,
  /** Its newest model goes before the target where an account offers one. */
  family?: ModelFamily,
])[] = [
  ['text-embedding-*', 'alpha-embedding-001', 'embedding'],
  ['dall-e*', 'alpha-3-pro-image'],
  ['gpt-image*', 'alpha-3-pro-image'],
  ['imagen-*', 'alpha-3-pro-image'],
  ['gemini-*image*', 'alpha-3-pro-image'],
  ['alpha-*image*', 'alpha-3-pro-image'],
  ['*nano-banana*', 'alpha-3-pro-image'],
  ['whisper*', 'alpha-3-flash'],
  ['gpt-*transcribe*', 'alpha-3-flash'],
  ['gpt-*-mini*', 'alpha-3-flash'],
  ['gpt-*-nano*', 'alpha-3-flash'],
  ['gpt-3.5*', 'alpha-3-flash'],
  ['gpt-*', 'alpha-3-pro-high'],
  ['chatgpt-*', 'alpha-3-pro-high'],
  ['codex-*mini*', 'alpha-3-flash'],
  ['codex-*', 'alpha-3-pro-high'],
  ...GENERATIONS.map((digit) => [`o${digit}-mini*`, 'alpha-3-pro-low'] as const),
  ...GENERATIONS.flatMap((digit) => [
    [`o${digit}`, 'alpha-3-pro-high'] as const,
    [`o${digit}-*`, 'alpha-3-pro-high'] as const,
  ]),
  ['claude-*opus*', 'beta-opus-4-6-thinking'],
  ['beta-*opus*', 'beta-opus-4-6-thinking'],
  ['claude-*sonnet*', 'beta-sonnet-4-6'],
  ['beta-*sonnet*', 'beta-sonnet-4-6'],
  ['claude-*haiku*', 'alpha-3-flash', 'haiku'],
  ['beta-*haiku*', 'alpha-3-flash', 'haiku'],
  ['gemini-*flash-lite*', 'alpha-3-flash', 'flash-lite'],
  ['alpha-*flash-lite*', 'alpha-3-flash', 'flash-lite'],
  ['gemini-*flash*', 'alpha-3-flash'],
  ['alpha-*flash*', 'alpha-3-flash'],
  ['gemini-*pro*', 'alpha-3-pro-high'],
  ['alpha-*pro*', 'alpha-3-pro-high'],
];

const COMPILED = PATTERN_ALIASES.map(([pattern, target, family]) => ({
  wildcard: createWildcard(pattern),
  target,
  family,
}));

interface AliasHit {
  /** The name or pattern that matched. */
  readonly alias: string;
  readonly target: string;
  readonly family: ModelFamily | undefined;
}

export function findPatternAlias(name: string): AliasHit | undefined {
  const folded = foldCase(name);
  const hit = COMPILED.find(({ wildcard }) => wildcard.matches(folded));
  return hit && { alias: hit.wildcard.pattern, target: hit.target, family: hit.family };
}
