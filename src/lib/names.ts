// Name patterns with `*` for any run of characters: anchored, case-insensitive, linear in time.

/** Longer patterns match nothing, so that one rule cannot cost much. */
const MAX_PATTERN_LENGTH = 256;

export interface Wildcard {
  readonly pattern: string;
  /** Whether a name that `foldCase` went over matches. Parts never overlap in the name. */
  matches(foldedName: string): boolean;
  readonly literalCount: number;
  readonly starCount: number;
}

export function foldCase(name: string): string {
  return name.toLowerCase();
}

export function isWildcard(pattern: string): boolean {
  return pattern.includes('*');
}

/** Compiles a pattern; matching takes the leftmost place for each part, which is never wrong. */
export function createWildcard(pattern: string): Wildcard {
  const [prefix = '', ...rest] = foldCase(pattern).split('*');
  const suffix = rest.pop();
  const middle = rest.filter((part) => part !== '');
  const starCount = suffix === undefined ? 0 : rest.length + 1;
  const isUsable = pattern.length <= MAX_PATTERN_LENGTH;
  return {
    pattern,
    literalCount: pattern.length - starCount,
    starCount,
    matches(name) {
      if (!isUsable) return false;
      if (suffix === undefined) return name === prefix;
      if (name.length < prefix.length + suffix.length) return false;
      if (!name.startsWith(prefix) || !name.endsWith(suffix)) return false;
      const end = name.length - suffix.length;
      let from = prefix.length;
      for (const part of middle) {
        const at = name.indexOf(part, from);
        if (at === -1 || at + part.length > end) return false;
        from = at + part.length;
      }
      return true;
    },
  };
}

/** Best first: most literal characters, then fewer stars, then code-point order. */
export function compareWildcards(left: Wildcard, right: Wildcard): number {
  return (
    right.literalCount - left.literalCount ||
    left.starCount - right.starCount ||
    compareCodePoints(left.pattern, right.pattern)
  );
}

/** Order by code points, which is that of the bytes of UTF-8, not by UTF-16 units or locale. */
export function compareCodePoints(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** The nearest of the names; undefined when none is within a slip or two of the keyboard. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  return nearestOf(names)(name);
}

/** `nearestName` for several names that are looked for among the same ones. */
export function nearestOf(names: Iterable<string>): (name: string) => string | undefined {
  const candidates = Array.from(names, (candidate) => {
    const text = plain(candidate);
    return { candidate, text, thirds: thirdsOf(text) };
  });
  return (name) => {
    const meant = plain(name);
    let nearest: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const { candidate, text, thirds } of candidates) {
      // Two slips leave one of three parts as it is; to compare all names letter by letter is what takes time.
      if (!thirds.some((third) => meant.includes(third))) continue;
      const most = Math.min(candidate.length <= 4 ? 1 : 2, least - 1);
      const distance = editDistance(meant, text, most);
      if (distance > most) continue;
      nearest = candidate;
      least = distance;
    }
    return nearest;
  };
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

function thirdsOf(text: string): readonly string[] {
  const size = Math.ceil(text.length / 3);
  return [0, 1, 2].map((part) => text.slice(part * size, (part + 1) * size));
}

/** Levenshtein distance, where two swapped letters are one slip, row by row; any larger number where it is more than `most`. */
function editDistance(left: string, right: string, most: number): number {
  if (Math.abs(left.length - right.length) > most) return Number.POSITIVE_INFINITY;
  let before: readonly number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let at = 0; at < left.length; at += 1) {
    const next = [at + 1];
    let least = at + 1;
    for (let index = 1; index <= right.length; index += 1) {
      const replaced = (row[index - 1] ?? 0) + (right[index - 1] === left[at] ? 0 : 1);
      const isSwapped = right[index - 1] === left[at - 1] && right[index - 2] === left[at];
      const swapped = isSwapped ? (before[index - 2] ?? most) + 1 : replaced;
      const distance = Math.min(
        ...[replaced, swapped, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1],
      );
      next.push(distance);
      least = Math.min(least, distance);
    }
    // A swap spans two rows.
    if (least > most && Math.min(...row) >= most) return Number.POSITIVE_INFINITY;
    before = row;
    row = next;
  }
  return row[right.length] ?? 0;
}
