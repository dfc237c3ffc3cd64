// The operator's own mapping of names, compiled once per change.

import {
  compareWildcards,
  createWildcard,
  foldCase,
  isWildcard,
  type Wildcard,
} from '../lib/names.ts';
import { neutralModelName, realModelName } from '../wire/vocabulary.ts';

/** Stands before the names of the generate-content protocol's model lists. */
const COLLECTION = /^models\//i;

export interface MappingHit {
  readonly target: string;
  /** The key that matched, without `models/`. */
  readonly key: string;
  readonly kind: 'exact' | 'pattern';
}

export type ModelMapping = ReturnType<typeof createMapping>;

export function createMapping(entries: Readonly<Record<string, string>>) {
  const all = readEntries(entries);
  const exact = new Map(all.filter(([key]) => !isWildcard(key)));
  const folded = new Map(
    [...exact.keys()]
      .sort()
      .reverse()
      .map((key) => [foldCase(key), key]),
  );
  const patterns = compilePatterns(all);
  const hitOf = (key: string | undefined): MappingHit | undefined => {
    const target = key === undefined ? undefined : exact.get(key);
    return key === undefined || target === undefined ? undefined : { target, key, kind: 'exact' };
  };
  return {
    /** The entry of exactly this name: as written, without regard to case, else in the other vocabulary. */
    findExact(name: string): MappingHit | undefined {
      const foldedName = foldCase(name);
      return (
        hitOf(name) ?? hitOf(folded.get(foldedName)) ?? hitOf(folded.get(otherName(foldedName)))
      );
    },
    /** Most literal characters, then fewer `*`, then code-point order; either vocabulary, its own first. */
    findPattern(name: string): MappingHit | undefined {
      const foldedName = foldCase(name);
      const find = (spelling: string): CompiledEntry | undefined =>
        patterns.find(({ wildcard }) => wildcard.matches(spelling));
      const otherSpelling = otherName(foldedName);
      const own = find(foldedName);
      const hit = otherSpelling === foldedName ? own : better(own, find(otherSpelling));
      return hit && { target: hit.target, key: hit.wildcard.pattern, kind: 'pattern' };
    },
    exactNames: (): readonly string[] => [...exact.keys()],
  };
}

/** Names come here without `models/`; of two keys that differ in it alone, the one without counts. */
function readEntries(
  entries: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] {
  const written = Object.entries(entries);
  const isPrefixed = ([key]: readonly [string, string]): boolean => COLLECTION.test(key);
  const prefixed = written.filter(isPrefixed).map(([key, target]) => {
    return [key.replace(COLLECTION, ''), target] as const;
  });
  return [...new Map([...prefixed, ...written.filter((entry) => !isPrefixed(entry))])];
}

/** The name in the other vocabulary; the same where it has no word of either. */
function otherName(folded: string): string {
  const neutral = neutralModelName(folded);
  return neutral === folded ? realModelName(folded) : neutral;
}

interface CompiledEntry {
  readonly wildcard: Wildcard;
  /** The pattern in the neutral vocabulary, so that the length of a vendor's word decides nothing. */
  readonly neutral: Wildcard;
  readonly target: string;
}

function compilePatterns(all: readonly (readonly [string, string])[]): readonly CompiledEntry[] {
  return all
    .filter(([key]) => isWildcard(key))
    .map(([key, target]) => ({
      wildcard: createWildcard(key),
      neutral: createWildcard(neutralModelName(foldCase(key))),
      target,
    }))
    .sort((left, right) => compareWildcards(left.wildcard, right.wildcard));
}

/** The first, unless the second is the more particular pattern. */
function better(
  own: CompiledEntry | undefined,
  other: CompiledEntry | undefined,
): CompiledEntry | undefined {
  if (own === undefined || other === undefined) return own ?? other;
  const { literalCount, starCount } = own.neutral;
  const isNearer = other.neutral.literalCount - literalCount || starCount - other.neutral.starCount;
  return isNearer > 0 ? other : own;
}

interface Preset {
  readonly name: string;
  /** '' for the operator's own, which are known by their names. */
  readonly description: string;
  /** Name patterns → target, in the form of `custom_mapping`. */
  readonly mapping: Readonly<Record<string, string>>;
}

/** The three built-in mappings an operator may start from, as data. */
export const PRESETS: readonly Preset[] = [
  {
    name: 'default',
    description: 'Other vendors’ names map to the model of similar strength.',
    mapping: {
      'gpt-3.5*': 'alpha-3-flash',
      'gpt-4*': 'alpha-3-pro-low',
      'gpt-5*': 'alpha-3-pro-high',
      'gpt-*-mini*': 'alpha-3-flash',
      'gpt-*-nano*': 'alpha-3-flash',
      'o1*': 'alpha-3-pro-high',
      'o3*': 'alpha-3-pro-high',
      'o4*': 'alpha-3-pro-high',
      'codex-*': 'alpha-3-pro-high',
      'claude-3*sonnet*': 'beta-sonnet-4-6',
      'claude-3*opus*': 'beta-opus-4-6-thinking',
      'claude-*haiku*': 'alpha-3-flash',
    },
  },
  {
    name: 'performance',
    description: 'Every known family maps to its strongest model.',
    mapping: {
      'gpt-*': 'alpha-3-pro-high',
      'o1*': 'alpha-3-pro-high',
      'o3*': 'alpha-3-pro-high',
      'o4*': 'alpha-3-pro-high',
      'codex-*': 'alpha-3-pro-high',
      'claude-*opus*': 'beta-opus-4-6-thinking',
      'claude-*sonnet*': 'beta-sonnet-4-6-thinking',
      'claude-*haiku*': 'beta-sonnet-4-6',
    },
  },
  {
    name: 'cost-effective',
    description: 'Every known family maps to its cheapest suitable model.',
    mapping: {
      'gpt-*': 'alpha-3-flash',
      'o1*': 'alpha-3-pro-low',
      'o3*': 'alpha-3-pro-low',
      'o4*': 'alpha-3-pro-low',
      'codex-*': 'alpha-3-pro-low',
      'claude-*opus*': 'beta-sonnet-4-6-thinking',
      'claude-*sonnet*': 'beta-sonnet-4-6',
      'claude-*haiku*': 'alpha-3-flash',
    },
  },
];

type Entries = Readonly<Record<string, string>>;

export function allPresets(own: Readonly<Record<string, Entries>>): readonly Preset[] {
  const others = Object.entries(own).map(([name, mapping]) => ({ name, description: '', mapping }));
  return [...PRESETS, ...others];
}

/**
 * What applying a preset changes: its own entries, and those that another preset brought go (null).
 * An entry of another name or target is the operator's own and stays. Where it goes to `@name` or
 * `upstream/model`, so does every name it covers: what the preset says of these is left out.
 */
export function presetPatch(
  mapping: Entries,
  preset: Preset,
  presets: readonly Preset[],
): Record<string, string | null> {
  const others = presets.filter(({ name }) => name !== preset.name);
  const entries = Object.entries(mapping);
  const isOf = ([name, target]: readonly [string, string]) => {
    return (one: Preset) => Object.hasOwn(one.mapping, name) && one.mapping[name] === target;
  };
  const brought = entries.filter((entry) => others.some(isOf(entry)));
  const chosen = entries
    .filter((entry) => isChosenPlace(entry[1]) && !presets.some(isOf(entry)))
    .map(([name]) => createWildcard(name));
  const added = Object.entries(preset.mapping).filter(
    ([name]) => !chosen.some((wildcard) => wildcard.matches(foldCase(name))),
  );
  const gone = brought.filter(([name]) => !added.some(([other]) => other === name));
  return Object.fromEntries([...gone.map(([name]) => [name, null]), ...added]);
}

/** A target that says more than a model: several of them, or whose. */
function isChosenPlace(target: string): boolean {
  return target.startsWith('@') || target.includes('/');
}
