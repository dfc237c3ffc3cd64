// Writes the events of one answer as a Responses stream, and builds the response object on the way.

import type { GatewayError } from '../../../canonical/error.ts';
import type {
  BlockDeltaEvent,
  BlockEndEvent,
  BlockOpening,
  CanonicalEvent,
  ChoiceEnd,
  GroundingEvent,
} from '../../../canonical/event.ts';
import type { Signature } from '../../../canonical/request.ts';
import { writeCarrier } from '../../../canonical/signature-carrier.ts';
import { NO_USAGE, type Usage } from '../../../canonical/usage.ts';
import { EVENT_STREAM_TYPE, FRAME_END } from '../../../lib/event-stream.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ReplyContext, StreamWriter } from '../../protocol.ts';
import { type ShownBlock, writeImage, writeMarkdown } from '../answer-shapes.ts';
import { writeErrorBody } from '../errors.ts';
import { createFirstChoice } from './first-choice.ts';
import { createFrameNumbering } from './frames.ts';
import { createHold, type Hold } from './hold-back.ts';
import { OpenCall } from './open-call.ts';
import { OpenDrawing } from './open-drawing.ts';
import { OpenMessage } from './open-message.ts';
import { type ItemPlace, OpenReasoning } from './open-reasoning.ts';
import { type Ending, endingOf, failureOf, responseObject } from './response-object.ts';
import type { ResponseSettings } from './response-settings.ts';
import { type WholeItem, writeSearch } from './whole-items.ts';

export interface ResponseStreamWriter extends StreamWriter {
  /** The response object as it stands: final after `finish` or `error`. */
  readonly response: JsonObject;
}

type OpenItem =
  | { readonly kind: 'message'; readonly message: OpenMessage }
  | { readonly kind: 'reasoning'; readonly reasoning: OpenReasoning }
  | { readonly kind: 'call'; readonly call: OpenCall }
  | { readonly kind: 'drawing'; readonly drawing: OpenDrawing };

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
  readonly #output: JsonObject[] = [];
  readonly #isFirst = createFirstChoice();
  readonly #hold: Hold | undefined;
  #open: OpenItem | undefined;
  #grounding: GroundingEvent | undefined;
  #hasSearch = false;
  /** The proof that stands on a reasoning item already. */
  #lastProof: string | undefined;
  #textLength = 0;
  #hasBegun = false;
  #usage: Usage = NO_USAGE;
  #ending: Ending = { status: 'in_progress' };

  constructor(context: ReplyContext, settings: ResponseSettings) {
    this.#context = context;
    this.#settings = settings;
    this.#hold = createHold(settings, context);
    this.#id = context.createId('resp_');
  }

  get response(): JsonObject {
    const { createdAt, model } = this.#context;
    const head = { id: this.#id, createdAt, model, echo: this.#settings.echo };
    const usage = this.#ending.status === 'in_progress' ? undefined : this.#usage;
    return responseObject(head, this.#ending, { output: this.#output, usage });
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
        return this.#openBlock(event.block);
      case 'block-delta':
        return this.#continue(event.delta);
      case 'block-end':
        return this.#endBlock(event);
      case 'grounding':
        this.#grounding = event;
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

  #openBlock(block: BlockOpening): string {
    switch (block.kind) {
      case 'text':
        return this.#openMessage();
      case 'thinking':
        return this.#closeItem() + this.#openReasoning();
      case 'tool-call':
        return this.#closeItem() + this.#prove(block.signature) + this.#openCall(block);
      case 'media':
        return writeImage(block, 0) === undefined ? this.#showBlock(block) : this.#draw(block);
      case 'code':
      case 'code-result':
        return this.#showBlock(block);
      default:
        return block satisfies never;
    }
  }

  /** Text goes on in the message that is open; a search known by now stands before it. */
  #openMessage(): string {
    if (this.#open?.kind === 'message') return '';
    const before = this.#closeItem() + this.#writeSearch();
    const place = { ...this.#place('msg_'), textStart: this.#textLength };
    const message = new OpenMessage(place, this.#frames);
    this.#open = { kind: 'message', message };
    return before + message.open();
  }

  #showBlock(block: ShownBlock): string {
    const opening = this.#openMessage();
    if (this.#open?.kind !== 'message') return opening;
    return opening + this.#open.message.addBlock(writeMarkdown(block));
  }

  #openReasoning(): string {
    const reasoning = new OpenReasoning(this.#place('rs_'), this.#frames);
    this.#open = { kind: 'reasoning', reasoning };
    return reasoning.open();
  }

  /** A call's proof travels on a reasoning item before it, unless the thoughts carry it already. */
  #prove(signature: Signature | undefined): string {
    const proof = this.#proofOf(signature);
    if (proof === undefined || proof === this.#lastProof) return '';
    return this.#openReasoning() + this.#closeItem(proof);
  }

  #proofOf(signature: Signature | undefined): string | undefined {
    if (signature === undefined || !this.#settings.carriesReasoning) return undefined;
    return writeCarrier(signature);
  }

  #openCall({ id: callId, name }: Extract<BlockOpening, { kind: 'tool-call' }>): string {
    const tool = this.#settings.directory.find(name) ?? { form: 'function' as const, name };
    const call = new OpenCall(
      { tool, callId, createId: this.#context.createId, outputIndex: this.#output.length },
      this.#frames,
    );
    this.#open = { kind: 'call', call };
    return call.open();
  }

  #draw({ base64, isDraft }: Extract<BlockOpening, { kind: 'media' }>): string {
    const opening = this.#openDrawing();
    const open = this.#open;
    if (open?.kind !== 'drawing') return opening;
    if (isDraft === true) return opening + open.drawing.addDraft(base64, this.#settings.drafts);
    this.#open = undefined;
    return opening + this.#addWhole(open.drawing.close(base64));
  }

  #openDrawing(): string {
    if (this.#open?.kind === 'drawing') return '';
    const before = this.#closeItem();
    const drawing = new OpenDrawing(this.#place('ig_'), this.#frames);
    this.#open = { kind: 'drawing', drawing };
    return before + drawing.open();
  }

  #continue(delta: BlockDeltaEvent['delta']): string {
    const open = this.#open;
    if (delta.kind === 'text' && open?.kind === 'message') return open.message.addText(delta.text);
    if (delta.kind === 'thinking' && open?.kind === 'reasoning') {
      return open.reasoning.addText(delta.text);
    }
    if (delta.kind === 'arguments' && open?.kind === 'call') return open.call.add(delta.json);
    throw new Error(`A ${delta.kind} delta came while no such block was open.`);
  }

  /** A message stays open: citations may follow its text. */
  #endBlock({ signature }: BlockEndEvent): string {
    const kind = this.#open?.kind;
    if (kind === undefined || kind === 'message' || kind === 'drawing') return '';
    return this.#closeItem(this.#proofOf(signature));
  }

  #closeItem(proof?: string, end?: ChoiceEnd): string {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return '';
    const { item, text } = this.#close(open, proof, end);
    this.#output.push(item);
    return text;
  }

  #close(
    open: OpenItem,
    proof: string | undefined,
    end: ChoiceEnd | undefined,
  ): { readonly item: JsonObject; readonly text: string } {
    switch (open.kind) {
      case 'message': {
        this.#textLength += open.message.modelLength;
        const logprobs = this.#settings.hasLogprobs ? end?.logprobs : undefined;
        const isCut = end?.reason === 'max-tokens' || end?.reason === 'safety';
        return open.message.close({ grounding: this.#grounding, logprobs, isCut });
      }
      case 'reasoning':
        this.#lastProof = proof;
        return open.reasoning.close(proof);
      case 'call':
        return open.call.close();
      case 'drawing':
        return open.drawing.close(undefined);
      default:
        return open satisfies never;
    }
  }

  #writeSearch(): string {
    const grounding = this.#grounding;
    if (grounding === undefined || this.#hasSearch || grounding.queries.length === 0) return '';
    this.#hasSearch = true;
    const { namesSources } = this.#settings;
    return this.#addWhole(
      writeSearch(this.#place('ws_'), { grounding, namesSources }, this.#frames),
    );
  }

  #addWhole({ item, text }: WholeItem): string {
    this.#output.push(item);
    return text;
  }

  #place(prefix: string): ItemPlace {
    return { id: this.#context.createId(prefix), outputIndex: this.#output.length };
  }

  #finish(end: ChoiceEnd | undefined): string {
    const begun = this.#hasBegun ? '' : this.#begin();
    const closing = begun + this.#closeItem(undefined, end) + this.#writeSearch();
    const hasContent = this.#output.some(({ type }) => type !== 'reasoning');
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
