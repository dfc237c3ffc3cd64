// Long work in steps: between two of them all others get their turn, and garbage goes where memory is scarce.

import { relieveMemory } from './relieve-memory.ts';

/** Bodies from this size on are read and written in steps. */
export const STEPWISE_FROM_BYTES = 4_194_304;

export function nextTurn(): Promise<void> {
  relieveMemory();
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
