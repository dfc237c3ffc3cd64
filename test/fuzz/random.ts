// A small seeded generator of random choices, so that a failing run can be repeated from its seed.

export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number;
  /** True in this share of the calls. */
  chance(share: number): boolean;
  /** @throws Error when the list is empty. */
  pick<Item>(items: readonly Item[]): Item;
  shuffle<Item>(items: readonly Item[]): Item[];
}

/** The mulberry32 generator. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (share) => next() < share,
    pick(items) {
      const [item] = items.slice(below(items.length));
      if (item === undefined) throw new Error('There is nothing to pick from.');
      return item;
    },
    shuffle(items) {
      const order = items.map((item) => ({ item, rank: next() }));
      return order.sort((left, right) => left.rank - right.rank).map(({ item }) => item);
    },
  };
}
