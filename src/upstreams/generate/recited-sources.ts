// Reads which pages the words come from that the model recites.

import { isJsonObject, type JsonObject } from '../../lib/json.ts';

/**
 * The addresses known so far with those of a candidate's `citationMetadata`; undefined for none. The public
 * API lists them in `citationSources`, Vertex AI in `citations`.
 */
export function addRecited(
  known: readonly string[] | undefined,
  { citationMetadata }: JsonObject,
): readonly string[] | undefined {
  if (!isJsonObject(citationMetadata)) return known;
  const { citationSources, citations } = citationMetadata;
  const addresses = new Set(known);
  for (const list of [citationSources, citations]) {
    for (const source of Array.isArray(list) ? list : []) {
      const uri = isJsonObject(source) ? source.uri : undefined;
      if (typeof uri === 'string' && uri !== '') addresses.add(uri);
    }
  }
  return addresses.size === 0 ? undefined : [...addresses];
}
