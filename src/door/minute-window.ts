// Counts what happened within the last minute, second by second.

export interface MinuteWindow {
  add(now: number, amount: number): void;
  total(now: number): number;
  /** Milliseconds until at most `most` of what is counted now still counts. */
  waitUntil(now: number, most: number): number;
}

const SECONDS = 60;

export function createMinuteWindow(): MinuteWindow {
  /** Second since the epoch → amount, in order. */
  const amounts = new Map<number, number>();
  const forget = (now: number): void => {
    const second = secondOf(now);
    for (const known of amounts.keys()) {
      // A clock that was set back must not keep a count for ever.
      if (second - known >= SECONDS || known > second) amounts.delete(known);
    }
  };
  return {
    add(now, amount) {
      forget(now);
      const second = secondOf(now);
      amounts.set(second, (amounts.get(second) ?? 0) + amount);
    },
    total(now) {
      forget(now);
      return sum(amounts);
    },
    waitUntil(now, most) {
      forget(now);
      let left = sum(amounts);
      for (const [second, amount] of amounts) {
        if (left <= most) break;
        left -= amount;
        if (left <= most) return (second + SECONDS) * 1000 - now;
      }
      return 0;
    },
  };
}

function secondOf(now: number): number {
  return Math.floor(now / 1000);
}

function sum(amounts: ReadonlyMap<number, number>): number {
  let total = 0;
  for (const amount of amounts.values()) total += amount;
  return total;
}
