// Counts the turns of the event loop that others get while something is under way.

/** @returns what the work gave, and how many turns passed meanwhile */
export async function countTurns<Result>(work: () => Promise<Result>) {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const result = await work();
  isDone = true;
  return { result, turns };
}
