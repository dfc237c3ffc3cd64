// The operator's own mapping of names, compiled once per change.

import {
  compareWildcards,
  createWildcard,
  foldCase,
  isWildcard,
  type Wildcard,
} from '../lib/wildcard.ts';

/** Stands before the names of the generate-content protocol's model lists. */
const COLLECTION = /^models\//i;

export interface MappingHit {
  readonly target: string;
  /** The key that matched, without `models/`. */
  readonly key: string;
  readonly kind: 'exact' | 'pattern';
}

export interface ModelMapping {
  /** The entry of exactly this name: as written, else without regard to case. */
  findExact(name: string): MappingHit | undefined;
  /** The best pattern: most literal characters, then fewer `*`, then code-point order. */
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
    findExact: (name) => hitOf(name) ?? hitOf(folded.get(foldCase(name))),
    findPattern(name) {
      const foldedName = foldCase(name);
      const hit = patterns.find(({ wildcard }) => wildcard.matches(foldedName));
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

interface CompiledEntry {
  readonly wildcard: Wildcard;
  readonly target: string;
}

function compilePatterns(all: readonly (readonly [string, string])[]): readonly CompiledEntry[] {
  return all
    .filter(([key]) => isWildcard(key))
    .map(([key, target]) => ({ wildcard: createWildcard(key), target }))
    .sort((left, right) => compareWildcards(left.wildcard, right.wildcard));
}
