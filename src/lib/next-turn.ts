// Long work in steps: between two of them all others get their turn.

/** Bodies from this size on are read and written in steps. */
export const STEPWISE_FROM_BYTES = 4_194_304;

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
