// The operator's own mapping of names, compiled once per change.

import {
  compareWildcards,
  createWildcard,
  foldCase,
  isWildcard,
  type Wildcard,
} from '../lib/wildcard.ts';
import { neutralModelName, realModelName } from '../wire/vocabulary.ts';

/** Stands before the names of the generate-content protocol's model lists. */
const COLLECTION = /^models\//i;

export interface MappingHit {
  readonly target: string;
  /** The key that matched, without `models/`. */
  readonly key: string;
  readonly kind: 'exact' | 'pattern';
}

export interface ModelMapping {
  /** The entry of exactly this name: as written, without regard to case, else in the other vocabulary. */
  findExact(name: string): MappingHit | undefined;
  /**
   * The best pattern: most literal characters, then fewer `*`, then code-point order. The name's
   * spelling in the other vocabulary matches as well; of equal patterns the name's own goes first.
   */
  findPattern(name: string): MappingHit | undefined;
  /** The keys without `*`. */
  exactNames(): readonly string[];
}

export function createMapping(entries: Readonly<Record<string, string>>): ModelMapping {
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
    findExact(name) {
      const foldedName = foldCase(name);
      return (
        hitOf(name) ?? hitOf(folded.get(foldedName)) ?? hitOf(folded.get(otherName(foldedName)))
      );
    },
    findPattern(name) {
      const foldedName = foldCase(name);
      const find = (spelling: string): CompiledEntry | undefined =>
        patterns.find(({ wildcard }) => wildcard.matches(spelling));
      const otherSpelling = otherName(foldedName);
      const own = find(foldedName);
      const hit = otherSpelling === foldedName ? own : better(own, find(otherSpelling));
      return hit && { target: hit.target, key: hit.wildcard.pattern, kind: 'pattern' };
    },
    exactNames: () => [...exact.keys()],
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
