// The grammar of chat completion chunks and of text completion chunks.

import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { parseFrame, readFrames } from './frames.ts';
import {
  check,
  checkChatError,
  checkSum,
  countIn,
  idIn,
  listIn,
  objectIn,
  textIn,
} from './rule.ts';

export type StreamEnd = 'success' | 'error';

interface ChunkKind {
  readonly object: string;
  checkChoice(choice: JsonObject, state: ChoiceState): void;
}

interface ChoiceState {
  hasBegun: boolean;
  isEnded: boolean;
  /** Argument texts by call index. */
  readonly calls: string[];
  readonly callIds: Set<string>;
}

const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'];

export function checkChatStream(text: string): StreamEnd {
  return checkChunks(text, { object: 'chat.completion.chunk', checkChoice: checkDelta });
}

export function checkCompletionStream(text: string): StreamEnd {
  return checkChunks(text, {
    object: 'text_completion',
    checkChoice(choice, state) {
      textIn(choice, 'text');
      check('logprobs' in choice, 'logprobs are there, if only null');
      state.hasBegun = true;
    },
  });
}

/** Sources: `openai` lib/ChatCompletionStream, core/streaming; `@ai-sdk/openai-compatible` chunk schema. */
function checkChunks(text: string, kind: ChunkKind): StreamEnd {
  const frames = readFrames(text, true);
  check(
    frames.every(({ event }) => event === undefined),
    'no frame has an event line',
  );
  check(frames.length > 0, 'a stream says something');
  const isWhole = frames.at(-1)?.data === '[DONE]';
  const payloads = frames.slice(0, isWhole ? -1 : undefined).map(parseFrame);
  const last = payloads.at(-1) ?? {};
  check(isWhole !== 'error' in last, 'a stream ends with [DONE] or with an error, not both');
  const chunks = isWhole ? payloads : payloads.slice(0, -1);
  if (!isWhole) checkChatError(last);
  const choices = checkHeads(chunks, kind);
  const open = [...choices.values()].filter(({ isEnded }) => !isEnded);
  check(!isWhole || open.length === 0, 'every choice ends with a finish_reason');
  check(isWhole || open.length === choices.size, 'no choice that ended is followed by an error');
  return isWhole ? 'success' : 'error';
}

function checkHeads(chunks: readonly JsonObject[], kind: ChunkKind): Map<number, ChoiceState> {
  const choices = new Map<number, ChoiceState>();
  const [first] = chunks;
  let hasUsage = false;
  for (const chunk of chunks) {
    check(chunk.object === kind.object, `object is ${kind.object}`);
    check(!hasUsage, 'nothing follows the usage');
    idIn(chunk, 'id');
    countIn(chunk, 'created');
    check(chunk.id === first?.id && chunk.model === first?.model, 'id and model stay the same');
    const list = listIn(chunk, 'choices');
    if (isJsonObject(chunk.usage)) {
      check(list.length === 0, 'usage comes in a chunk without choices');
      checkSum(chunk.usage, ['prompt_tokens', 'completion_tokens'], 'total_tokens');
      hasUsage = true;
    } else check(list.length === 1, 'a chunk is about one choice');
    for (const choice of list) checkOneChoice(choice, kind, choices);
  }
  return choices;
}

function checkOneChoice(
  choice: JsonObject,
  kind: ChunkKind,
  choices: Map<number, ChoiceState>,
): void {
  const index = countIn(choice, 'index');
  const state = choices.get(index) ?? {
    hasBegun: false,
    isEnded: false,
    calls: [],
    callIds: new Set<string>(),
  };
  choices.set(index, state);
  check(!state.isEnded, 'nothing follows the finish_reason of a choice');
  kind.checkChoice(choice, state);
  if (choice.finish_reason === null) return;
  check(FINISH_REASONS.includes(textIn(choice, 'finish_reason')), 'the finish_reason is known');
  for (const json of state.calls) {
    check(json === '' || isJsonObject(JSON.parse(json)), 'arguments add up to an object');
  }
  const hasCalls = state.calls.length > 0;
  check(choice.finish_reason !== 'tool_calls' || hasCalls, 'tool_calls ends a choice with calls');
  state.isEnded = true;
}

function checkDelta(choice: JsonObject, state: ChoiceState): void {
  const delta = objectIn(choice, 'delta');
  check(state.hasBegun || delta.role === 'assistant', 'the first delta brings the role');
  state.hasBegun = true;
  for (const key of ['content', 'reasoning_content']) {
    const value = delta[key];
    check(value === undefined || value === null || typeof value === 'string', `${key} is a text`);
  }
  if (delta.tool_calls === undefined) return;
  for (const call of listIn(delta, 'tool_calls')) checkCall(call, state);
}

function checkCall(call: JsonObject, { calls, callIds }: ChoiceState): void {
  const index = countIn(call, 'index');
  check(index <= calls.length, 'call indices rise by one');
  const isCustom = isJsonObject(call.custom);
  if (index === calls.length) {
    const id = idIn(call, 'id');
    check(!callIds.has(id), 'call ids are unique');
    callIds.add(id);
    check(call.type === (isCustom ? 'custom' : 'function'), 'the type of a call is told');
    idIn(objectIn(call, isCustom ? 'custom' : 'function'), 'name');
    calls.push('');
  } else check(index === calls.length - 1, 'one call is written after the other');
  const { arguments: json } = isJsonObject(call.function) ? call.function : {};
  if (typeof json === 'string') calls[index] = (calls[index] ?? '') + json;
}
