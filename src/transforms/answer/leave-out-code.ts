// Leaves the code an upstream ran out of an answer whose text has a form of its own.

import type { BlockOpening, CanonicalEvent } from '../../canonical/event.ts';
import { type Receipt, told } from '../../canonical/receipt.ts';

/**
 * Code and its output are written as text, which no answer of a given form has room for: the client
 * reads all its text as one value.
 */
export function leaveOutCode(
  receipt: Receipt,
): (events: readonly CanonicalEvent[]) => readonly CanonicalEvent[] {
  let open: number | undefined;
  const isLeft = (event: CanonicalEvent): boolean => {
    if (event.kind === 'block-start' && isCode(event.block)) {
      receipt.add('dropped', 'answer', told`Code the upstream ran has no place in this form.`);
      open = event.index;
      return true;
    }
    return event.kind === 'block-end' && event.index === open;
  };
  return (events) => {
    const kept = events.filter((event) => !isLeft(event));
    return kept.length === events.length ? events : kept;
  };
}

function isCode({ kind }: BlockOpening): boolean {
  return kind === 'code' || kind === 'code-result';
}
