// The grammar of Messages streams, by a reader that knows nothing of the writer: it folds their frames to the message.

import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/lib/json.ts';
import type { StreamEnd } from './chat.ts';
import { readNamedFrames } from './frames.ts';
import { check, idIn, objectIn } from './rule.ts';

const STOP_REASONS = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'refusal',
  'pause_turn',
];

/** Sources: Messages API, "Streaming"; `@anthropic-ai/sdk` lib/MessageStream. */
export function checkMessagesStream(text: string): StreamEnd {
  const frames = readNamedFrames(text);
  const last = frames.at(-1);
  const isWhole = last?.type === 'message_stop';
  const failures = frames.filter(({ type }) => type === 'error');
  if (isWhole) {
    check(failures.length === 0, 'a whole message holds no error');
    checkMessage(foldFrames(frames));
    return 'success';
  }
  check(last?.type === 'error' && failures.length === 1, 'an error ends what is not whole');
  const error = objectIn(last, 'error');
  idIn(error, 'type');
  idIn(error, 'message');
  checkBroken(frames.slice(0, -1));
  return 'error';
}

function checkMessage(message: JsonObject): void {
  idIn(message, 'id');
  check(STOP_REASONS.includes(String(message.stop_reason)), 'the stop_reason is known');
}

/** What came before an error is a beginning of a whole message. */
function checkBroken(frames: readonly JsonObject[]): void {
  const started = frames.filter(({ type }) => type === 'content_block_start').length;
  const stopped = frames.filter(({ type }) => type === 'content_block_stop').length;
  check(started - stopped <= 1, 'one block is open at a time');
  if (frames.every(({ type }) => type === 'ping')) return;
  const index = started - 1;
  const closing = started === stopped ? [] : [{ type: 'content_block_stop', index }];
  const isEnded = frames.some(({ type }) => type === 'message_delta');
  check(!isEnded, 'no end is told before an error');
  const usage = { output_tokens: 0 };
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage };
  const isCut = frames.at(-1)?.type === 'content_block_delta';
  try {
    foldFrames([...frames, ...closing, end, { type: 'message_stop' }]);
  } catch (error) {
    // The input of a call that was cut is no JSON yet.
    if (!(isCut && error instanceof SyntaxError)) throw error;
  }
}

interface Folding {
  message: JsonObject | undefined;
  readonly content: JsonObject[];
  /** JSON pieces of the open block's input. */
  input: string | undefined;
  isOpen: boolean;
  isSigned: boolean;
  isEnded: boolean;
}

const DELTA_OWNERS: Readonly<Record<string, readonly string[]>> = {
  text_delta: ['text'],
  citations_delta: ['text'],
  thinking_delta: ['thinking'],
  signature_delta: ['thinking'],
  input_json_delta: ['tool_use', 'server_tool_use'],
};

/** The message a stream amounts to. @throws Error at the first break of the grammar. */
export function foldFrames(frames: readonly JsonObject[]): JsonObject {
  const state: Folding = {
    message: undefined,
    content: [],
    input: undefined,
    isOpen: false,
    isSigned: false,
    isEnded: false,
  };
  for (const frame of frames) foldFrame(state, frame);
  check(state.isEnded, 'message_stop is missing');
  return { ...state.message, content: state.content };
}

function foldFrame(state: Folding, frame: JsonObject): void {
  check(!state.isEnded, 'nothing follows message_stop');
  check(frame.type === 'message_start' || state.message !== undefined, 'message_start comes first');
  switch (frame.type) {
    case 'ping':
      return;
    case 'message_start':
      check(state.message === undefined, 'message_start comes once');
      state.message = { ...objectOf(frame.message) };
      check(typeof objectOf(state.message.usage).input_tokens === 'number', 'input_tokens');
      return;
    case 'content_block_start':
      startBlock(state, frame);
      return;
    case 'content_block_delta':
      foldDelta(state, frame);
      return;
    case 'content_block_stop':
      stopBlock(state, frame);
      return;
    case 'message_delta': {
      check(!state.isOpen, 'a block is still open');
      const usage = { ...objectOf(state.message?.usage), ...objectOf(frame.usage) };
      check(typeof usage.output_tokens === 'number', 'output_tokens');
      state.message = { ...state.message, ...objectOf(frame.delta), usage };
      return;
    }
    case 'message_stop':
      check(state.message?.stop_reason !== null, 'message_delta comes before message_stop');
      state.isEnded = true;
      return;
    default:
      throw new Error(`unknown frame ${JSON.stringify(frame)}`);
  }
}

function startBlock(state: Folding, frame: JsonObject): void {
  check(!state.isOpen, 'only one block is open at a time');
  check(frame.index === state.content.length, 'indices rise by one from 0');
  state.content.push({ ...objectOf(frame.content_block) });
  state.isOpen = true;
  state.isSigned = false;
  state.input = undefined;
}

function foldDelta(state: Folding, frame: JsonObject): void {
  check(state.isOpen && frame.index === state.content.length - 1, 'delta of the open block');
  check(!state.isSigned, 'the signature is the last delta');
  const block = state.content.at(-1) ?? {};
  const delta = objectOf(frame.delta);
  const owners = DELTA_OWNERS[String(delta.type)] ?? [];
  check(owners.includes(String(block.type)), `${delta.type} does not belong to ${block.type}`);
  switch (delta.type) {
    case 'text_delta':
      block.text = `${block.text}${delta.text}`;
      return;
    case 'thinking_delta':
      block.thinking = `${block.thinking}${delta.thinking}`;
      return;
    case 'citations_delta':
      block.citations = [...listOf(block.citations), delta.citation ?? null];
      return;
    case 'signature_delta':
      block.signature = delta.signature ?? null;
      state.isSigned = true;
      return;
    default:
      state.input = (state.input ?? '') + String(delta.partial_json);
  }
}

function stopBlock(state: Folding, frame: JsonObject): void {
  check(state.isOpen && frame.index === state.content.length - 1, 'stop of the open block');
  const block = state.content.at(-1);
  if (block !== undefined && state.input !== undefined) block.input = JSON.parse(state.input);
  state.isOpen = false;
}

function objectOf(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error(`not an object: ${JSON.stringify(value)}`);
  return value;
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
