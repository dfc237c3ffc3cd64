// Writes the events of one answer as a Responses stream, and builds the response object on the way.

import type { GatewayError } from '../../../canonical/error.ts';
import { type CanonicalEvent, type ChoiceEnd, searchCount } from '../../../canonical/event.ts';
import { type Reply, unfold } from '../../../canonical/fold.ts';
import { NO_USAGE, type Usage } from '../../../canonical/usage.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { EVENT_STREAM_TYPE, FRAME_END } from '../../../stream/sse.ts';
import type { ReplyContext, StreamWriter } from '../../protocol.ts';
import { writeErrorBody } from '../errors.ts';
import type { ResponseSettings } from './read-request.ts';
import {
  type Ending,
  endingOf,
  Frames,
  failureOf,
  responseObject,
  showsSomething,
} from './response-object.ts';
import { OutputItems } from './write-items.ts';

/** What is done with a response that has ended: whole, or by an error. */
export interface Keeper {
  keep(response: JsonObject): void;
  fail(error: GatewayError, response: JsonObject): void;
}

/**
 * Rules of the stream (`openai` lib/responses/ResponseStream): `response.created` comes first, every
 * item is added, filled and done under one id, and a terminal event repeats the whole response.
 */
export class ResponsesWriter implements StreamWriter {
  readonly contentType = EVENT_STREAM_TYPE;
  readonly #context: ReplyContext;
  readonly #settings: ResponseSettings;
  readonly #keeper: Keeper | undefined;
  readonly #id: string;
  readonly #frames = new Frames();
  readonly #items: OutputItems;
  readonly #hold: Hold | undefined;
  /** Blocks of other answers. */
  #others: Set<number> | undefined;
  #hasBegun = false;
  #usage: Usage = NO_USAGE;
  #ending: Ending = { status: 'in_progress' };

  constructor(context: ReplyContext, settings: ResponseSettings, keeper?: Keeper) {
    this.#context = context;
    this.#settings = settings;
    this.#keeper = keeper;
    this.#items = new OutputItems({
      createId: context.createId,
      settings,
      frames: this.#frames,
    });
    this.#hold = createHold(settings, context);
    this.#id = context.createId('resp_');
  }

  /** The response object as it stands: final after `finish` or `error`. */
  get response(): JsonObject {
    const { createdAt, model } = this.#context;
    const head = { id: this.#id, createdAt, model, echo: this.#settings.echo };
    const usage = this.#ending.status === 'in_progress' ? undefined : this.#usage;
    const { done, grounding } = this.#items;
    const isBroken = this.#ending.status === 'failed';
    const output = isBroken ? [...done, ...this.#items.brokenOff()] : done;
    const searches = grounding === undefined ? 0 : searchCount(grounding);
    return responseObject(head, this.#ending, { output, usage, searches });
  }

  write(event: CanonicalEvent): string {
    if (this.#isOfAnother(event)) return '';
    if (this.#hold === undefined) return this.#writeEvent(event);
    let text = '';
    for (const due of this.#hold(event)) text += this.#writeEvent(due);
    return text;
  }

  more(): string {
    return this.#frames.more();
  }

  keepAlive(): string {
    return `: keep-alive${FRAME_END}`;
  }

  /** A response is one answer. */
  #isOfAnother(event: CanonicalEvent): boolean {
    if (event.kind === 'grounding') return event.choice !== 0;
    if (event.kind === 'block-start' && event.choice !== 0) {
      this.#others ??= new Set();
      this.#others.add(event.index);
    }
    return this.#others !== undefined && 'index' in event && this.#others.has(event.index);
  }

  #writeEvent(event: CanonicalEvent): string {
    switch (event.kind) {
      case 'start':
        this.#usage = event.usage ?? this.#usage;
        return this.#begin();
      case 'block-start':
        return this.#items.openBlock(event.block);
      case 'block-delta':
        return this.#items.continueBlock(event.delta);
      case 'block-end':
        return this.#items.endBlock(event);
      case 'grounding':
        this.#items.grounding = event;
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        return this.#finish(event.choices[0]);
      case 'error':
        return this.#fail(event.error);
      default:
        return event satisfies never;
    }
  }

  #begin(): string {
    this.#hasBegun = true;
    const { response } = this;
    return (
      this.#frames.write('response.created', { response }) +
      this.#frames.write('response.in_progress', { response })
    );
  }

  #finish(end: ChoiceEnd | undefined): string {
    const begun = this.#hasBegun ? '' : this.#begin();
    const closing = begun + this.#items.end(end);
    const hasContent = this.#items.done.some(showsSomething);
    this.#ending = endingOf(end, { hasContent, at: this.#context.createdAt });
    const { response } = this;
    const text = closing + this.#frames.write(`response.${this.#ending.status}`, { response });
    this.#keeper?.keep(response);
    return text;
  }

  /** Before `response.created` no life cycle has begun that could fail. */
  #fail(error: GatewayError): string {
    this.#ending = failureOf(error);
    const { response } = this;
    this.#keeper?.fail(error, response);
    if (this.#hasBegun) return this.#frames.write('response.failed', { response });
    const { code, message, param } = writeErrorBody(error).error;
    return this.#frames.write('error', { code, message, param });
  }
}

/** Takes one event and gives those that are to be written now, in order. */
type Hold = (event: CanonicalEvent) => readonly CanonicalEvent[];

/** Undefined where nothing waits. */
export function createHold(
  { drafts, mayCite }: Pick<ResponseSettings, 'drafts' | 'mayCite'>,
  { isSearchNamed = false }: Pick<ReplyContext, 'isSearchNamed'>,
): Hold | undefined {
  const forCitations = mayCite || isSearchNamed ? createCitationHold() : undefined;
  if (drafts === 0) return forCitations;
  const forDrawing = createDrawingHold();
  if (forCitations === undefined) return forDrawing;
  return (event) => forDrawing(event).flatMap((due) => forCitations(due));
}

/**
 * An item that is done does not change any more, and the next one begins behind it; upstreams tell
 * what a text cites at the end of the answer. So everything behind the first message waits for the
 * citations or for the end. Call with the events of one answer, in order.
 */
export function createCitationHold(): Hold {
  let hasMessage = false;
  let isSettled = false;
  const held: CanonicalEvent[] = [];
  return (event) => {
    if (isSettled) return [event];
    if (event.kind === 'grounding' && event.isEarly !== true) {
      isSettled = true;
      return [event, ...held];
    }
    if (event.kind === 'finish' || event.kind === 'error') {
      isSettled = true;
      return [...held, event];
    }
    if (held.length > 0 || (hasMessage && closesMessage(event))) {
      held.push(event);
      return [];
    }
    hasMessage ||= event.kind === 'block-start' && !closesMessage(event);
    return [event];
  };
}

/** Code stands inside the message; everything else is an item of its own. */
function closesMessage(event: CanonicalEvent): boolean {
  if (event.kind !== 'block-start') return false;
  const { kind } = event.block;
  return kind === 'thinking' || kind === 'tool-call' || kind === 'media';
}

/**
 * Items follow one another, and a model may speak while it draws: its words wait for the picture, or
 * for the end. Call with the events of one answer, in order.
 */
function createDrawingHold(): Hold {
  let isDrawing = false;
  let held: CanonicalEvent[] = [];
  const release = (): CanonicalEvent[] => {
    isDrawing = false;
    const due = held;
    held = [];
    return due;
  };
  return (event) => {
    if (event.kind === 'finish' || event.kind === 'error') return [...release(), event];
    const media =
      event.kind === 'block-start' && event.block.kind === 'media' ? event.block : undefined;
    if (media?.isDraft === true) isDrawing = true;
    else if (media !== undefined) return [event, ...release()];
    if (!isDrawing || media !== undefined) return [event];
    held.push(event);
    return [];
  };
}

/** Writes a finished answer as a response object, by the same rules as its stream. */
export function writeResponse(reply: Reply, writer: ResponsesWriter): JsonObject {
  for (const event of unfold(reply)) writer.write(event);
  return writer.response;
}
