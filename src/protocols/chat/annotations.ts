// Writes search grounding as `url_citation` annotations on the content.

import type { GroundingEvent } from '../../canonical/event.ts';
import { sourceTitle } from '../../canonical/source-title.ts';
import type { ChatAnnotation } from '../../wire/chat.ts';

/** Where positions of the model's own text stand in the content that shows it. */
export interface ContentPlaces {
  /** UTF-16 units of the content. */
  readonly length: number;
  startOf(position: number): number;
  endOf(position: number): number;
}

/** One annotation a citation and source. Where nothing is cited, all sources stand for the whole content. */
export function writeAnnotations(
  grounding: GroundingEvent | undefined,
  content: ContentPlaces,
): ChatAnnotation[] {
  if (grounding === undefined) return [];
  const annotations: ChatAnnotation[] = [];
  const add = (source: number, start: number, end: number): void => {
    const found = grounding.sources[source];
    if (found === undefined) return;
    annotations.push({
      type: 'url_citation',
      url_citation: {
        start_index: start,
        end_index: end,
        title: sourceTitle(found),
        url: found.url,
      },
    });
  };
  for (const citation of grounding.citations) {
    const start = content.startOf(citation.startIndex);
    const end = content.endOf(citation.endIndex);
    for (const source of citation.sources) add(source, start, end);
  }
  if (grounding.citations.length > 0) return annotations;
  for (const source of grounding.sources.keys()) add(source, 0, content.length);
  return annotations;
}
