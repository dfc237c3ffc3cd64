// Writes canonical events as the Messages event stream: one open block at a time, rising indices.
// Source: Messages API, "Streaming"; TypeScript SDK `lib/MessageStream.js`.

import type {
  BlockDeltaEvent,
  BlockOpening,
  CanonicalEvent,
  FinishEvent,
  GroundingEvent,
} from '../../canonical/event.ts';
import type { Signature } from '../../canonical/request.ts';
import { writeCarrier } from '../../canonical/signature-carrier.ts';
import { inputTokens, NO_USAGE, type Usage } from '../../canonical/usage.ts';
import { EVENT_STREAM_TYPE, eventFrame, eventStart, FRAME_END } from '../../lib/event-stream.ts';
import { joinFlat } from '../../lib/flat-text.ts';
import type { MessagesBlock } from '../../wire/messages.ts';
import type { ReplyContext, StreamWriter } from '../protocol.ts';
import { writeStreamError } from './errors.ts';
import { shownGrounding, writeSearch, writeWholeBlock } from './write-blocks.ts';
import { writeFinalUsage, writeStartUsage, writeStop } from './write-usage.ts';

export interface WriterOptions {
  /** True when thinking is answered as signature only (`display:"omitted"`). */
  readonly omitsThinking: boolean;
  /** True when the client declared a tool that opens pages. */
  readonly fetchesPages?: boolean | undefined;
  /** True when the client gave the text of the answer a form: its helpers read every text as such. */
  readonly isFormatted?: boolean | undefined;
}

/** The canonical block being written. Text and thinking open with their first content. */
interface OpenBlock {
  readonly source: number;
  readonly kind: 'text' | 'thinking' | 'tool-call' | 'whole';
  isStarted: boolean;
}

const START = blockEvent('content_block_start');
const DELTA = blockEvent('content_block_delta');
const STOP = blockEvent('content_block_stop');
const TEXT_DELTA = ',"delta":{"type":"text_delta","text":';
const THINKING_DELTA = ',"delta":{"type":"thinking_delta","thinking":';
const SIGNATURE_DELTA = ',"delta":{"type":"signature_delta","signature":';
const INPUT_DELTA = ',"delta":{"type":"input_json_delta","partial_json":';
const CITATION_DELTA = ',"delta":{"type":"citations_delta","citation":';
const EMPTY_TEXT = '{"type":"text","text":""}';
const EMPTY_THINKING = '{"type":"thinking","thinking":"","signature":""}';
const MESSAGE_STOP = eventFrame('message_stop', '{"type":"message_stop"}');
export const PING = eventFrame('ping', '{"type":"ping"}');

/** Only choice 0 is written: the protocol has one answer. */
export function createMessagesWriter(context: ReplyContext, options: WriterOptions): StreamWriter {
  return new MessagesWriter(context, options);
}

class MessagesWriter implements StreamWriter {
  readonly contentType = EVENT_STREAM_TYPE;
  readonly #context: ReplyContext;
  readonly #options: WriterOptions;
  #nextIndex = 0;
  #open: OpenBlock | undefined;
  #usage = NO_USAGE;
  #grounding: GroundingEvent | undefined;
  #hasToolCall = false;
  /** The signature of the thinking block directly before; a call need not repeat it. */
  #carried: string | undefined;

  constructor(context: ReplyContext, options: WriterOptions) {
    this.#context = context;
    this.#options = options;
  }

  keepAlive(): string {
    return PING;
  }

  write(event: CanonicalEvent): string {
    switch (event.kind) {
      case 'start':
        this.#usage = event.usage ?? NO_USAGE;
        return writeMessageStart(this.#context, this.#usage);
      case 'block-start':
        return event.choice === 0 ? this.#openBlock(event.index, event.block) : '';
      case 'block-delta':
        return this.#writeDelta(event);
      case 'block-end':
        return this.#open?.source === event.index ? this.#closeBlock(event.signature) : '';
      case 'grounding':
        if (event.choice === 0) this.#grounding = shownGrounding(event, this.#options);
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        return this.#finish(event);
      case 'error':
        return writeStreamError(event.error);
      default:
        return event satisfies never;
    }
  }

  #openBlock(source: number, opening: BlockOpening): string {
    const tail = this.#closeBlock(undefined);
    const carried = this.#carried;
    this.#carried = undefined;
    switch (opening.kind) {
      case 'text':
      case 'thinking':
        this.#open = { source, kind: opening.kind, isStarted: false };
        return tail;
      case 'tool-call': {
        this.#hasToolCall = true;
        this.#open = { source, kind: 'tool-call', isStarted: true };
        const id = JSON.stringify(opening.id);
        const name = JSON.stringify(opening.name);
        const extension = callSignature(opening.signature, carried);
        const block = `{"type":"tool_use","id":${id},"name":${name},"input":{}${extension}}`;
        return tail + startText(this.#nextIndex, block);
      }
      default:
        this.#open = { source, kind: 'whole', isStarted: true };
        return tail + wholeText(this.#nextIndex, writeWholeBlock(opening));
    }
  }

  #writeDelta({ index, delta }: BlockDeltaEvent): string {
    const open = this.#open;
    const text = delta.kind === 'arguments' ? delta.json : delta.text;
    if (open === undefined || open.source !== index || text === '') return '';
    switch (open.kind) {
      case 'text':
        return this.#begin(open, EMPTY_TEXT) + deltaText(this.#nextIndex, TEXT_DELTA, text);
      case 'thinking': {
        const begin = this.#begin(open, EMPTY_THINKING);
        if (this.#options.omitsThinking) return begin;
        return begin + deltaText(this.#nextIndex, THINKING_DELTA, text);
      }
      case 'tool-call':
        return deltaText(this.#nextIndex, INPUT_DELTA, text);
      case 'whole':
        return '';
      default:
        return open.kind satisfies never;
    }
  }

  #begin(open: OpenBlock, block: string): string {
    if (open.isStarted) return '';
    open.isStarted = true;
    return startText(this.#nextIndex, block);
  }

  #closeBlock(signature: Signature | undefined): string {
    const open = this.#open;
    if (open === undefined) return '';
    this.#open = undefined;
    let text = '';
    if (open.kind === 'thinking' && signature !== undefined) {
      this.#carried = signature.value;
      text = this.#begin(open, EMPTY_THINKING);
      text += deltaText(this.#nextIndex, SIGNATURE_DELTA, writeCarrier(signature));
    }
    return open.isStarted ? text + stopText(this.#nextIndex++) : text;
  }

  #finish(event: FinishEvent): string {
    const end = event.choices[0] ?? { choice: 0, reason: 'stop' };
    const tail = this.#closeBlock(undefined);
    const { createId } = this.#context;
    const { isFormatted } = this.#options;
    const search = writeSearch(this.#grounding, { createId, isFormatted })
      .map((block) => writeSearchBlock(block, this.#nextIndex++))
      .join('');
    const stop = JSON.stringify(writeStop(end, this.#hasToolCall));
    const usage = JSON.stringify(writeFinalUsage(this.#usage, this.#grounding));
    const delta = `{"type":"message_delta","delta":${stop},"usage":${usage}}`;
    return tail + search + eventFrame('message_delta', delta) + MESSAGE_STOP;
  }
}

/** A call's signature stands on the call itself unless the thinking block before it carries it. */
export function isCarried(signature: Signature | undefined, before: string | undefined): boolean {
  return signature === undefined || signature.value === before;
}

function callSignature(signature: Signature | undefined, before: string | undefined): string {
  if (signature === undefined || isCarried(signature, before)) return '';
  return `,"signature":${JSON.stringify(writeCarrier(signature))}`;
}

export function writeMessageStart(context: ReplyContext, usage: Usage): string {
  const id = JSON.stringify(context.createId('msg_'));
  const model = JSON.stringify(context.model);
  const isCounted = inputTokens(usage) > 0;
  const promptTokens = isCounted ? usage.promptTokens : (context.estimatePrompt?.() ?? 0);
  const counts = JSON.stringify(writeStartUsage({ ...usage, promptTokens }));
  const message = `{"id":${id},"type":"message","role":"assistant","model":${model},"content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":${counts}}`;
  return eventFrame('message_start', `{"type":"message_start","message":${message}}`);
}

/** An event of one block up to the block's index. */
function blockEvent(name: string): string {
  return joinFlat([eventStart(name), `{"type":"${name}","index":`]);
}

/** Everything of a whole block but its end; texts go into a delta, where all clients look for them. */
function wholeText(index: number, block: ReturnType<typeof writeWholeBlock>): string {
  if (block.type !== 'text') return startText(index, JSON.stringify(block));
  return startText(index, EMPTY_TEXT) + deltaText(index, TEXT_DELTA, block.text);
}

/** A block known whole at the end of the answer, with its parts in the deltas they belong in. */
function writeSearchBlock(block: MessagesBlock, index: number): string {
  switch (block.type) {
    case 'server_tool_use': {
      const start = startText(index, JSON.stringify({ ...block, input: {} }));
      return start + deltaText(index, INPUT_DELTA, JSON.stringify(block.input)) + stopText(index);
    }
    case 'text': {
      const text = wholeText(index, block);
      const citations = (block.citations ?? []).map(
        (citation) => `${DELTA}${index}${CITATION_DELTA}${JSON.stringify(citation)}}}${FRAME_END}`,
      );
      return text + citations.join('') + stopText(index);
    }
    default:
      return startText(index, JSON.stringify(block)) + stopText(index);
  }
}

function startText(index: number, block: string): string {
  return `${START}${index},"content_block":${block}}${FRAME_END}`;
}

function deltaText(index: number, field: string, text: string): string {
  return `${DELTA}${index}${field}${JSON.stringify(text)}}}${FRAME_END}`;
}

function stopText(index: number): string {
  return `${STOP}${index}}${FRAME_END}`;
}
