// Writes the events of one answer as a chat completion chunk stream.

import {
  type BlockDeltaEvent,
  type BlockEndEvent,
  type BlockOpening,
  type BlockStartEvent,
  type CanonicalEvent,
  type FinishEvent,
  readCallInput,
} from '../../canonical/event.ts';
import type { GroundingEvent } from '../../canonical/grounding.ts';
import { blockMessage } from '../../canonical/text-forms.ts';
import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { flattenString } from '../../lib/long-text.ts';
import { DATA_START, FRAME_END } from '../../stream/sse.ts';
import type { ChatToolCall } from '../../wire/chat.ts';
import type { ReplyContext, StreamWriter } from '../writers.ts';
import {
  type AnswerOptions,
  ContentText,
  LAST_FRAME,
  STREAM,
  writeAnnotations,
  writeCall,
  writeExtraContent,
  writeFinishReason,
  writeFreeformInput,
  writeImage,
  writeLogprobs,
  writeMarkdown,
  writeTier,
  writeUsage,
} from './answer-parts.ts';
import { writeStreamError } from './errors.ts';

/** Everything of a chunk after its delta. */
const UNFINISHED = ',"logprobs":null,"finish_reason":null}]';
const TAIL = flattenString([UNFINISHED, '}', FRAME_END]);
/** The same behind a delta of one text. */
const TEXT_TAIL = flattenString(['}', TAIL]);

interface Choice {
  /** Everything of a chunk before its delta. */
  readonly head: string;
  readonly content: ContentText;
  hasBegun: boolean;
  /** Calls opened so far. */
  calls: number;
  /** One open call at a time, as blocks of a choice follow one another. */
  call: OpenCall | undefined;
  images: number;
  grounding: GroundingEvent | undefined;
}

interface OpenCall {
  /** The deprecated form holds one call: further ones cannot be shown. */
  readonly form: 'function' | 'custom' | 'legacy' | 'hidden';
  readonly index: number;
  readonly isSigned: boolean;
  /** The call with these first arguments; undefined once it is written. */
  open: ((text: string) => ChatToolCall) | undefined;
  /** The arguments so far of a custom call, which are written in one piece. */
  held: string;
}

/**
 * Rules of the stream (`openai` lib/ChatCompletionStream): the first delta of a choice brings the role,
 * every choice ends with a `finish_reason`, usage comes in a chunk without choices and only when asked
 * for, `[DONE]` ends a stream that went well; an error ends it without.
 */
export class ChatWriter implements StreamWriter {
  readonly contentType = STREAM.contentType;
  readonly keepAlive = STREAM.keepAlive;
  /** As an image, and in the content as Markdown. */
  readonly copies = 2;
  readonly #options: AnswerOptions;
  /** Everything of a chunk before its choices. */
  readonly #head: string;
  readonly #choices = new Map<number, Choice>();
  /** The choice of each open block. */
  readonly #owners = new Map<number, Choice>();
  #usage: Usage = NO_USAGE;

  constructor(context: ReplyContext, options: AnswerOptions) {
    this.#options = options;
    const id = JSON.stringify(context.createId('chatcmpl-'));
    const model = JSON.stringify(context.model);
    this.#head = `${DATA_START}{"id":${id},"object":"chat.completion.chunk","created":${context.createdAt},"model":${model},"choices":[`;
  }

  write(event: CanonicalEvent): string {
    switch (event.kind) {
      case 'start':
        this.#usage = event.usage ?? this.#usage;
        return begin(this.#choiceAt(0), event.serviceTier);
      case 'block-start':
        return this.#openBlock(event);
      case 'block-delta':
        return continueBlock(this.#ownerOf(event.index), event.delta);
      case 'block-end':
        return this.#closeBlock(event);
      case 'grounding': {
        const choice = this.#choiceAt(event.choice);
        choice.grounding = event;
        return begin(choice);
      }
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

  #choiceAt(index: number): Choice {
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      const head = flattenString([this.#head, `{"index":${index},"delta":`]);
      const content = new ContentText();
      choice = {
        head,
        content,
        hasBegun: false,
        calls: 0,
        call: undefined,
        images: 0,
        grounding: undefined,
      };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #ownerOf(index: number): Choice {
    const owner = this.#owners.get(index);
    if (owner === undefined) throw new Error(`Event for block ${index}, which was never opened.`);
    return owner;
  }

  #openBlock({ index, choice: choiceIndex, block }: BlockStartEvent): string {
    const choice = this.#choiceAt(choiceIndex);
    const opening = begin(choice);
    this.#owners.set(index, choice);
    switch (block.kind) {
      case 'text':
      case 'thinking':
        return opening;
      case 'tool-call':
        this.#openCall(choice, block);
        return opening;
      default: {
        const content = choice.content.addBlock(writeMarkdown(block));
        const image = writeImage(block, choice.images);
        if (image === undefined) return opening + chunk(choice, { content });
        choice.images += 1;
        return opening + chunk(choice, { content, images: [image] });
      }
    }
  }

  /**
   * It is written with its first arguments, mostly all: that is a whole call to clients that put none together
   * (`@mistralai/mistralai` refuses a delta without a name).
   */
  #openCall(choice: Choice, call: Extract<BlockOpening, { kind: 'tool-call' }>): void {
    const options = this.#options;
    const open = (text: string): ChatToolCall => writeCall(call, text, options);
    const { type } = open('');
    const index = choice.calls;
    const isLegacy = options.callForm === 'function_call' && type === 'function';
    const form = isLegacy ? (index === 0 ? 'legacy' : 'hidden') : type;
    choice.call = { form, index, isSigned: call.signature !== undefined, open, held: '' };
    choice.calls += 1;
  }

  /**
   * Ends the open call, if any: whatever was held back, and `{}` for a call without arguments. A
   * signature its opening did not have comes with it; the clients' parsers take it in any delta.
   */
  #closeBlock({ index, signature }: BlockEndEvent): string {
    const choice = this.#ownerOf(index);
    this.#owners.delete(index);
    const ended = choice.call;
    if (ended === undefined) return '';
    choice.call = undefined;
    const late = ended.isSigned ? undefined : signature;
    const extra = late && { extra_content: writeExtraContent(late, this.#options.extensionKey) };
    if (ended.form === 'custom') return callChunk(choice, ended, freeformInput(ended.held), extra);
    if (ended.open !== undefined) return callChunk(choice, ended, '{}', extra);
    return extra === undefined ? '' : callChunk(choice, ended, '', extra);
  }

  #finish({ choices }: FinishEvent): string {
    let text = '';
    for (const end of choices) {
      const choice = this.#choiceAt(end.choice);
      text += begin(choice);
      const refusal = end.reason === 'stop' ? undefined : blockMessage(end)?.text;
      if (refusal !== undefined) text += chunk(choice, { refusal });
      // Where OpenAI's search models have them: lobe-chat reads them nowhere else.
      const { grounding, content } = choice;
      const annotations = grounding === undefined ? [] : writeAnnotations(grounding, content);
      const delta = annotations.length > 0 ? JSON.stringify({ annotations }) : '{}';
      const reason = writeFinishReason(end, choice.calls > 0, this.#options.callForm);
      const logprobs = end.logprobs ? JSON.stringify(writeLogprobs(end)) : 'null';
      const { stopSequence: stop } = end;
      // vLLM's field, which the next gateway reads: the protocol's own words tell no stop from an end.
      const stopped = stop === undefined ? '' : `,"stop_reason":${JSON.stringify(stop)}`;
      text += `${choice.head}${delta},"logprobs":${logprobs},"finish_reason":"${reason}"${stopped}}]}${FRAME_END}`;
    }
    if (this.#options.includeUsage) {
      text += `${this.#head}],"usage":${JSON.stringify(writeUsage(this.#usage))}}${FRAME_END}`;
    }
    return text + LAST_FRAME;
  }
}

/** The opening delta of a choice; '' when it has begun already. Accumulators keep the tier of the first chunk. */
function begin(choice: Choice, tier?: string): string {
  if (choice.hasBegun) return '';
  choice.hasBegun = true;
  const { service_tier: word } = tier === undefined ? {} : writeTier(tier);
  const told = word === undefined ? '' : `,"service_tier":"${word}"`;
  return `${choice.head}{"role":"assistant","content":""}${UNFINISHED}${told}}${FRAME_END}`;
}

function continueBlock(choice: Choice, delta: BlockDeltaEvent['delta']): string {
  switch (delta.kind) {
    case 'text': {
      if (delta.text === '') return '';
      const text = JSON.stringify(choice.content.addText(delta.text));
      return `${choice.head}{"content":${text}${TEXT_TAIL}`;
    }
    case 'thinking':
      if (delta.text === '') return '';
      return `${choice.head}{"reasoning_content":${JSON.stringify(delta.text)}${TEXT_TAIL}`;
    case 'arguments': {
      const { call } = choice;
      if (call === undefined || delta.json === '') return '';
      if (call.form !== 'custom') return callChunk(choice, call, delta.json);
      call.held += delta.json;
      return '';
    }
    default:
      return delta satisfies never;
  }
}

/** `extra` is more members of the call; the deprecated form has no place for them. */
function callChunk(choice: Choice, call: OpenCall, piece: string, extra?: JsonObject): string {
  const { form, index, open } = call;
  call.open = undefined;
  switch (form) {
    case 'function':
    case 'custom': {
      const key = form === 'custom' ? 'input' : 'arguments';
      const said = open?.(piece) ?? { [form]: { [key]: piece } };
      return chunk(choice, { tool_calls: [{ index, ...said, ...extra }] });
    }
    case 'legacy': {
      const opened = open?.(piece);
      const said = opened?.type === 'function' ? opened.function : { arguments: piece };
      return opened === undefined && piece === '' ? '' : chunk(choice, { function_call: said });
    }
    case 'hidden':
      return '';
    default:
      return form satisfies never;
  }
}

function freeformInput(json: string): string {
  try {
    return writeFreeformInput(readCallInput(json));
  } catch {
    return json;
  }
}

function chunk(choice: Choice, delta: JsonObject): string {
  return choice.head + JSON.stringify(delta) + TAIL;
}
