// Pairs the function responses of native contents with their calls: an id each, none missing.

import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import type { EncodeTarget } from '../upstream.ts';
import { editFields } from './edits.ts';

interface Call {
  readonly id: string | undefined;
  readonly name: string;
}

/**
 * Upstreams want as many responses as calls, in the content right behind them and, on newer models,
 * with the ids of the calls (ai.google.dev, "Function calling"); some clients drop those ids, and an
 * aborted turn leaves calls without a response. A response that stands later in the history is
 * neither moved nor made up. Expects merged contents; the same list when nothing is missing.
 */
export function patchResponses(contents: JsonValue[], target: EncodeTarget): JsonValue[] {
  const patched = contents.map((content, index) => {
    const calls = callsIn(contents[index - 1]);
    if (calls.length === 0 || !isJsonObject(content) || content.role === 'model') return content;
    return answerCalls(content, calls, { later: contents.slice(index + 1), target });
  });
  const unanswered = callsIn(contents.at(-1)).map((call) => madeUpResponse(call, target));
  if (unanswered.length > 0) patched.push({ role: 'user', parts: unanswered });
  const isSame =
    patched.length === contents.length && patched.every((content, i) => content === contents[i]);
  return isSame ? contents : patched;
}

function answerCalls(
  content: JsonObject,
  calls: readonly Call[],
  { later, target }: { readonly later: readonly JsonValue[]; readonly target: EncodeTarget },
): JsonObject {
  const given = Array.isArray(content.parts) ? content.parts : [];
  const open = new Set(calls);
  for (const part of given) {
    const id = readId(responseIn(part));
    const call = id === undefined ? undefined : find(open, (one) => one.id === id);
    if (call !== undefined) open.delete(call);
  }
  const parts = given.map((part) => nameCall(part, open));
  const missing = [...open].filter((call) => !isAnsweredIn(later, call));
  if (missing.length > 0) {
    const end = parts.findLastIndex((part) => responseIn(part) !== undefined) + 1;
    parts.splice(end, 0, ...missing.map((call) => madeUpResponse(call, target)));
  }
  const isSame = parts.length === given.length && parts.every((part, i) => part === given[i]);
  return isSame ? content : { ...content, parts };
}

/** A response that matches no call by id belongs to the first open call of its name. */
function nameCall(part: JsonValue, open: Set<Call>): JsonValue {
  const response = responseIn(part);
  if (response === undefined || !isJsonObject(part)) return part;
  const id = readId(response);
  const call = find(
    open,
    (one) => one.name === response.name && (id === undefined || one.id === undefined),
  );
  if (call === undefined) return part;
  open.delete(call);
  if (id !== undefined || call.id === undefined) return part;
  return editFields(part, { functionResponse: { id: call.id, ...response } });
}

function isAnsweredIn(contents: readonly JsonValue[], { id, name }: Call): boolean {
  return contents.some((content) =>
    partsOf(content).some((part) => {
      const response = responseIn(part);
      if (response === undefined) return false;
      return id === undefined ? response.name === name : readId(response) === id;
    }),
  );
}

function madeUpResponse({ id, name }: Call, { receipt }: EncodeTarget): JsonObject {
  const reason = `Function call ${id ?? name} has no response; "no result" was sent.`;
  receipt.add('repaired', 'contents', reason);
  const response = { name, response: { error: 'no result' } };
  return { functionResponse: id === undefined ? response : { id, ...response } };
}

function callsIn(content: JsonValue | undefined): readonly Call[] {
  if (!isJsonObject(content) || content.role !== 'model') return [];
  return partsOf(content).flatMap((part) => {
    const call = isJsonObject(part) ? part.functionCall : undefined;
    if (!isJsonObject(call) || typeof call.name !== 'string') return [];
    return { id: readId(call), name: call.name };
  });
}

function responseIn(part: JsonValue): JsonObject | undefined {
  const response = isJsonObject(part) ? part.functionResponse : undefined;
  return isJsonObject(response) ? response : undefined;
}

function readId(holder: JsonObject | undefined): string | undefined {
  const id = holder?.id;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function partsOf(content: JsonValue): readonly JsonValue[] {
  return isJsonObject(content) && Array.isArray(content.parts) ? content.parts : [];
}

function find(calls: ReadonlySet<Call>, matches: (call: Call) => boolean): Call | undefined {
  for (const call of calls) if (matches(call)) return call;
  return undefined;
}
