// Names that stand for catalogue models: the catalogue's real names and well-known foreign names.

import { createWildcard, foldCase } from '../lib/wildcard.ts';
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

/**
 * Well-known names of other models, first match wins; images and small models come first. Vectors of
 * two models do not compare, so names of this vendor's embedding models stand for nothing but themselves.
 */
const PATTERN_ALIASES: readonly (readonly [pattern: string, target: string])[] = [
  ['text-embedding-*', 'alpha-embedding-001'],
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
  ['o1-mini*', 'alpha-3-pro-low'],
  ['o3-mini*', 'alpha-3-pro-low'],
  ['o4-mini*', 'alpha-3-pro-low'],
  ['o1', 'alpha-3-pro-high'],
  ['o1-*', 'alpha-3-pro-high'],
  ['o3', 'alpha-3-pro-high'],
  ['o3-*', 'alpha-3-pro-high'],
  ['o4', 'alpha-3-pro-high'],
  ['o4-*', 'alpha-3-pro-high'],
  ['claude-*opus*', 'beta-opus-4-6-thinking'],
  ['beta-*opus*', 'beta-opus-4-6-thinking'],
  ['claude-*sonnet*', 'beta-sonnet-4-6'],
  ['beta-*sonnet*', 'beta-sonnet-4-6'],
  ['claude-*haiku*', 'alpha-3-flash'],
  ['beta-*haiku*', 'alpha-3-flash'],
  ['gemini-*flash*', 'alpha-3-flash'],
  ['alpha-*flash*', 'alpha-3-flash'],
  ['gemini-*pro*', 'alpha-3-pro-high'],
  ['alpha-*pro*', 'alpha-3-pro-high'],
];

const COMPILED = PATTERN_ALIASES.map(([pattern, target]) => ({
  wildcard: createWildcard(pattern),
  target,
}));

export interface AliasHit {
  /** The name or pattern that matched. */
  readonly alias: string;
  readonly target: string;
}

export function findPatternAlias(name: string): AliasHit | undefined {
  const folded = foldCase(name);
  const hit = COMPILED.find(({ wildcard }) => wildcard.matches(folded));
  return hit && { alias: hit.wildcard.pattern, target: hit.target };
}
