// Canonical events as the text of a streamed answer.

import type { GatewayError } from '../../canonical/error.ts';
import { type BlockOpening, type CanonicalEvent, readCallInput } from '../../canonical/event.ts';
import { MAX_CITED_LENGTH } from '../../canonical/grounding.ts';
import type { Signature } from '../../canonical/request.ts';
import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { KeptText } from '../../lib/long-text.ts';
import { dataFrame, EVENT_STREAM_TYPE, FRAME_END } from '../../stream/sse.ts';
import type { ReplyContext, StreamWriter } from '../writers.ts';
import { writeError } from './errors.ts';
import {
  PendingSignature,
  signPart,
  type WriteOptions,
  writeBlock,
  writeFinish,
  writeGrounding,
  writePromptFeedback,
  writeUsage,
} from './write-reply.ts';

type EventOf<Kind extends CanonicalEvent['kind']> = Extract<CanonicalEvent, { kind: Kind }>;

interface OpenBlock {
  readonly choice: number;
  readonly opening: BlockOpening;
  /** The arguments of a call, joined. */
  json: string;
}

/** What is kept of a choice until it ends. */
class ChoiceState {
  /** Citations count in it. */
  readonly text = new KeptText(MAX_CITED_LENGTH);
  grounding: EventOf<'grounding'> | undefined;
  readonly pending = new PendingSignature();
}

/**
 * Text and thoughts become chunks piece by piece; calls, media and code as whole parts when their
 * block ends; search results and usage wait for the closing chunk. The last event, `finish` or `error`,
 * also closes the framing.
 */
export class EventWriter implements StreamWriter {
  readonly contentType: string;
  readonly #context: ReplyContext;
  readonly #options: WriteOptions;
  readonly #framing: Framing;
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #choices = new Map<number, ChoiceState>();
  #modelVersion: string;
  #responseId: string | undefined;
  #usage: Usage = NO_USAGE;
  #serviceTier: string | undefined;

  constructor(context: ReplyContext, kind: FramingKind, options: WriteOptions) {
    this.#context = context;
    this.#options = options;
    this.#framing = new Framing(kind);
    this.#modelVersion = context.model;
    this.contentType = this.#framing.contentType;
  }

  keepAlive(): string {
    return this.#framing.keepAlive();
  }

  write(event: CanonicalEvent): string {
    switch (event.kind) {
      case 'start':
        this.#modelVersion = event.modelVersion ?? this.#modelVersion;
        this.#responseId = event.upstreamId;
        this.#usage = event.usage ?? this.#usage;
        this.#serviceTier = event.serviceTier;
        return '';
      case 'block-start': {
        const { index, choice, block } = event;
        this.#blocks.set(index, { choice, opening: block, json: '' });
        return '';
      }
      case 'block-delta':
        return this.#writeDelta(event);
      case 'block-end':
        return this.#closeBlock(event);
      case 'grounding':
        this.#choice(event.choice).grounding = event;
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        return this.#finish(event) + this.#framing.end();
      case 'error':
        return this.#framing.error(event.error);
      default:
        return event satisfies never;
    }
  }

  #writeDelta({ index, delta }: EventOf<'block-delta'>): string {
    const block = this.#blocks.get(index);
    if (block === undefined) return '';
    switch (delta.kind) {
      case 'arguments':
        block.json += delta.json;
        return '';
      case 'text':
        this.#choice(block.choice).text.add(delta.text);
        return this.#writePart(block.choice, { text: delta.text });
      case 'thinking':
        if (!this.#options.showThoughts) return '';
        return this.#writePart(block.choice, { text: delta.text, thought: true });
      default:
        return delta satisfies never;
    }
  }

  #closeBlock({ index, signature }: EventOf<'block-end'>): string {
    const block = this.#blocks.get(index);
    if (block === undefined) return '';
    this.#blocks.delete(index);
    const part = closePart(block, signature, this.#choice(block.choice).pending);
    return part === undefined ? '' : this.#writePart(block.choice, part);
  }

  #finish({ choices }: EventOf<'finish'>): string {
    const usageMetadata = writeUsage(this.#usage, this.#serviceTier);
    const blocked = choices.find((end) => end.reason === 'prompt-blocked');
    if (blocked !== undefined) {
      return this.#writeChunk({ promptFeedback: writePromptFeedback(blocked), usageMetadata });
    }
    const candidates = choices.map((end) => ({
      ...closeCandidate(this.#choice(end.choice)),
      ...writeFinish(end),
      index: end.choice,
    }));
    return this.#writeChunk({ candidates, usageMetadata });
  }

  #writePart(choice: number, part: JsonObject): string {
    const content = { role: 'model', parts: [part] };
    return this.#writeChunk({ candidates: [{ content, index: choice }] });
  }

  #writeChunk(chunk: JsonObject): string {
    this.#responseId ??= this.#context.createId('');
    chunk.modelVersion = this.#modelVersion;
    chunk.responseId = this.#responseId;
    return this.#framing.element(JSON.stringify(chunk));
  }

  #choice(choice: number): ChoiceState {
    const state = this.#choices.get(choice) ?? new ChoiceState();
    this.#choices.set(choice, state);
    return state;
  }
}

/** Streamed text is out already: its signature follows on an empty part, as the service does it. */
function closePart(
  block: OpenBlock,
  closing: Signature | undefined,
  pending: PendingSignature,
): JsonObject | undefined {
  const { opening } = block;
  const own = opening.kind === 'tool-call' ? (opening.signature ?? closing) : closing;
  const signature = pending.sign(opening.kind, own);
  switch (opening.kind) {
    case 'text':
    case 'thinking':
      return signature && signPart(writeBlock({ ...opening, text: '' }), signature);
    case 'tool-call':
      return signPart(writeBlock({ ...opening, input: readCallInput(block.json) }), signature);
    default:
      return signPart(writeBlock(opening), signature);
  }
}

/** The closing chunk needs a part: clients ignore or distrust candidates without one. */
function closeCandidate({ pending, grounding, text }: ChoiceState): JsonObject {
  return {
    content: { role: 'model', parts: [signPart({ text: '' }, pending.take())] },
    ...(grounding && writeGrounding(grounding, [{ text: text.toString() }])),
  };
}

export type FramingKind = 'events' | 'array';

/**
 * Frames JSON texts, each on a single line; one instance a stream, and nothing may follow `end`. Events are
 * `data:` lines and empty lines only: the clients' own parsers fail on comments, `event:` lines and `[DONE]`
 * (`@google/genai`, Gemini CLI), and the stream ends with the connection. An array is complete JSON at the
 * end; white space may stand between its elements at any time.
 */
export class Framing {
  readonly contentType: string;
  readonly #isArray: boolean;
  #isOpen = false;
  #isClosed = false;

  constructor(kind: FramingKind) {
    this.#isArray = kind === 'array';
    this.contentType = this.#isArray ? 'application/json; charset=utf-8' : EVENT_STREAM_TYPE;
  }

  element(json: string): string {
    if (!this.#isArray) return dataFrame(json);
    const start = this.#isOpen ? '\n,\r\n' : '[';
    this.#isOpen = true;
    return start + json;
  }

  end(): string {
    if (!this.#isArray || this.#isClosed) return '';
    this.#isClosed = true;
    return this.#isOpen ? ']' : '[]';
  }

  /** Closes the stream. */
  error(error: GatewayError): string {
    return this.failure(JSON.stringify(writeError(error).body)) + this.end();
  }

  /**
   * The last element. As an event alone `@google/genai` 1.x, and Gemini CLI with it, take an error for an empty chunk and
   * what came before for the whole answer; they fail on JSON that is no event, which the service itself ends broken
   * streams with.
   */
  failure(json: string): string {
    return this.element(json) + (this.#isArray ? '' : json);
  }

  keepAlive(): string {
    return this.#isArray ? '\n' : FRAME_END;
  }
}
