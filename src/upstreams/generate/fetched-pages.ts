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

/** Adds the pages of a candidate's `urlContextMetadata` by their addresses: of one told again the later word counts. */
export function addFetchedPages(pages: Map<string, FetchedPage>, metadata: JsonObject): void {
  if (!Array.isArray(metadata.urlMetadata)) return;
  for (const told of metadata.urlMetadata) {
    if (!isJsonObject(told)) continue;
    const { retrievedUrl: url, urlRetrievalStatus: status } = told;
    if (typeof url !== 'string' || url === '') continue;
    pages.set(url, { url, outcome: OUTCOMES.get(status) ?? 'unknown' });
  }
}
