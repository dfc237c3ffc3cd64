// Writes the output items of one answer: opened, filled and done in turn, and kept for the response object.

import type {
  BlockDeltaEvent,
  BlockEndEvent,
  BlockOpening,
  ChoiceEnd,
  GroundingEvent,
} from '../../../canonical/event.ts';
import type { Signature } from '../../../canonical/request.ts';
import { writeCarrier } from '../../../canonical/signature-carrier.ts';
import { withheldBecause } from '../../../canonical/withheld.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ReplyContext } from '../../protocol.ts';
import { type ShownBlock, writeImage, writeMarkdown } from '../answer-shapes.ts';
import type { FrameNumbering } from './frames.ts';
import { OpenCall } from './open-call.ts';
import { OpenDrawing } from './open-drawing.ts';
import { OpenMessage } from './open-message.ts';
import { type ItemPlace, OpenReasoning } from './open-reasoning.ts';
import type { ResponseSettings } from './response-settings.ts';
import { type WholeItem, writeRefusal, writeSearch } from './whole-items.ts';

type OpenItem =
  | { readonly kind: 'message'; readonly message: OpenMessage }
  | { readonly kind: 'reasoning'; readonly reasoning: OpenReasoning }
  | { readonly kind: 'call'; readonly call: OpenCall }
  | { readonly kind: 'drawing'; readonly drawing: OpenDrawing };

export interface ItemsOptions {
  readonly createId: ReplyContext['createId'];
  readonly settings: ResponseSettings;
  readonly frames: FrameNumbering;
}

/** Takes the blocks of one answer and gives the frames of its items. */
export interface AnswerItems {
  /** The items that are done. */
  readonly done: readonly JsonObject[];
  /** What the answer is told to rest on. */
  grounding: GroundingEvent | undefined;
  openBlock(block: BlockOpening): string;
  continueBlock(delta: BlockDeltaEvent['delta']): string;
  endBlock(end: BlockEndEvent): string;
  brokenOff(): readonly JsonObject[];
  end(end: ChoiceEnd | undefined): string;
}

/** Every item is added, filled and done under one id; at most one is open. Answers are frames. */
export class OutputItems implements AnswerItems {
  /** The items that are done. */
  readonly done: JsonObject[] = [];
  /** Sources for the message that is open, and for the search. */
  grounding: GroundingEvent | undefined;
  readonly #createId: ReplyContext['createId'];
  readonly #settings: ResponseSettings;
  readonly #frames: FrameNumbering;
  #open: OpenItem | undefined;
  #hasSearch = false;
  /** True when a message was done before it was known what its text cites. */
  #isUncited = false;
  /** The proof that stands on a reasoning item already. */
  #lastProof: string | undefined;
  #textLength = 0;

  constructor({ createId, settings, frames }: ItemsOptions) {
    this.#createId = createId;
    this.#settings = settings;
    this.#frames = frames;
  }

  openBlock(block: BlockOpening): string {
    switch (block.kind) {
      case 'text':
        return this.#openMessage();
      case 'thinking':
        return this.#closeItem() + this.#openReasoning();
      case 'tool-call':
        return this.#closeItem() + this.#writeKnownSearch() + this.#openSigned(block);
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
    const before = this.#closeItem() + this.#writeKnownSearch();
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

  #openSigned(block: Extract<BlockOpening, { kind: 'tool-call' }>): string {
    return this.#prove(block.signature) + this.#openCall(block);
  }

  #openCall({ id: callId, name }: Extract<BlockOpening, { kind: 'tool-call' }>): string {
    const tool = this.#settings.directory.find(name) ?? { form: 'function' as const, name };
    const call = new OpenCall(
      { tool, callId, createId: this.#createId, outputIndex: this.done.length },
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

  continueBlock(delta: BlockDeltaEvent['delta']): string {
    const open = this.#open;
    if (delta.kind === 'text' && open?.kind === 'message') return open.message.addText(delta.text);
    if (delta.kind === 'thinking' && open?.kind === 'reasoning') {
      return this.#settings.showsThoughts ? open.reasoning.addText(delta.text) : '';
    }
    if (delta.kind === 'arguments' && open?.kind === 'call') return open.call.add(delta.json);
    throw new Error(`A ${delta.kind} delta came while no such block was open.`);
  }

  /** A message stays open: citations may follow its text. */
  endBlock({ signature }: BlockEndEvent): string {
    const kind = this.#open?.kind;
    if (kind === undefined || kind === 'message' || kind === 'drawing') return '';
    return this.#closeItem(this.#proofOf(signature));
  }

  /**
   * What is open where the answer breaks off: text and thoughts so far. It is no event of its own, as clients keep items
   * that are done when they ask again. A call or a picture that was cut is none.
   */
  brokenOff(): readonly JsonObject[] {
    const open = this.#open;
    const item =
      open?.kind === 'message'
        ? open.message.breakOff(this.grounding)
        : open?.kind === 'reasoning' && open.reasoning.breakOff();
    return item ? [item] : [];
  }

  #closeItem(proof?: string, end?: ChoiceEnd): string {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return '';
    const { item, text } = this.#close(open, proof, end);
    this.done.push(item);
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
        this.#isUncited ||= this.grounding === undefined;
        const logprobs = this.#settings.hasLogprobs ? end?.logprobs : undefined;
        const isCut = end?.reason === 'max-tokens' || end?.reason === 'safety';
        return open.message.close({ grounding: this.grounding, logprobs, isCut });
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

  /** A search that is known before what it led to; one that is to name what it found waits for that. */
  #writeKnownSearch(): string {
    const { namesSources, namesResults } = this.#settings;
    const waits = this.grounding?.isEarly === true && (namesSources || namesResults);
    return waits ? '' : this.#writeSearch();
  }

  /** Where no message could name the sources, as nobody asked for a search, the search itself names them. */
  #writeSearch(): string {
    const grounding = this.grounding;
    if (grounding === undefined || this.#hasSearch) return '';
    const isLast = this.#isUncited && grounding.sources.length > 0;
    if (grounding.queries.length === 0 && !isLast) return '';
    this.#hasSearch = true;
    const { namesSources, namesResults } = this.#settings;
    const show = { namesSources: namesSources || isLast, namesResults };
    return this.#addWhole(writeSearch(this.#place('ws_'), { grounding, show }, this.#frames));
  }

  #addWhole({ item, text }: WholeItem): string {
    this.done.push(item);
    return text;
  }

  #place(prefix: string): ItemPlace {
    return { id: this.#createId(prefix), outputIndex: this.done.length };
  }

  /** What is open is done; the answer has ended. */
  end(end: ChoiceEnd | undefined): string {
    return this.#closeItem(undefined, end) + this.#writeSearch() + this.#writeRefusal(end);
  }

  /** A refused prompt has no answer: its response has failed and says why itself. */
  #writeRefusal(end: ChoiceEnd | undefined): string {
    const refusal = end?.reason === 'safety' ? withheldBecause(end) : undefined;
    if (refusal === undefined) return '';
    return this.#addWhole(writeRefusal(this.#place('msg_'), refusal, this.#frames));
  }
}
