// Writes the events of one answer as a Responses stream, and builds the response object on the way.

import type { GatewayError } from '../../../canonical/error.ts';
import type { CanonicalEvent, ChoiceEnd } from '../../../canonical/event.ts';
import { searchCount } from '../../../canonical/search-count.ts';
import { NO_USAGE, type Usage } from '../../../canonical/usage.ts';
import { EVENT_STREAM_TYPE, FRAME_END } from '../../../lib/event-stream.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ReplyContext, StreamWriter } from '../../protocol.ts';
import { writeErrorBody } from '../errors.ts';
import { createFirstChoice } from './first-choice.ts';
import { createFrameNumbering } from './frames.ts';
import { createHold, type Hold } from './hold-back.ts';
import { showsSomething } from './output-items.ts';
import { type Ending, endingOf, failureOf, responseObject } from './response-object.ts';
import type { ResponseSettings } from './response-settings.ts';
import { SummaryItems } from './write-compaction.ts';
import { type AnswerItems, OutputItems } from './write-items.ts';

export interface ResponseStreamWriter extends StreamWriter {
  /** The response object as it stands: final after `finish` or `error`. */
  readonly response: JsonObject;
}

/**
 * Rules of the stream (`openai` lib/responses/ResponseStream): `response.created` comes first, every
 * item is added, filled and done under one id, and a terminal event repeats the whole response.
 */
export function createResponsesWriter(
  context: ReplyContext,
  settings: ResponseSettings,
): ResponseStreamWriter {
  return new ResponsesWriter(context, settings);
}

class ResponsesWriter implements ResponseStreamWriter {
  readonly contentType = EVENT_STREAM_TYPE;
  readonly #context: ReplyContext;
  readonly #settings: ResponseSettings;
  readonly #id: string;
  readonly #frames = createFrameNumbering();
  readonly #items: AnswerItems;
  readonly #isFirst = createFirstChoice();
  readonly #hold: Hold | undefined;
  #hasBegun = false;
  #usage: Usage = NO_USAGE;
  #ending: Ending = { status: 'in_progress' };

  constructor(context: ReplyContext, settings: ResponseSettings) {
    this.#context = context;
    this.#settings = settings;
    const options = { createId: context.createId, settings, frames: this.#frames };
    this.#items = settings.isSummary ? new SummaryItems(options) : new OutputItems(options);
    this.#hold = createHold(settings, context);
    this.#id = context.createId('resp_');
  }

  get response(): JsonObject {
    const { createdAt, model } = this.#context;
    const head = { id: this.#id, createdAt, model, echo: this.#settings.echo };
    const usage = this.#ending.status === 'in_progress' ? undefined : this.#usage;
    const { done, grounding } = this.#items;
    const isBroken = this.#ending.status === 'failed';
    const output = isBroken ? [...done, ...this.#items.brokenOff()] : done;
    const searches = searchCount(grounding);
    return responseObject(head, this.#ending, { output, usage, searches });
  }

  /** A response is one answer. */
  write(event: CanonicalEvent): string {
    if (!this.#isFirst(event)) return '';
    if (this.#hold === undefined) return this.#writeEvent(event);
    return this.#hold(event)
      .map((due) => this.#writeEvent(due))
      .join('');
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

  more(): string {
    return this.#frames.more();
  }

  keepAlive(): string {
    return `: keep-alive${FRAME_END}`;
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
    return (
      closing + this.#frames.write(`response.${this.#ending.status}`, { response: this.response })
    );
  }

  /** Before `response.created` no life cycle has begun that could fail. */
  #fail(error: GatewayError): string {
    this.#ending = failureOf(error);
    if (this.#hasBegun) return this.#frames.write('response.failed', { response: this.response });
    const { code, message, param } = writeErrorBody(error).error;
    return this.#frames.write('error', { code, message, param });
  }
}
