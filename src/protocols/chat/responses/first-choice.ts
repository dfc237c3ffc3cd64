// Tells the events of the first answer from those of others that an upstream gave unasked.

import type { CanonicalEvent } from '../../../canonical/event.ts';

/** False for events of other answers; call with every event, in order. */
export function createFirstChoice(): (event: CanonicalEvent) => boolean {
  const others = new Set<number>();
  return (event) => {
    switch (event.kind) {
      case 'block-start':
        if (event.choice !== 0) others.add(event.index);
        return event.choice === 0;
      case 'block-delta':
        return !others.has(event.index);
      case 'block-end':
        return !others.delete(event.index);
      case 'grounding':
        return event.choice === 0;
      case 'start':
      case 'usage':
      case 'finish':
      case 'error':
        return true;
      default:
        return event satisfies never;
    }
  };
}
