// What a client holds after an answer, put together from a stream or read from a whole body, for comparison.

import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts';
import { foldFrames } from '../support/stream-grammar/messages.ts';
import type { LaneName } from './answer-case.ts';

/** The payloads of the `data:` lines (or of the array's elements); `[DONE]` is left out. */
function payloadsOf(text: string): JsonObject[] {
  if (text.startsWith('[')) return listOf(JSON.parse(text)).map(objectOf);
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => objectOf(JSON.parse(line.slice('data: '.length))));
}

/** How a stream ends: with the protocol's own success, with its error, or with neither. */
export function endingOf(lane: LaneName, text: string): 'success' | 'error' | 'none' {
  const payloads = payloadsOf(text);
  if (lane !== 'responses' && payloads.some((payload) => isJsonObject(payload.error)))
    return 'error';
  switch (lane) {
    case 'chat':
      return text.endsWith('data: [DONE]\n\n') ? 'success' : 'none';
    case 'responses':
      return endingOfResponse(payloads.at(-1));
    case 'messages':
      return payloads.at(-1)?.type === 'message_stop' ? 'success' : 'none';
    case 'generate':
    case 'relay':
      return isFinishedAnswer(payloads) ? 'success' : 'none';
    default:
      return lane satisfies never;
  }
}

/** True when nothing that means success stands in a stream that ended with an error. */
export function isErrorClean(lane: LaneName, text: string): boolean {
  const payloads = payloadsOf(text);
  if (lane === 'responses') {
    const ends = payloads.filter(({ type }) => /\.(?:completed|incomplete)$/.test(String(type)));
    return ends.every(({ item_id: id }) => id !== undefined);
  }
  const isLast = isJsonObject(payloads.at(-1)?.error);
  if (lane === 'chat') {
    const choices = payloads.flatMap((payload) => listOf(payload.choices).map(objectOf));
    return isLast && !text.includes('[DONE]') && choices.every((one) => !one.finish_reason);
  }
  return isLast && payloads.every((payload) => payload.type !== 'message_stop');
}

/** The parts of an answer that must not depend on whether it was streamed. */
export function viewOfStream(lane: LaneName, text: string): JsonValue {
  const payloads = payloadsOf(text);
  if (lane === 'chat') return viewOfChunks(payloads);
  if (lane === 'responses') return viewOfResponse(objectOf(payloads.at(-1)?.response));
  if (lane === 'messages') return viewOfMessage(foldFrames(payloads));
  return viewOfContents(payloads);
}

export function viewOfReply(lane: LaneName, body: JsonObject): JsonValue {
  if (lane === 'chat') return viewOfCompletion(body);
  if (lane === 'responses') return viewOfResponse(body);
  if (lane === 'messages') return viewOfMessage(body);
  return viewOfContents([body]);
}

function endingOfResponse(last: JsonObject | undefined): 'success' | 'error' | 'none' {
  if (last?.type === 'error' || last?.type === 'response.failed') return 'error';
  const isEnd = last?.type === 'response.completed' || last?.type === 'response.incomplete';
  return isEnd ? 'success' : 'none';
}

/** Searches stand before the text where they are known by then; ids are numbered as items come. */
function viewOfResponse(response: JsonObject): JsonValue {
  const items = listOf(response.output).map((item) => {
    const { id: _id, ...rest } = objectOf(item);
    return rest;
  });
  const isSearch = ({ type }: JsonObject): boolean => type === 'web_search_call';
  const {
    status = null,
    error = null,
    incomplete_details: details = null,
    usage = null,
  } = response;
  return {
    ...{ status, error, details, usage },
    output: items.filter((item) => !isSearch(item)),
    search: items.filter(isSearch),
  };
}

interface ChoiceView {
  content: string;
  reasoning: string;
  annotations: JsonValue[];
  images: JsonValue[];
  calls: JsonObject[];
  finish: JsonValue;
}

function emptyChoice(): ChoiceView {
  return { content: '', reasoning: '', annotations: [], images: [], calls: [], finish: null };
}

function viewOfChunks(chunks: readonly JsonObject[]): JsonValue {
  const choices: ChoiceView[] = [];
  for (const choice of chunks.flatMap((chunk) => listOf(chunk.choices).map(objectOf))) {
    const index = Number(choice.index);
    choices[index] ??= emptyChoice();
    const view = choices[index];
    addMessage(view, objectOf(choice.delta));
    view.finish = choice.finish_reason ?? view.finish;
  }
  const usage = chunks.findLast((chunk) => isJsonObject(chunk.usage))?.usage ?? null;
  return { choices: choices.map((choice) => ({ ...choice })), usage };
}

function viewOfCompletion(body: JsonObject): JsonValue {
  const choices = listOf(body.choices).map((value) => {
    const choice = objectOf(value);
    const view = emptyChoice();
    addMessage(view, objectOf(choice.message));
    return { ...view, finish: choice.finish_reason ?? null };
  });
  return { choices, usage: body.usage ?? null };
}

/** Adds a delta, or a whole message: call pieces of one index are one call. */
function addMessage(view: ChoiceView, message: JsonObject): void {
  view.content += textOf(message.content);
  view.reasoning += textOf(message.reasoning_content);
  view.annotations.push(...listOf(message.annotations));
  view.images.push(...listOf(message.images));
  const legacy = message.function_call;
  const calls = isJsonObject(legacy) ? [{ function: legacy }] : listOf(message.tool_calls);
  for (const [place, value] of calls.entries()) {
    const { index = place, ...call } = objectOf(value);
    view.calls[Number(index)] = joinCall(view.calls[Number(index)] ?? {}, call);
  }
}

function joinCall(known: JsonObject, piece: JsonObject): JsonObject {
  const joined = { ...known, ...piece };
  for (const [key, field] of [
    ['function', 'arguments'],
    ['custom', 'input'],
  ] as const) {
    if (!isJsonObject(piece[key])) continue;
    const before = isJsonObject(known[key]) ? known[key] : {};
    const text = textOf(before[field]) + textOf(piece[key][field]);
    joined[key] = { ...before, ...piece[key], [field]: text };
  }
  return joined;
}

/** Search blocks and the cuts that citations make stand elsewhere in a stream. */
function viewOfMessage(message: JsonObject): JsonValue {
  const blocks = listOf(message.content).map(objectOf);
  const isSearch = ({ type }: JsonObject): boolean =>
    type === 'server_tool_use' || type === 'web_search_tool_result';
  const content: JsonObject[] = [];
  for (const block of blocks.filter((one) => !isSearch(one))) {
    const last = content.at(-1);
    if (last?.type === 'text' && block.type === 'text') {
      last.text = textOf(last.text) + textOf(block.text);
    } else {
      const { citations: _citations, ...rest } = block;
      content.push(rest);
    }
  }
  const citations = blocks.flatMap((block) => listOf(block.citations));
  const { stop_reason = null, stop_sequence = null, usage = null } = message;
  return {
    ...{ content, citations, stop_reason, stop_sequence, usage },
    search: blocks.filter(isSearch),
  };
}

function viewOfContents(answers: readonly JsonObject[]): JsonValue {
  const candidates: { parts: JsonObject[]; rest: JsonObject }[] = [];
  let rest: JsonObject = {};
  for (const { candidates: given, ...fields } of answers) {
    rest = { ...rest, ...fields };
    for (const candidate of listOf(given).map(objectOf)) {
      const { content, index = 0, ...more } = candidate;
      const at = Number(index);
      candidates[at] ??= { parts: [], rest: {} };
      Object.assign(candidates[at].rest, withoutPartIndex(more));
      const parts = isJsonObject(content) ? listOf(content.parts) : [];
      for (const part of parts) addPart(candidates[at].parts, objectOf(part));
    }
  }
  return { candidates: candidates.map(({ parts, rest }) => ({ parts, ...rest })), ...rest };
}

/** A stream's segments refer to the whole text: its chunks have no part indices of their own. */
function withoutPartIndex(candidate: JsonObject): JsonObject {
  const { groundingMetadata } = candidate;
  if (!isJsonObject(groundingMetadata)) return candidate;
  const groundingSupports = listOf(groundingMetadata.groundingSupports).map((value) => {
    const support = objectOf(value);
    const { partIndex: _partIndex, ...segment } = objectOf(support.segment);
    return { ...support, segment };
  });
  return { ...candidate, groundingMetadata: { ...groundingMetadata, groundingSupports } };
}

/** Fragments of one text are one part; a signed one ends it. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1);
  const joins =
    typeof part.text === 'string' &&
    typeof last?.text === 'string' &&
    (part.thought === last.thought || part.text === '') &&
    last.thoughtSignature === undefined;
  if (joins && last !== undefined) {
    const thought = last.thought;
    Object.assign(last, part, { text: textOf(last.text) + textOf(part.text) });
    if (thought !== undefined) last.thought = thought;
  } else if (part.text !== '' || part.thoughtSignature !== undefined) {
    parts.push({ ...part });
  }
}

function isFinishedAnswer(payloads: readonly JsonObject[]): boolean {
  const isBlocked = payloads.some(({ promptFeedback }) => isJsonObject(promptFeedback));
  const candidates = payloads.flatMap((payload) => listOf(payload.candidates).map(objectOf));
  const open = new Set(candidates.map(({ index = 0 }) => index));
  for (const { index = 0, finishReason } of candidates) if (finishReason) open.delete(index);
  return isBlocked || (candidates.length > 0 && open.size === 0);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error(`not an object: ${JSON.stringify(value)}`);
  return value;
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
