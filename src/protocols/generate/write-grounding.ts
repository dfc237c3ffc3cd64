// Search results and citations; this protocol counts in UTF-8 bytes inside one part.

import type { Citation, FetchedPage, GroundingEvent } from '../../canonical/event.ts';
import type { JsonObject } from '../../lib/json.ts';

/** A text the citations may lie in; the texts of one choice, in order, are its whole text. */
export interface CitedText {
  readonly text: string;
  /** Index into the content's parts; absent in streams, where offsets count from the first text. */
  readonly partIndex?: number;
}

const STATUSES: Readonly<Record<FetchedPage['outcome'], string>> = {
  read: 'URL_RETRIEVAL_STATUS_SUCCESS',
  unreachable: 'URL_RETRIEVAL_STATUS_ERROR',
  refused: 'URL_RETRIEVAL_STATUS_UNSAFE',
  unknown: 'URL_RETRIEVAL_STATUS_UNSPECIFIED',
};

/** The fields of a candidate that tell of searches and pages. */
export function writeGrounding(grounding: GroundingEvent, texts: readonly CitedText[]): JsonObject {
  const { queries, sources, pages } = grounding;
  return {
    ...(queries.length + sources.length > 0 && {
      groundingMetadata: writeSearch(grounding, texts),
    }),
    ...(pages !== undefined && { urlContextMetadata: { urlMetadata: pages.map(writePage) } }),
  };
}

function writePage({ url, outcome }: FetchedPage): JsonObject {
  return { retrievedUrl: url, urlRetrievalStatus: STATUSES[outcome] };
}

function writeSearch(grounding: GroundingEvent, texts: readonly CitedText[]): JsonObject {
  return {
    webSearchQueries: [...grounding.queries],
    groundingChunks: grounding.sources.map(({ url, title }) => ({ web: { uri: url, title } })),
    groundingSupports: grounding.citations.map((citation) => ({
      segment: writeSegment(citation, texts),
      groundingChunkIndices: [...citation.sources],
    })),
  };
}

function writeSegment(citation: Citation, texts: readonly CitedText[]): JsonObject {
  let offset = 0;
  for (const { text, partIndex } of texts) {
    const start = citation.startIndex - offset;
    if (start >= 0 && start < text.length) {
      const startIndex = Buffer.byteLength(text.slice(0, start));
      const cited = text.slice(start, citation.endIndex - offset);
      const segment: JsonObject = {
        startIndex,
        endIndex: startIndex + Buffer.byteLength(cited),
        text: citation.text,
      };
      return partIndex === undefined ? segment : { partIndex, ...segment };
    }
    offset += text.length;
  }
  return { text: citation.text };
}
