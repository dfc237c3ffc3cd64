// Writes the events of one answer as a chat completion chunk stream.

import type {
  BlockDeltaEvent,
  BlockEndEvent,
  BlockOpening,
  BlockStartEvent,
  CanonicalEvent,
  FinishEvent,
  GroundingEvent,
} from '../../canonical/event.ts';
import type { Signature } from '../../canonical/request.ts';
import { blockMessage } from '../../canonical/text-forms.ts';
import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
import { joinFlat } from '../../lib/flatten-string.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { DATA_START, dataFrame, EVENT_STREAM_TYPE, FRAME_END } from '../../stream/sse.ts';
import type { ReplyContext, StreamWriter } from '../protocol.ts';
import {
  type AnswerOptions,
  ContentText,
  writeAnnotations,
  writeExtraContent,
  writeFinishReason,
  writeFreeformInput,
  writeImage,
  writeLogprobs,
  writeMarkdown,
  writeUsage,
} from './answer-parts.ts';
import { writeErrorBody } from './errors.ts';

type CallOpening = Extract<BlockOpening, { kind: 'tool-call' }>;

interface OpenCall {
  readonly form: 'function' | 'custom' | 'legacy' | 'hidden';
  readonly index: number;
  readonly isSigned: boolean;
  hasArguments: boolean;
  /** The arguments so far of a custom call, which are written in one piece. */
  held: string;
}

/**
 * One open call at a time, as blocks of a choice follow one another. All results are delta JSON or ''.
 * Openings carry id, type and name; `openai` refuses a stream whose first delta of a call lacks one.
 */
class CallWriter {
  readonly #options: AnswerOptions;
  #count = 0;
  #current: OpenCall | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  /** Calls opened so far. */
  get count(): number {
    return this.#count;
  }

  open(call: CallOpening): string {
    const isSigned = call.signature !== undefined;
    const form = formOf(call, this.#count, this.#options);
    const opened = { form, index: this.#count, isSigned, hasArguments: false, held: '' };
    this.#current = opened;
    this.#count += 1;
    return writeOpening(opened, call, this.#options);
  }

  addArguments(json: string): string {
    const current = this.#current;
    if (current === undefined || json === '') return '';
    current.hasArguments = true;
    if (current.form !== 'custom') return writePiece(current, json, '');
    current.held += json;
    return '';
  }

  /**
   * Ends the open call, if any: whatever was held back, and `{}` for a call without arguments. A
   * signature its opening did not have comes with it; the clients' parsers take it in any delta.
   */
  close(signature: Signature | undefined): string {
    const ended = this.#current;
    this.#current = undefined;
    if (ended === undefined) return '';
    const late = ended.isSigned ? undefined : signature;
    const extra =
      late === undefined
        ? ''
        : `,"extra_content":${JSON.stringify(writeExtraContent(late, this.#options.extensionKey))}`;
    if (ended.form === 'custom') return writePiece(ended, readFreeformInput(ended.held), extra);
    if (!ended.hasArguments) return writePiece(ended, '{}', extra);
    return extra === '' ? '' : writePiece(ended, '', extra);
  }
}

/** The deprecated form holds one call: further ones cannot be shown. */
function formOf(call: CallOpening, count: number, options: AnswerOptions): OpenCall['form'] {
  if (options.freeformTools.has(call.name)) return 'custom';
  if (options.callForm === 'tool_calls') return 'function';
  return count === 0 ? 'legacy' : 'hidden';
}

function writeOpening(open: OpenCall, call: CallOpening, options: AnswerOptions): string {
  const { id, name, signature } = call;
  const extra =
    signature === undefined
      ? {}
      : { extra_content: writeExtraContent(signature, options.extensionKey) };
  switch (open.form) {
    case 'function':
      return writeCallDelta({
        index: open.index,
        id,
        type: 'function',
        function: { name, arguments: '' },
        ...extra,
      });
    case 'custom':
      return writeCallDelta({
        index: open.index,
        id,
        type: 'custom',
        custom: { name, input: '' },
        ...extra,
      });
    case 'legacy':
      return JSON.stringify({ function_call: { name, arguments: '' } });
    case 'hidden':
      return '';
    default:
      return open.form satisfies never;
  }
}

function writeCallDelta(call: JsonObject): string {
  return `{"tool_calls":[${JSON.stringify(call)}]}`;
}

/** `extra` is more members of the call; the deprecated form has no place for them. */
function writePiece(open: OpenCall, piece: string, extra: string): string {
  const text = JSON.stringify(piece);
  switch (open.form) {
    case 'function':
      return `{"tool_calls":[{"index":${open.index},"function":{"arguments":${text}}${extra}}]}`;
    case 'custom':
      return `{"tool_calls":[{"index":${open.index},"custom":{"input":${text}}${extra}}]}`;
    case 'legacy':
      return piece === '' ? '' : `{"function_call":{"arguments":${text}}}`;
    case 'hidden':
      return '';
    default:
      return open.form satisfies never;
  }
}

function readFreeformInput(json: string): string {
  if (json === '') return '';
  try {
    const input = parseJson(json);
    return isJsonObject(input) ? writeFreeformInput(input) : json;
  } catch {
    return json;
  }
}

/** Everything of a chunk after its delta. */
const TAIL = joinFlat([',"logprobs":null,"finish_reason":null}]}', FRAME_END]);
/** The same behind a delta of one text. */
const TEXT_TAIL = joinFlat(['}', TAIL]);

interface StreamState {
  readonly options: AnswerOptions;
  /** Everything of a chunk before its choices. */
  readonly head: string;
  readonly choices: Map<number, ChoiceState>;
  /** The choice of each open block. */
  readonly owners: Map<number, ChoiceState>;
  usage: Usage;
}

interface ChoiceState {
  /** Everything of a chunk before its delta. */
  readonly head: string;
  readonly content: ContentText;
  readonly calls: CallWriter;
  images: number;
  grounding: GroundingEvent | undefined;
}

/**
 * Rules of the stream (`openai` lib/ChatCompletionStream): the first delta of a choice brings the role,
 * every choice ends with a `finish_reason`, usage comes in a chunk without choices and only when asked
 * for, `[DONE]` ends a stream that went well; an error ends it without.
 */
export function createChatWriter(context: ReplyContext, options: AnswerOptions): StreamWriter {
  const id = JSON.stringify(context.createId('chatcmpl-'));
  const model = JSON.stringify(context.model);
  const state: StreamState = {
    options,
    head: `${DATA_START}{"id":${id},"object":"chat.completion.chunk","created":${context.createdAt},"model":${model},"choices":[`,
    choices: new Map(),
    owners: new Map(),
    usage: NO_USAGE,
  };
  return {
    contentType: EVENT_STREAM_TYPE,
    write: (event) => writeEvent(state, event),
    keepAlive: () => `: keep-alive${FRAME_END}`,
  };
}

function writeEvent(state: StreamState, event: CanonicalEvent): string {
  switch (event.kind) {
    case 'start':
      state.usage = event.usage ?? state.usage;
      return openChoice(state, 0);
    case 'block-start':
      return openBlock(state, event);
    case 'block-delta':
      return continueBlock(ownerOf(state, event.index), event.delta);
    case 'block-end':
      return closeBlock(state, event);
    case 'grounding': {
      const opening = openChoice(state, event.choice);
      choiceAt(state, event.choice).grounding = event;
      return opening;
    }
    case 'usage':
      state.usage = event.usage;
      return '';
    case 'finish':
      return `${finish(state, event)}${usageChunk(state)}${dataFrame('[DONE]')}`;
    case 'error':
      return dataFrame(JSON.stringify(writeErrorBody(event.error)));
    default:
      return event satisfies never;
  }
}

/** The opening delta of a choice; '' when it is open already. */
function openChoice(state: StreamState, index: number): string {
  if (state.choices.has(index)) return '';
  return `${choiceAt(state, index).head}{"role":"assistant","content":""}${TAIL}`;
}

function choiceAt(state: StreamState, index: number): ChoiceState {
  const known = state.choices.get(index);
  if (known !== undefined) return known;
  const choice: ChoiceState = {
    head: joinFlat([state.head, `{"index":${index},"delta":`]),
    content: new ContentText(),
    calls: new CallWriter(state.options),
    images: 0,
    grounding: undefined,
  };
  state.choices.set(index, choice);
  return choice;
}

function ownerOf(state: StreamState, index: number): ChoiceState {
  const owner = state.owners.get(index);
  if (owner === undefined) throw new Error(`Event for block ${index}, which was never opened.`);
  return owner;
}

function openBlock(state: StreamState, event: BlockStartEvent): string {
  const { index, choice: choiceIndex, block } = event;
  const opening = openChoice(state, choiceIndex);
  const choice = choiceAt(state, choiceIndex);
  state.owners.set(index, choice);
  switch (block.kind) {
    case 'text':
    case 'thinking':
      return opening;
    case 'tool-call':
      return opening + chunk(choice, choice.calls.open(block));
    default: {
      const content = choice.content.addBlock(writeMarkdown(block));
      const image = writeImage(block, choice.images);
      if (image === undefined) return opening + chunk(choice, JSON.stringify({ content }));
      choice.images += 1;
      return opening + chunk(choice, JSON.stringify({ content, images: [image] }));
    }
  }
}

function continueBlock(choice: ChoiceState, delta: BlockDeltaEvent['delta']): string {
  switch (delta.kind) {
    case 'text':
      if (delta.text === '') return '';
      return textChunk(choice, '{"content":', choice.content.addText(delta.text));
    case 'thinking':
      if (delta.text === '') return '';
      return textChunk(choice, '{"reasoning_content":', delta.text);
    case 'arguments':
      return chunk(choice, choice.calls.addArguments(delta.json));
    default:
      return delta satisfies never;
  }
}

function closeBlock(state: StreamState, { index, signature }: BlockEndEvent): string {
  const choice = ownerOf(state, index);
  state.owners.delete(index);
  return chunk(choice, choice.calls.close(signature));
}

function finish(state: StreamState, event: FinishEvent): string {
  let text = '';
  for (const end of event.choices) {
    const opening = openChoice(state, end.choice);
    const choice = choiceAt(state, end.choice);
    const reason = writeFinishReason(end, choice.calls.count > 0, state.options.callForm);
    const logprobs = JSON.stringify(writeLogprobs(end));
    const refusal = blockMessage(end);
    const said = refusal === undefined ? '' : chunk(choice, JSON.stringify({ refusal }));
    text += `${opening}${citations(choice)}${said}${choice.head}{},"logprobs":${logprobs},"finish_reason":"${reason}"}]}${FRAME_END}`;
  }
  return text;
}

/** AI SDK and others read citations from a delta near the end of the content. */
function citations(choice: ChoiceState): string {
  const annotations = writeAnnotations(choice.grounding, choice.content);
  return annotations.length === 0 ? '' : chunk(choice, JSON.stringify({ annotations }));
}

function usageChunk({ options, head, usage }: StreamState): string {
  return options.includeUsage
    ? `${head}],"usage":${JSON.stringify(writeUsage(usage))}}${FRAME_END}`
    : '';
}

/** A chunk whose delta is one text. */
function textChunk(choice: ChoiceState, member: string, text: string): string {
  return choice.head + member + JSON.stringify(text) + TEXT_TAIL;
}

/** A chunk with this delta; '' for none. */
function chunk(choice: ChoiceState, delta: string): string {
  return delta === '' ? '' : `${choice.head}${delta}${TAIL}`;
}
