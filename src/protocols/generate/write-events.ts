// Canonical events as the text of a streamed answer.

import { type BlockOpening, type CanonicalEvent, readCallInput } from '../../canonical/event.ts';
import type { Signature } from '../../canonical/request.ts';
import { NO_USAGE, type Usage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { KeptText } from '../../lib/long-text.ts';
import { dataFrame, EVENT_STREAM_TYPE, FRAME_END } from '../../stream/sse.ts';
import type { ReplyContext, StreamWriter } from '../protocol.ts';
import { writeError } from './errors.ts';
import { createPendingSignature, type PendingSignature } from './read-request.ts';
import {
  signPart,
  type WriteOptions,
  writeCallPart,
  writeFinish,
  writeGrounding,
  writePromptFeedback,
  writeUsage,
  writeWholePart,
} from './write-reply.ts';

/** The last event, `finish` or `error`, also closes the framing. */
export function createEventWriter(
  context: ReplyContext,
  kind: FramingKind,
  options: WriteOptions,
): StreamWriter {
  const framing = createFraming(kind);
  const chunks = new ChunkWriter(context, options);
  return {
    contentType: framing.contentType,
    write(event) {
      if (event.kind === 'error') {
        return framing.element(JSON.stringify(writeError(event.error).body)) + framing.end();
      }
      const chunk = chunks.write(event);
      const text = chunk === undefined ? '' : framing.element(JSON.stringify(chunk));
      return event.kind === 'finish' ? text + framing.end() : text;
    },
    keepAlive: () => framing.keepAlive(),
  };
}

/** The places of citations behind so many UTF-16 units are not counted: answers are not that long. */
const MOST_CITED = 524_288;

type EventOf<Kind extends CanonicalEvent['kind']> = Extract<CanonicalEvent, { kind: Kind }>;

interface OpenBlock {
  readonly choice: number;
  readonly opening: BlockOpening;
  /** The arguments of a call, joined. */
  json: string;
}

interface ChoiceState {
  /** Citations count in it. */
  readonly text: KeptText;
  grounding: EventOf<'grounding'> | undefined;
  readonly pending: PendingSignature;
}

/**
 * Text and thoughts become chunks piece by piece; calls, media and code as whole parts when their
 * block ends; search results and usage wait for the closing chunk.
 */
class ChunkWriter {
  readonly #context: ReplyContext;
  readonly #options: WriteOptions;
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #choices = new Map<number, ChoiceState>();
  #modelVersion: string;
  #responseId: string | undefined;
  #usage: Usage = NO_USAGE;

  constructor(context: ReplyContext, options: WriteOptions) {
    this.#context = context;
    this.#options = options;
    this.#modelVersion = context.model;
  }

  /** The chunk an event amounts to; undefined when it only adds to a later one. */
  write(event: Exclude<CanonicalEvent, { kind: 'error' }>): JsonObject | undefined {
    switch (event.kind) {
      case 'start':
        this.#modelVersion = event.modelVersion ?? this.#modelVersion;
        this.#responseId = event.upstreamId;
        this.#usage = event.usage ?? this.#usage;
        return undefined;
      case 'block-start': {
        const { index, choice, block } = event;
        this.#blocks.set(index, { choice, opening: block, json: '' });
        return undefined;
      }
      case 'block-delta':
        return this.#writeDelta(event);
      case 'block-end':
        return this.#closeBlock(event);
      case 'grounding':
        this.#choice(event.choice).grounding = event;
        return undefined;
      case 'usage':
        this.#usage = event.usage;
        return undefined;
      case 'finish':
        return this.#finish(event);
      default:
        return event satisfies never;
    }
  }

  #writeDelta({ index, delta }: EventOf<'block-delta'>): JsonObject | undefined {
    const block = this.#blocks.get(index);
    if (block === undefined) return undefined;
    switch (delta.kind) {
      case 'arguments':
        block.json += delta.json;
        return undefined;
      case 'text':
        this.#choice(block.choice).text.add(delta.text);
        return this.#writePart(block.choice, { text: delta.text });
      case 'thinking':
        if (!this.#options.showThoughts) return undefined;
        return this.#writePart(block.choice, { text: delta.text, thought: true });
      default:
        return delta satisfies never;
    }
  }

  #closeBlock({ index, signature }: EventOf<'block-end'>): JsonObject | undefined {
    const block = this.#blocks.get(index);
    if (block === undefined) return undefined;
    this.#blocks.delete(index);
    const part = closePart(block, signature, this.#choice(block.choice).pending);
    return part && this.#writePart(block.choice, part);
  }

  #finish({ choices }: EventOf<'finish'>): JsonObject {
    const usageMetadata = writeUsage(this.#usage);
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

  #writePart(choice: number, part: JsonObject): JsonObject {
    const content = { role: 'model', parts: [part] };
    return this.#writeChunk({ candidates: [{ content, index: choice }] });
  }

  #writeChunk(chunk: JsonObject): JsonObject {
    this.#responseId ??= this.#context.createId('');
    chunk.modelVersion = this.#modelVersion;
    chunk.responseId = this.#responseId;
    return chunk;
  }

  #choice(choice: number): ChoiceState {
    const known = this.#choices.get(choice);
    if (known !== undefined) return known;
    const text = new KeptText(MOST_CITED);
    const state = { text, grounding: undefined, pending: createPendingSignature() };
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
      return signature && signPart({ text: '' }, signature);
    case 'thinking':
      return signature && signPart({ text: '', thought: true }, signature);
    case 'tool-call': {
      const call = writeCallPart(opening.id, opening.name, readCallInput(block.json));
      return signPart(call, signature);
    }
    default:
      return signPart(writeWholePart(opening), signature);
  }
}

/** The closing chunk needs a part: clients ignore or distrust candidates without one. */
function closeCandidate(state: ChoiceState): JsonObject {
  const candidate: JsonObject = {
    content: { role: 'model', parts: [signPart({ text: '' }, state.pending.take())] },
  };
  if (state.grounding !== undefined) {
    Object.assign(candidate, writeGrounding(state.grounding, [{ text: state.text.toString() }]));
  }
  return candidate;
}

/** Frames JSON texts; one instance a stream. Nothing may follow `end`. */
export interface StreamFraming {
  readonly contentType: string;
  /** One element: JSON text on a single line. */
  element(json: string): string;
  end(): string;
  keepAlive(): string;
}

export type FramingKind = 'events' | 'array';

export function createFraming(kind: FramingKind): StreamFraming {
  return kind === 'events' ? EVENTS : createArrayFraming();
}

/**
 * `data:` lines and empty lines only: the clients' own parsers fail on comments, `event:` lines and
 * `[DONE]` (`@google/genai`, Gemini CLI). The stream ends with the connection.
 */
const EVENTS: StreamFraming = {
  contentType: EVENT_STREAM_TYPE,
  element: dataFrame,
  end: () => '',
  keepAlive: () => FRAME_END,
};

/** The array is complete JSON at the end; white space may stand between its elements at any time. */
function createArrayFraming(): StreamFraming {
  let isOpen = false;
  let isClosed = false;
  return {
    contentType: 'application/json; charset=utf-8',
    element(json) {
      const start = isOpen ? '\n,\r\n' : '[';
      isOpen = true;
      return start + json;
    },
    end() {
      if (isClosed) return '';
      isClosed = true;
      return isOpen ? ']' : '[]';
    },
    keepAlive: () => '\n',
  };
}
