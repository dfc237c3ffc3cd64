// Reads which pages the upstream opened for an answer, and what became of each.

import type { FetchedPage } from '../../canonical/event.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

/** Source: ai.google.dev, "URL context"; `@google/genai`, `UrlRetrievalStatus`. */
const OUTCOMES: ReadonlyMap<JsonValue | undefined, FetchedPage['outcome']> = new Map([
  ['URL_RETRIEVAL_STATUS_SUCCESS', 'read'],
  ['URL_RETRIEVAL_STATUS_ERROR', 'unreachable'],
  ['URL_RETRIEVAL_STATUS_PAYWALL', 'unreachable'],
  ['URL_RETRIEVAL_STATUS_UNSAFE', 'refused'],
]);

/** The pages known so far with those of a candidate's `urlContextMetadata`: of one told again the later word counts. */
export function addFetchedPages(
  known: readonly FetchedPage[],
  metadata: JsonObject,
): readonly FetchedPage[] {
  if (!Array.isArray(metadata.urlMetadata)) return known;
  const pages = new Map(known.map((page) => [page.url, page]));
  for (const told of metadata.urlMetadata) {
    if (!isJsonObject(told)) continue;
    const { retrievedUrl: url, urlRetrievalStatus: status } = told;
    if (typeof url !== 'string' || url === '') continue;
    pages.set(url, { url, outcome: OUTCOMES.get(status) ?? 'unknown' });
  }
  return [...pages.values()];
}
