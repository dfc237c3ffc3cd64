// For clients that want one tool call at a time: lets the first call of each choice through.

import type { CanonicalEvent } from '../canonical/event.ts';

/** Upstreams have no such switch, so further calls of the same answer are left out (receipt: approximated). */
export function createCallLimiter(): (event: CanonicalEvent) => boolean {
  const called = new Set<number>();
  const hidden = new Set<number>();
  return (event) => {
    if (event.kind === 'block-start' && event.block.kind === 'tool-call') {
      if (called.has(event.choice)) hidden.add(event.index);
      called.add(event.choice);
    }
    const isBlockEvent =
      event.kind === 'block-start' || event.kind === 'block-delta' || event.kind === 'block-end';
    return !(isBlockEvent && hidden.has(event.index));
  };
}
