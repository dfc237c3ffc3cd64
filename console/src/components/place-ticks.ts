// Chooses which columns have their name below them: where it begins, and not more than there is room for.

export interface Tick {
  /** Of the column. */
  readonly index: number;
  /** Left out where it is narrow. */
  readonly isMinor: boolean;
}

/** Columns in a row may have one name: hours that are named by their day. */
export function placeTicks(names: readonly string[], most: number): readonly Tick[] {
  const starts = names.flatMap((name, index) => (name === names[index - 1] ? [] : [index]));
  const [first = 0, second, third] = starts;
  // A first day of few hours is too short for its name.
  const isShort =
    second !== undefined && third !== undefined && second - first < (third - second) / 2;
  const shown = isShort ? starts.slice(1) : starts;
  const every = Math.max(1, Math.ceil(shown.length / most));
  return shown
    .filter((_, place) => place % every === 0)
    .map((index, place) => ({ index, isMinor: place % 2 === 1 }));
}
