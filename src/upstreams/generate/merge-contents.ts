// Puts together native contents that are one step: SDK chats store every streamed chunk as its own.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';

/**
 * Neighbouring model contents become one, and neighbouring contents of function responses: upstreams
 * want all calls of a step in one content and all their responses in the next (ai.google.dev,
 * "Function calling"). Parts are neither changed nor joined. The same list when nothing was split.
 */
export function mergeContents(contents: JsonValue[]): JsonValue[] {
  const merged: JsonValue[] = [];
  let last: Step | undefined;
  for (const content of contents) {
    const step = readStep(content);
    if (last !== undefined && step !== undefined && isSameStep(last, step)) {
      if (!last.isOwn) {
        last = { ...last, parts: [...last.parts], isOwn: true };
        merged[merged.length - 1] = { ...last.content, parts: last.parts };
      }
      for (const part of step.parts) last.parts.push(part);
    } else {
      merged.push(content);
      last = step;
    }
  }
  return merged.length === contents.length ? contents : merged;
}

interface Step {
  readonly content: JsonObject;
  readonly parts: JsonValue[];
  readonly isResponses: boolean;
  /** True once its parts are a list made here. */
  readonly isOwn: boolean;
}

function readStep(content: JsonValue): Step | undefined {
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return undefined;
  const { parts } = content;
  return { content, parts, isResponses: isResponses(parts), isOwn: false };
}

function isSameStep(before: Step, after: Step): boolean {
  if (before.content.role !== after.content.role) return false;
  return before.content.role === 'model' || (before.isResponses && after.isResponses);
}

function isResponses(parts: readonly JsonValue[]): boolean {
  return parts.every((part) => isJsonObject(part) && part.functionResponse !== undefined);
}
