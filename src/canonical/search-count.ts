// How many searches of the web stand behind an answer.

import type { GroundingEvent } from './event.ts';

/**
 * Upstreams tell what was asked, but not always: sources without a query were searched for once, unless they are pages
 * that were opened.
 */
export function searchCount(grounding: GroundingEvent | undefined): number {
  if (grounding === undefined) return 0;
  const { queries, sources, pages } = grounding;
  if (queries.length > 0) return queries.length;
  return sources.length > 0 && pages === undefined ? 1 : 0;
}
