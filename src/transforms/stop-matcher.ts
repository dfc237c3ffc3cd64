// Finds the first of several texts to be complete in a stream of text.

export type StopMatcher = ReturnType<typeof createStopMatcher>;

interface Pattern {
  readonly stop: string;
  /** By matched length: the longest shorter match that the same text is as well. */
  readonly fallbacks: readonly number[];
  matched: number;
}

/**
 * Finds the first of several texts to be complete in a stream of text, one unit at a time. Knuth, Morris and
 * Pratt's search for each stop, side by side: linear in the text, whatever it is.
 */
export function createStopMatcher(stops: readonly string[]) {
  const patterns = stops
    .toSorted((left, right) => right.length - left.length)
    .map((stop): Pattern => ({ stop, fallbacks: fallbacksOf(stop), matched: 0 }));
  return {
    /** Units at the end of the text so far that may be the beginning of a stop. */
    get pending() {
      return patterns.reduce((most, { matched }) => Math.max(most, matched), 0);
    },
    /**
     * The stop completed first, and how many units of the piece it takes; of several completed by the same
     * unit, the longest. Ends the search.
     */
    push(piece: string) {
      for (let at = 0; at < piece.length; at += 1) {
        const unit = piece.charCodeAt(at);
        const complete = advanceAll(patterns, unit);
        if (complete !== undefined) return { stop: complete.stop, end: at + 1 };
      }
      return undefined;
    },
    /** Forgets the text so far. */
    reset(): void {
      for (const pattern of patterns) pattern.matched = 0;
    },
  };
}

function advanceAll(patterns: readonly Pattern[], unit: number): Pattern | undefined {
  let complete: Pattern | undefined;
  for (const pattern of patterns) {
    pattern.matched = advance(pattern, unit);
    if (pattern.matched === pattern.stop.length) complete ??= pattern;
  }
  return complete;
}

function advance(
  { stop, fallbacks, matched }: Pick<Pattern, 'stop' | 'fallbacks' | 'matched'>,
  unit: number,
): number {
  let length = matched;
  while (length > 0 && stop.charCodeAt(length) !== unit) length = fallbacks[length] ?? 0;
  return stop.charCodeAt(length) === unit ? length + 1 : 0;
}

function fallbacksOf(stop: string): readonly number[] {
  const fallbacks = [0, 0];
  for (let length = 1; length < stop.length; length += 1) {
    const matched = fallbacks[length] ?? 0;
    fallbacks.push(advance({ stop, fallbacks, matched }, stop.charCodeAt(length)));
  }
  return fallbacks;
}
