// Reads which searches an answer tells before its first words.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

/** `GOOGLE_SEARCH_WEB` of `@google/genai`, in whichever vocabulary. */
const WEB_SEARCH = /_SEARCH_WEB$/;

const NONE: readonly string[] = [];

/**
 * The queries a candidate of one frame names: in its metadata, and in the traces of tools that run
 * upstream, which stand before the text that is built on them (ai.google.dev, "Combine built-in tools
 * and function calling"). What was found is told at the end.
 */
export function readSearches({ content, groundingMetadata }: JsonObject): readonly string[] {
  const found: string[] = [];
  if (isJsonObject(content) && Array.isArray(content.parts)) {
    for (const part of content.parts) {
      if (!isJsonObject(part)) continue;
      for (const query of queriesOfTrace(part.toolCall)) found.push(query);
    }
  }
  return isJsonObject(groundingMetadata)
    ? found.concat(textsIn(groundingMetadata.webSearchQueries))
    : found;
}

function queriesOfTrace(trace: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(trace) || !isJsonObject(trace.args)) return NONE;
  if (typeof trace.toolType !== 'string' || !WEB_SEARCH.test(trace.toolType)) return NONE;
  return textsIn(trace.args.queries);
}

function textsIn(list: JsonValue | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : NONE;
}
