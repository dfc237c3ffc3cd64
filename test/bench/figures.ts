// Statistics the bench needs.

/** The value below which the given share (0 to 1) of the values lies; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Between which values the middle half lies, as `[from–to]`. */
export function spreadOf(values: readonly number[], digits: number): string {
  const [from, to] = [percentile(values, 0.25), percentile(values, 0.75)];
  return `[${from.toFixed(digits)}–${to.toFixed(digits)}]`;
}

/** The order of a round: from another item on each time, and backwards every other time. */
export function orderOf<Item>(items: readonly Item[], round: number): readonly Item[] {
  const start = round % items.length;
  const turned = [...items.slice(start), ...items.slice(0, start)];
  return round % 2 === 0 ? turned : turned.reverse();
}
