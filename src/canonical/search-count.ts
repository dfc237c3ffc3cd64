// How many searches of the web stand behind an answer.

import type { GroundingEvent } from './event.ts';

/** Upstreams tell what was asked, but not always: sources without a query were searched for once. */
export function searchCount(grounding: GroundingEvent | undefined): number {
  return grounding === undefined ? 0 : Math.max(1, grounding.queries.length);
}
