// Reads which searches an answer tells before its first words.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

/** `GOOGLE_SEARCH_WEB` of `@google/genai`, in whichever vocabulary. */
const WEB_SEARCH = /_SEARCH_WEB$/;

/**
 * The queries a candidate of one frame names: in its metadata, and in the traces of tools that run
 * upstream, which stand before the text that is built on them (ai.google.dev, "Combine built-in tools
 * and function calling"). What was found is told at the end.
 */
export function readSearches({ content, groundingMetadata }: JsonObject): readonly string[] {
  const parts = isJsonObject(content) && Array.isArray(content.parts) ? content.parts : [];
  const traced = parts.flatMap((part) => queriesOfTrace(isJsonObject(part) && part.toolCall));
  const metadata = isJsonObject(groundingMetadata) ? groundingMetadata.webSearchQueries : undefined;
  return [...traced, ...textsIn(metadata)];
}

function queriesOfTrace(trace: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(trace) || !isJsonObject(trace.args)) return [];
  if (typeof trace.toolType !== 'string' || !WEB_SEARCH.test(trace.toolType)) return [];
  return textsIn(trace.args.queries);
}

function textsIn(list: JsonValue | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}
