// Who listens to the account book: told of each change at once and in order, one change after the other.

import type { BookChange } from './account-book.ts';

export interface BookListeners {
  add(listener: (change: BookChange) => void): () => void;
  tell(change: BookChange): void;
}

/**
 * A change made by a listener is told after the one it listens to. A listener that throws is
 * reported and does not keep the others from being told.
 */
export function createBookListeners(onFault: (error: unknown) => void): BookListeners {
  const listeners = new Set<(change: BookChange) => void>();
  const untold: BookChange[] = [];
  let isTelling = false;
  const tellOne = (change: BookChange): void => {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        onFault(error);
      }
    }
  };
  return {
    add(listener) {
      // Of its own, so that the same function added twice is two listeners.
      const own = (change: BookChange): void => listener(change);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    tell(change) {
      untold.push(change);
      if (isTelling) return;
      isTelling = true;
      for (let next = untold.shift(); next !== undefined; next = untold.shift()) tellOne(next);
      isTelling = false;
    },
  };
}
