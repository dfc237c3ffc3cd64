// A channel between two processes, in one: what is sent arrives later, as a copy.

import type { Channel } from '../../src/cluster/parent.ts';

/** Both ends. */
export function createChannel(): readonly [Channel, Channel] {
  const listeners: Set<(message: unknown) => void>[] = [new Set(), new Set()];
  const end = (own: number): Channel => ({
    send(message) {
      const copy = structuredClone(message);
      queueMicrotask(() => {
        for (const listener of listeners[1 - own] ?? []) listener(copy);
      });
    },
    listen(listener) {
      listeners[own]?.add(listener);
      return () => void listeners[own]?.delete(listener);
    },
  });
  return [end(0), end(1)];
}
