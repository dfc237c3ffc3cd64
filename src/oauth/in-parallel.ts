// Runs a piece of work for each item of a list, a bounded number at a time.

/** The results in the order of the items. `work` has to turn its own failures into results. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Map<number, Result>();
  const waiting = items.entries();
  const runner = async (): Promise<void> => {
    for (const [index, item] of waiting) results.set(index, await work(item));
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runner));
  return [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
}
