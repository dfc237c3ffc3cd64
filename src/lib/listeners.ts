// Who listens to something that changes: told of each change at once and in order, one change after the other.

export interface Listeners<Change> {
  /** @returns what ends it */
  add(listener: (change: Change) => void): () => void;
  tell(change: Change): void;
}

/**
 * A change made by a listener is told after the one it listens to. A listener that throws is
 * reported and does not keep the others from being told.
 */
export function createListeners<Change>(onFault: (error: unknown) => void): Listeners<Change> {
  const listeners = new Set<(change: Change) => void>();
  const untold: Change[] = [];
  let isTelling = false;
  const tellOne = (change: Change): void => {
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
      const own = (change: Change): void => listener(change);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    tell(change) {
      untold.push(change);
      if (isTelling) return;
      isTelling = true;
      while (untold.length > 0) for (const next of untold.splice(0)) tellOne(next);
      isTelling = false;
    },
  };
}
