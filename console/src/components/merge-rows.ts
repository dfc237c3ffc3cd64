// Puts the newest page of a list that follows before the pages that were read earlier.

interface Identified {
  readonly id: string;
}

export interface MergedRows<Row> {
  readonly rows: readonly Row[];
  /** True when rows may be missing between the newest page and the older ones. */
  readonly hasGap: boolean;
}

/**
 * Both lists have the newest first. Records are written once, so the same id is the same row.
 * @param isWholeHead whether the newest page holds all there is
 */
export function mergeRows<Row extends Identified>(
  head: readonly Row[],
  pages: readonly Row[],
  isWholeHead: boolean,
): MergedRows<Row> {
  if (head.length === 0) return { rows: pages, hasGap: false };
  const known = new Set(pages.map(({ id }) => id));
  const fresh = head.filter(({ id }) => !known.has(id));
  const overlaps = fresh.length < head.length || isWholeHead || pages.length === 0;
  return { rows: fresh.length === 0 ? pages : [...fresh, ...pages], hasGap: !overlaps };
}
