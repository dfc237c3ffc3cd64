// Puts together native contents that are one step: SDK chats store every streamed chunk as its own.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

/**
 * Neighbouring model contents become one, and neighbouring contents of function responses: upstreams
 * want all calls of a step in one content and all their responses in the next (ai.google.dev,
 * "Function calling"). Parts are neither changed nor joined. The same list when nothing was split.
 */
export function mergeContents(contents: JsonValue[]): JsonValue[] {
  const merged: JsonValue[] = [];
  for (const content of contents) {
    const last = merged.at(-1);
    const joined = last === undefined ? undefined : join(last, content);
    if (joined === undefined) merged.push(content);
    else merged[merged.length - 1] = joined;
  }
  return merged.length === contents.length ? contents : merged;
}

function join(before: JsonValue, after: JsonValue): JsonObject | undefined {
  if (!isJsonObject(before) || !isJsonObject(after) || before.role !== after.role) return undefined;
  if (!Array.isArray(before.parts) || !Array.isArray(after.parts)) return undefined;
  const isOneStep = before.role === 'model' || [before.parts, after.parts].every(isResponses);
  return isOneStep ? { ...before, parts: [...before.parts, ...after.parts] } : undefined;
}

function isResponses(parts: readonly JsonValue[]): boolean {
  return parts.every((part) => isJsonObject(part) && part.functionResponse !== undefined);
}
