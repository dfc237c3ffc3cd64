// A clock for hours of simulated time: it jumps from timer to timer, with a heap and real turns of the event loop.

import type { Clock, Timer } from '../../src/lib/clock.ts';
import { sleepWith } from '../support/fake-clock.ts';

export interface EventClock extends Clock {
  /** Fires what falls due until that many milliseconds have passed. */
  run(forMs: number): Promise<void>;
}

interface Entry {
  at: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

export function createEventClock(startAt = 1_700_000_000_000): EventClock {
  let now = startAt;
  let order = 0;
  const heap: Entry[] = [];
  const startTimer = (delayMs: number, callback: () => void): Timer => {
    const entry: Entry = { at: now + delayMs, order: order++, callback };
    push(heap, entry);
    return {
      cancel() {
        entry.callback = undefined;
      },
    };
  };
  return {
    now: () => now,
    monotonic: () => now,
    startTimer,
    sleep: (delayMs, signal) => sleepWith(startTimer, delayMs, signal),
    async run(forMs) {
      const until = now + forMs;
      for (let first = heap[0]; first !== undefined && first.at <= until; first = heap[0]) {
        pop(heap);
        if (first.callback === undefined) continue;
        now = Math.max(now, first.at);
        first.callback();
        // Every promise that can settle without new input settles.
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = until;
    },
  };
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at === b.at ? a.order < b.order : a.at < b.at;
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.push(entry) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(entry, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = heap[2 * index + 1];
    const right = heap[2 * index + 2];
    const isRight = left !== undefined && right !== undefined && isBefore(right, left);
    const child = isRight ? right : left;
    if (child === undefined || !isBefore(child, last)) break;
    heap[index] = child;
    index = 2 * index + (isRight ? 2 : 1);
  }
  heap[index] = last;
}
