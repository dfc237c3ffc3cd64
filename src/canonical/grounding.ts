// Where an answer has its words from: searches, sources, pages and citations.

/** A later one of the same choice replaces it. */
export interface GroundingEvent {
  readonly kind: 'grounding';
  readonly choice: number;
  readonly queries: readonly string[];
  readonly sources: readonly GroundingSource[];
  readonly citations: readonly Citation[];
  /** Pages that were opened for the answer, whether a source came of them or not; absent for none. */
  readonly pages?: readonly FetchedPage[] | undefined;
  /** True before the end of the answer, which tells all: the queries so far, and what is known by then of what was found. */
  readonly isEarly?: true | undefined;
}

/** So much of a text is kept to place citations in it, in UTF-16 units: the longest answers models give are shorter. */
export const MAX_CITED_LENGTH = 524_288;

/** Each early one tells all queries again: so many are told early. */
export const MAX_EARLY_SEARCHES = 100;

export interface FetchedPage {
  readonly url: string;
  /** `refused` is a page that may not be read, `unknown` one of which nothing else is told. */
  readonly outcome: 'read' | 'unreachable' | 'refused' | 'unknown';
}

export interface GroundingSource {
  readonly url: string;
  readonly title: string;
}

/** A passage of the choice's whole text, in UTF-16 units, and the sources that support it. */
export interface Citation {
  readonly startIndex: number;
  readonly endIndex: number;
  readonly text: string;
  /** Indices into the event's `sources`. */
  readonly sources: readonly number[];
}

/** Sources without a query were searched for once, unless they are pages that were opened. */
export function searchCount(grounding: GroundingEvent): number {
  const { queries, sources, pages } = grounding;
  if (queries.length > 0) return queries.length;
  return sources.length > 0 && pages === undefined ? 1 : 0;
}
