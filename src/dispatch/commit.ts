// The commit point: the first event that shows the upstream is really answering.

import type { CanonicalEvent } from '../canonical/event.ts';

/**
 * True for events that carry content or end the answer. A start, usage figures, or a text block
 * that has no text yet could still be followed by nothing, and then another account is tried.
 */
export function isCommitting(event: CanonicalEvent): boolean {
  switch (event.kind) {
    case 'block-delta':
    case 'finish':
      return true;
    case 'block-start':
      return event.block.kind !== 'text' && event.block.kind !== 'thinking';
    default:
      return false;
  }
}
