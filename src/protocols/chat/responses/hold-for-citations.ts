// Holds back what would close a message whose citations are still to come.

import type { CanonicalEvent } from '../../../canonical/event.ts';

/** Takes one event and gives those that are to be written now, in order. */
type CitationHold = (event: CanonicalEvent) => readonly CanonicalEvent[];

/**
 * An item that is done does not change any more, and the next one begins behind it; upstreams tell
 * what a text cites at the end of the answer. So everything behind the first message waits for the
 * citations or for the end. Call with the events of one answer, in order.
 */
export function createCitationHold(): CitationHold {
  let hasMessage = false;
  let isSettled = false;
  const held: CanonicalEvent[] = [];
  return (event) => {
    if (isSettled) return [event];
    if (event.kind === 'grounding' && event.isEarly !== true) {
      isSettled = true;
      return [event, ...held];
    }
    if (event.kind === 'finish' || event.kind === 'error') {
      isSettled = true;
      return [...held, event];
    }
    if (held.length > 0 || (hasMessage && closesMessage(event))) {
      held.push(event);
      return [];
    }
    hasMessage ||= event.kind === 'block-start' && !closesMessage(event);
    return [event];
  };
}

/** Code stands inside the message; everything else is an item of its own. */
function closesMessage(event: CanonicalEvent): boolean {
  if (event.kind !== 'block-start') return false;
  const { kind } = event.block;
  return kind === 'thinking' || kind === 'tool-call' || kind === 'media';
}
