// Writes the output items of one answer: opened, filled and done in turn, and kept for the response object.

import type {
  BlockDeltaEvent,
  BlockEndEvent,
  BlockOpening,
  ChoiceEnd,
  GroundingEvent,
  Logprobs,
} from '../../../canonical/event.ts';
import type { Signature } from '../../../canonical/request.ts';
import { writeCarrier } from '../../../canonical/signatures.ts';
import { blockMessage } from '../../../canonical/text-forms.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { KeptText } from '../../../lib/long-text.ts';
import type { ReplyContext } from '../../protocol.ts';
import {
  ContentText,
  type ShownBlock,
  writeAnnotations,
  writeImage,
  writeLogprobs,
  writeMarkdown,
} from '../answer-parts.ts';
import { compactionItem } from './read-input.ts';
import type { ResponseSettings } from './read-request.ts';
import {
  type CallDraft,
  callItem,
  drawingItem,
  type FrameNumbering,
  freeformInput,
  messageItem,
  reasoningItem,
  refusalPart,
  type SearchShow,
  searchItem,
  summaryPart,
  type TextContent,
  textPart,
} from './response-object.ts';
import type { CallForm, ToolIdentity } from './schema.ts';

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
    const refusal = end?.reason === 'safety' ? blockMessage(end) : undefined;
    if (refusal === undefined) return '';
    return this.#addWhole(writeRefusal(this.#place('msg_'), refusal, this.#frames));
  }
}

interface OpenCallOptions {
  readonly tool: ToolIdentity;
  readonly callId: string;
  readonly outputIndex: number;
  createId(prefix: string): string;
}

const ID_PREFIXES: Readonly<Record<CallForm, string>> = {
  function: 'fc_',
  custom: 'ctc_',
  local_shell: 'lsh_',
  shell: 'sh_',
  apply_patch: 'apc_',
  tool_search: 'tsc_',
};

/** A call item in progress: arguments of functions are streamed, those of other kinds are sent whole. */
class OpenCall {
  readonly #draft: CallDraft;
  readonly #outputIndex: number;
  readonly #frames: FrameNumbering;
  readonly #delta: (json: string) => string;
  #json = '';

  constructor(options: OpenCallOptions, frames: FrameNumbering) {
    const { tool, callId, outputIndex, createId } = options;
    this.#draft = { tool, callId, id: createId(ID_PREFIXES[tool.form]) };
    this.#outputIndex = outputIndex;
    this.#frames = frames;
    this.#delta = frames.deltas('response.function_call_arguments.delta', this.#at());
  }

  open(): string {
    return isStreamed(this.#draft.tool.form) ? this.#added('') : '';
  }

  add(json: string): string {
    this.#json += json;
    return this.#draft.tool.form === 'function' && json !== '' ? this.#delta(json) : '';
  }

  close(): { item: JsonObject; text: string } {
    const item = callItem(this.#draft, 'completed', this.#json);
    const done = this.#frames.write.bind(this.#frames);
    const text =
      (isStreamed(this.#draft.tool.form) ? '' : this.#added(this.#json)) +
      this.#content() +
      done('response.output_item.done', { output_index: this.#outputIndex, item });
    return { item, text };
  }

  #added(json: string): string {
    return this.#frames.write('response.output_item.added', {
      output_index: this.#outputIndex,
      item: callItem(this.#draft, 'in_progress', json),
    });
  }

  #content(): string {
    const at = this.#at();
    switch (this.#draft.tool.form) {
      case 'function': {
        const late = this.#json === '' ? this.#delta('{}') : '';
        const text = this.#json === '' ? '{}' : this.#json;
        const { name } = this.#draft.tool;
        const whole = { ...at, name, arguments: text };
        return late + this.#frames.write('response.function_call_arguments.done', whole);
      }
      case 'custom': {
        const input = freeformInput(this.#json);
        return (
          this.#frames.write('response.custom_tool_call_input.delta', { ...at, delta: input }) +
          this.#frames.write('response.custom_tool_call_input.done', { ...at, input })
        );
      }
      case 'local_shell':
      case 'shell':
      case 'apply_patch':
      case 'tool_search':
        return '';
      default:
        return this.#draft.tool.form satisfies never;
    }
  }

  #at(): JsonObject {
    return { item_id: this.#draft.id, output_index: this.#outputIndex };
  }
}

/** Calls of other forms are one object, and nothing of it is known before it is whole. */
function isStreamed(form: CallForm): boolean {
  return form === 'function' || form === 'custom';
}

/**
 * An image in progress: unfinished images as they arrive, then the final one. Source: `openai`
 * resources/responses, `ResponseImageGenCallPartialImageEvent`.
 */
class OpenDrawing {
  readonly #place: ItemPlace;
  readonly #frames: FrameNumbering;
  #shown = 0;

  constructor(place: ItemPlace, frames: FrameNumbering) {
    this.#place = place;
    this.#frames = frames;
  }

  open(): string {
    const { id, outputIndex } = this.#place;
    const added = { output_index: outputIndex, item: drawingItem(id, 'in_progress', null) };
    return (
      this.#frames.write('response.output_item.added', added) +
      this.#step('in_progress') +
      this.#step('generating')
    );
  }

  /** Nothing beyond `most`. */
  addDraft(base64: string, most: number): string {
    if (this.#shown >= most) return '';
    const fields = { partial_image_index: this.#shown, partial_image_b64: base64 };
    this.#shown += 1;
    return this.#step('partial_image', fields);
  }

  /** Without a picture the drawing failed. */
  close(base64: string | undefined): { readonly item: JsonObject; readonly text: string } {
    const isDrawn = base64 !== undefined;
    const item = drawingItem(this.#place.id, isDrawn ? 'completed' : 'failed', base64 ?? null);
    const done = { output_index: this.#place.outputIndex, item };
    const text =
      (isDrawn ? this.#step('completed') : '') +
      this.#frames.write('response.output_item.done', done);
    return { item, text };
  }

  #step(step: string, fields: JsonObject = {}): string {
    return this.#frames.write(`response.image_generation_call.${step}`, {
      item_id: this.#place.id,
      output_index: this.#place.outputIndex,
      ...fields,
    });
  }
}

interface MessagePlace {
  readonly id: string;
  readonly outputIndex: number;
  /** Where the message's text begins in the model's whole text, in UTF-16 units. */
  readonly textStart: number;
}

interface MessageEnd {
  readonly grounding: GroundingEvent | undefined;
  readonly logprobs: Logprobs | undefined;
  readonly isCut: boolean;
}

const EMPTY: TextContent = { text: '', annotations: [], logprobs: [] };

/** A message item in progress: its text, its citations, and the events of both. */
class OpenMessage {
  readonly #place: MessagePlace;
  readonly #frames: FrameNumbering;
  readonly #content = new ContentText();
  readonly #delta: (text: string) => string;
  readonly #text = new KeptText();
  /** Units of the model's own text in this message. */
  modelLength = 0;

  constructor(place: MessagePlace, frames: FrameNumbering) {
    this.#place = place;
    this.#frames = frames;
    this.#delta = frames.deltas('response.output_text.delta', { ...this.#at(), logprobs: [] });
  }

  open(): string {
    const { id, outputIndex } = this.#place;
    const item = messageItem(id, 'in_progress', []);
    return (
      this.#frames.write('response.output_item.added', { output_index: outputIndex, item }) +
      this.#frames.write('response.content_part.added', { ...this.#at(), part: textPart(EMPTY) })
    );
  }

  addText(text: string): string {
    this.modelLength += text.length;
    return this.#add(this.#content.addText(text));
  }

  /** Something that is no text of the model's, as a paragraph of its own. */
  addBlock(markdown: string): string {
    return this.#add(this.#content.addBlock(markdown));
  }

  /** The item as it stands where the answer breaks off; undefined when it says nothing yet. */
  breakOff(grounding: GroundingEvent | undefined): JsonObject | undefined {
    if (this.#text.length === 0) return undefined;
    const content = {
      text: this.#text.toString(),
      annotations: this.#annotations(grounding),
      logprobs: [],
    };
    return messageItem(this.#place.id, 'incomplete', [textPart(content)]);
  }

  close({ grounding, logprobs, isCut }: MessageEnd): { item: JsonObject; text: string } {
    const content: TextContent = {
      text: this.#text.toString(),
      annotations: this.#annotations(grounding),
      logprobs: listLogprobs(logprobs),
    };
    const item = messageItem(this.#place.id, isCut ? 'incomplete' : 'completed', [
      textPart(content),
    ]);
    const at = this.#at();
    const frames = this.#frames;
    const noted = content.annotations.map((annotation, index) =>
      frames.write('response.output_text.annotation.added', {
        ...at,
        annotation_index: index,
        annotation,
      }),
    );
    const text =
      noted.join('') +
      frames.write('response.output_text.done', {
        ...at,
        text: content.text,
        logprobs: [...content.logprobs],
      }) +
      frames.write('response.content_part.done', { ...at, part: textPart(content) }) +
      frames.write('response.output_item.done', {
        output_index: this.#place.outputIndex,
        item,
      });
    return { item, text };
  }

  #add(text: string): string {
    if (text === '') return '';
    this.#text.add(text);
    return this.#delta(text);
  }

  /** The citations of this message's text, in the flat form of this surface. */
  #annotations(grounding: GroundingEvent | undefined): JsonObject[] {
    const { textStart } = this.#place;
    const content = this.#content;
    const shifted = {
      length: content.length,
      startOf: (position: number) => content.startOf(position - textStart),
      endOf: (position: number) => content.endOf(position - textStart),
    };
    if (grounding === undefined) return [];
    const citations = grounding.citations.filter(({ startIndex, endIndex }) => {
      return startIndex >= textStart && endIndex <= textStart + this.modelLength;
    });
    // Without any citation all sources stand for the whole.
    if (citations.length === 0 && grounding.citations.length > 0) return [];
    return writeAnnotations({ ...grounding, citations }, shifted).map(
      ({ url_citation: citation }) => ({ type: 'url_citation', ...citation }),
    );
  }

  #at(): JsonObject {
    return { item_id: this.#place.id, output_index: this.#place.outputIndex, content_index: 0 };
  }
}

function listLogprobs(logprobs: Logprobs | undefined): readonly JsonObject[] {
  if (logprobs === undefined) return [];
  const written = writeLogprobs({ choice: 0, reason: 'stop', logprobs });
  return (written?.content ?? []).map((token) => ({ ...token }));
}

export interface ItemPlace {
  readonly id: string;
  readonly outputIndex: number;
}

/** A reasoning item in progress: its summary and, at its end, the proof. */
class OpenReasoning {
  readonly #place: ItemPlace;
  readonly #frames: FrameNumbering;
  readonly #delta: (text: string) => string;
  readonly #text = new KeptText();

  constructor(place: ItemPlace, frames: FrameNumbering) {
    this.#place = place;
    this.#frames = frames;
    this.#delta = frames.deltas('response.reasoning_summary_text.delta', this.#at());
  }

  open(): string {
    const { id, outputIndex } = this.#place;
    return this.#frames.write('response.output_item.added', {
      output_index: outputIndex,
      item: reasoningItem(id, { text: undefined, proof: undefined }),
    });
  }

  addText(text: string): string {
    if (text === '') return '';
    const opening =
      this.#text.length === 0
        ? this.#frames.write('response.reasoning_summary_part.added', {
            ...this.#at(),
            part: summaryPart(''),
          })
        : '';
    this.#text.add(text);
    return opening + this.#delta(text);
  }

  /** The item as it stands where the answer breaks off; undefined when it says nothing yet. */
  breakOff(): JsonObject | undefined {
    if (this.#text.length === 0) return undefined;
    const text = this.#text.toString();
    const item = reasoningItem(this.#place.id, { text, proof: undefined });
    return { ...item, status: 'incomplete' };
  }

  close(proof: string | undefined): { item: JsonObject; text: string } {
    const said = this.#text.length === 0 ? undefined : this.#text.toString();
    const item = reasoningItem(this.#place.id, { text: said, proof });
    const done = this.#frames;
    const summary =
      said === undefined
        ? ''
        : done.write('response.reasoning_summary_text.done', { ...this.#at(), text: said }) +
          done.write('response.reasoning_summary_part.done', {
            ...this.#at(),
            part: summaryPart(said),
          });
    const text =
      summary +
      done.write('response.output_item.done', { output_index: this.#place.outputIndex, item });
    return { item, text };
  }

  #at(): JsonObject {
    return { item_id: this.#place.id, output_index: this.#place.outputIndex, summary_index: 0 };
  }
}

/** An item that is known whole at once: a search, a refusal. */
export interface WholeItem {
  readonly item: JsonObject;
  readonly text: string;
}

function writeSearch(
  place: ItemPlace,
  { grounding, show }: { readonly grounding: GroundingEvent; readonly show: SearchShow },
  frames: FrameNumbering,
): WholeItem {
  const item = searchItem(place.id, grounding, show);
  const begun = { ...item, status: 'in_progress' };
  const steps = ['in_progress', 'searching', 'completed'];
  return { item, text: writeLife({ place, begun, item, steps }, frames) };
}

/**
 * Why an answer was withheld, as a message of its own: clients that know no refusals keep the text that
 * came before it.
 */
function writeRefusal(place: ItemPlace, refusal: string, frames: FrameNumbering): WholeItem {
  const { id, outputIndex } = place;
  const whole = refusalPart(refusal);
  const item = messageItem(id, 'completed', [whole]);
  const at = { item_id: id, output_index: outputIndex, content_index: 0 };
  const text =
    frames.write('response.output_item.added', {
      output_index: outputIndex,
      item: messageItem(id, 'in_progress', []),
    }) +
    frames.write('response.content_part.added', { ...at, part: refusalPart('') }) +
    frames.write('response.refusal.delta', { ...at, delta: refusal }) +
    frames.write('response.refusal.done', { ...at, refusal }) +
    frames.write('response.content_part.done', { ...at, part: whole }) +
    frames.write('response.output_item.done', { output_index: outputIndex, item });
  return { item, text };
}

interface Life {
  readonly place: ItemPlace;
  readonly begun: JsonObject;
  readonly item: JsonObject;
  /** The events of the item's own kind between `added` and `done`. */
  readonly steps: readonly string[];
}

function writeLife({ place, begun, item, steps }: Life, frames: FrameNumbering): string {
  const { id, outputIndex } = place;
  const at = { item_id: id, output_index: outputIndex };
  const kind = String(item.type);
  const added = frames.write('response.output_item.added', {
    output_index: outputIndex,
    item: begun,
  });
  const lived = steps.map((step) => frames.write(`response.${kind}.${step}`, at)).join('');
  return (
    added + lived + frames.write('response.output_item.done', { output_index: outputIndex, item })
  );
}

/**
 * The items of a summary: one compaction item, whole at its end. Half a summary is none, as the conversation could
 * not go on from it; thoughts about it are of no use.
 */
export class SummaryItems implements AnswerItems {
  readonly done: JsonObject[] = [];
  grounding: GroundingEvent | undefined;
  readonly #options: ItemsOptions;
  #summary = '';

  constructor(options: ItemsOptions) {
    this.#options = options;
  }

  openBlock(): string {
    return '';
  }

  continueBlock(delta: BlockDeltaEvent['delta']): string {
    if (delta.kind === 'text') this.#summary += delta.text;
    return '';
  }

  endBlock(): string {
    return '';
  }

  brokenOff(): readonly JsonObject[] {
    return [];
  }

  end(end: ChoiceEnd | undefined): string {
    if (end?.reason !== 'stop' || this.#summary.trim() === '') return '';
    const { createId, frames } = this.#options;
    const item = compactionItem(createId('cmp_'), this.#summary);
    this.done.push(item);
    const fields = { output_index: 0, item };
    return (
      frames.write('response.output_item.added', fields) +
      frames.write('response.output_item.done', fields)
    );
  }
}
