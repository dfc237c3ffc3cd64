// Pages the model opened: made-up fetches of the addresses in the user's words.
// Source: generate-content API, `urlContextMetadata`.

import type { JsonObject } from '../json.ts';

const ADDRESS = /https?:\/\/[^\s"'<>)\]]+/g;
/** ai.google.dev, "URL context": at most twenty a request. */
const MAX_PAGES = 20;

/** Undefined where the words name no address. Those of hosts called `unreachable.…` cannot be opened. */
export function writeUrlContext(userText: string): JsonObject | undefined {
  const urls = [...new Set(userText.match(ADDRESS))].slice(0, MAX_PAGES);
  if (urls.length === 0) return undefined;
  return {
    urlMetadata: urls.map((url) => ({
      retrievedUrl: url,
      urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${isOpen(url) ? 'SUCCESS' : 'ERROR'}`,
    })),
  };
}

function isOpen(url: string): boolean {
  return !/^https?:\/\/unreachable\./.test(url);
}
