// Reads which pages the words come from that the model recites.

import { isJsonObject, type JsonObject } from '../../lib/json.ts';

/**
 * Adds the addresses of a candidate's `citationMetadata` to those known so far. The public API lists them in
 * `citationSources`, Vertex AI in `citations`.
 */
export function addRecited(addresses: Set<string>, { citationMetadata }: JsonObject): void {
  if (!isJsonObject(citationMetadata)) return;
  const { citationSources, citations } = citationMetadata;
  for (const list of [citationSources, citations]) {
    for (const source of Array.isArray(list) ? list : []) {
      const uri = isJsonObject(source) ? source.uri : undefined;
      if (typeof uri === 'string' && uri !== '') addresses.add(uri);
    }
  }
}
