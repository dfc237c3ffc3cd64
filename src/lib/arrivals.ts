// Things that arrive one by one, for one reader that waits for them.

export interface Arrivals<Item> {
  add(item: Item): void;
  end(): void;
  /** Undefined when there are no more. One reader. */
  next(): Promise<Item | undefined>;
}

export function createArrivals<Item>(): Arrivals<Item> {
  const items: Item[] = [];
  let isOver = false;
  let wake: (() => void) | undefined;
  const change = (): void => {
    wake?.();
    wake = undefined;
  };
  return {
    add(item) {
      items.push(item);
      change();
    },
    end() {
      isOver = true;
      change();
    },
    async next() {
      while (items.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return items.shift();
    },
  };
}
