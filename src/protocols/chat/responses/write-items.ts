// Writes the output items of one answer: opened, filled and done in turn, and kept for the response object.

import {
  type BlockDeltaEvent,
  type BlockEndEvent,
  type BlockOpening,
  type ChoiceEnd,
  type GroundingEvent,
  readCallInput,
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
  writeFreeformInput,
  writeLogprobs,
  writeMarkdown,
} from '../answer-parts.ts';
import { compactionItem } from './read-input.ts';
import type { ResponseSettings } from './read-request.ts';
import type { Frames } from './response-object.ts';
import type { CallForm, ToolIdentity } from './schema.ts';
import { completeClientCall } from './tools.ts';

interface CallItem {
  readonly prefix: string;
  readonly type: string;
  /** Calls of other kinds are one object, and nothing of it is known before it is whole. */
  readonly isStreamed?: true;
  /** What the item holds of the arguments, of which `json` is the text so far. */
  fill(json: string, isDone: boolean): JsonObject;
}

const CALL_ITEMS: Readonly<Record<CallForm, CallItem>> = {
  function: {
    prefix: 'fc_',
    type: 'function_call',
    isStreamed: true,
    fill: (json, isDone) => ({ arguments: isDone && json === '' ? '{}' : json }),
  },
  custom: {
    prefix: 'ctc_',
    type: 'custom_tool_call',
    isStreamed: true,
    fill: (json, isDone) => ({ input: isDone ? writeFreeformInput(readCallInput(json)) : '' }),
  },
  local_shell: {
    prefix: 'lsh_',
    type: 'local_shell_call',
    fill: (json) => ({ action: completeClientCall('local_shell', readCallInput(json)) }),
  },
  shell: {
    prefix: 'sh_',
    type: 'shell_call',
    fill: (json) => ({
      action: completeClientCall('shell', readCallInput(json)),
      environment: null,
    }),
  },
  apply_patch: {
    prefix: 'apc_',
    type: 'apply_patch_call',
    fill: (json) => ({ operation: readCallInput(json) }),
  },
  tool_search: {
    prefix: 'tsc_',
    type: 'tool_search_call',
    fill: (json) => ({ execution: 'client', arguments: readCallInput(json) }),
  },
};

interface OpenPlace {
  readonly id: string;
  /** Where the events of the item say that they belong. */
  readonly at: JsonObject;
}

interface OpenText extends OpenPlace {
  readonly text: KeptText;
  readonly delta: (text: string) => string;
}

interface OpenMessage extends OpenText {
  readonly kind: 'message';
  readonly content: ContentText;
  /** Where its text begins in the model's whole text, in UTF-16 units. */
  readonly textStart: number;
}

interface OpenReasoning extends OpenText {
  readonly kind: 'reasoning';
}

interface OpenCall extends OpenText {
  readonly kind: 'call';
  readonly callId: string;
  /** Undeclared names are called as functions. */
  readonly tool: ToolIdentity;
}

interface OpenDrawing extends OpenPlace {
  readonly kind: 'drawing';
  /** Unfinished pictures shown so far. */
  shown: number;
}

type CallOpening = Extract<BlockOpening, { kind: 'tool-call' }>;

export interface ItemsOptions {
  readonly createId: ReplyContext['createId'];
  readonly settings: ResponseSettings;
  readonly frames: Frames;
}

/** Every item is added, filled and done under one id; at most one is open. Answers are frames. */
export class OutputItems {
  /** The items that are done. */
  readonly done: JsonObject[] = [];
  /** What the answer is told to rest on: sources for the message that is open, and for the search. */
  grounding: GroundingEvent | undefined;
  readonly #createId: ReplyContext['createId'];
  readonly #settings: ResponseSettings;
  readonly #frames: Frames;
  #open: OpenMessage | OpenReasoning | OpenCall | OpenDrawing | undefined;
  #hasSearch = false;
  /** True when a message was done before it was known what its text cites. */
  #isUncited = false;
  /** The proof that stands on a reasoning item already. */
  #lastProof: string | undefined;
  /** Of the messages that are done. */
  #textLength = 0;

  constructor({ createId, settings, frames }: ItemsOptions) {
    this.#createId = createId;
    this.#settings = settings;
    this.#frames = frames;
  }

  openBlock(block: BlockOpening): string {
    switch (block.kind) {
      case 'text':
        return this.#openMessage().text;
      case 'thinking':
        return this.#closeItem() + this.#openReasoning();
      case 'tool-call':
        return this.#closeItem() + this.#writeKnownSearch() + this.#openCall(block);
      case 'media':
        return block.mediaType.startsWith('image/') ? this.#draw(block) : this.#showBlock(block);
      case 'code':
      case 'code-result':
        return this.#showBlock(block);
      default:
        return block satisfies never;
    }
  }

  continueBlock(delta: BlockDeltaEvent['delta']): string {
    const open = this.#open;
    if (delta.kind === 'text' && open?.kind === 'message') {
      return append(open, open.content.addText(delta.text));
    }
    if (delta.kind === 'thinking' && open?.kind === 'reasoning') {
      return this.#settings.showsThoughts ? this.#addThought(open, delta.text) : '';
    }
    if (delta.kind === 'arguments' && open?.kind === 'call') {
      if (open.tool.form === 'function') return append(open, delta.json);
      open.text.add(delta.json);
      return '';
    }
    throw new Error(`A ${delta.kind} delta came while no such block was open.`);
  }

  /** A message stays open: citations may follow its text. */
  endBlock({ signature }: BlockEndEvent): string {
    const kind = this.#open?.kind;
    return kind === 'reasoning' || kind === 'call' ? this.#closeItem(this.#proofOf(signature)) : '';
  }

  /**
   * What is open where the answer breaks off: text and thoughts so far. It is no event of its own, as clients keep items
   * that are done when they ask again. A call or a picture that was cut is none.
   */
  brokenOff(): readonly JsonObject[] {
    const open = this.#open;
    if (open?.kind !== 'message' && open?.kind !== 'reasoning') return [];
    if (open.text.length === 0) return [];
    const text = open.text.toString();
    if (open.kind === 'reasoning') {
      return [{ ...reasoningItem(open.id, text, undefined), status: 'incomplete' }];
    }
    const part = textPart(text, annotationsOf(open, this.grounding), []);
    return [messageItem(open.id, 'incomplete', [part])];
  }

  /** What is open is done; the answer has ended. */
  end(end: ChoiceEnd | undefined): string {
    return this.#closeItem(undefined, end) + this.#writeSearch() + this.#writeRefusal(end);
  }

  /** Text goes on in the message that is open; a search known by now stands before it. */
  #openMessage(): { readonly message: OpenMessage; readonly text: string } {
    if (this.#open?.kind === 'message') return { message: this.#open, text: '' };
    const before = this.#closeItem() + this.#writeKnownSearch();
    const id = this.#createId('msg_');
    const at = { ...this.#at(id), content_index: 0 };
    const message: OpenMessage = {
      kind: 'message',
      id,
      at,
      text: new KeptText(),
      delta: this.#frames.deltas('response.output_text.delta', { ...at, logprobs: [] }),
      content: new ContentText(),
      textStart: this.#textLength,
    };
    this.#open = message;
    const added = this.#added(messageItem(id, 'in_progress', []));
    const part = { ...at, part: textPart('', [], []) };
    return {
      message,
      text: before + added + this.#frames.write('response.content_part.added', part),
    };
  }

  /** Something that is no text of the model's, as a paragraph of its own. */
  #showBlock(block: ShownBlock): string {
    const { message, text } = this.#openMessage();
    return text + append(message, message.content.addBlock(writeMarkdown(block)));
  }

  #openReasoning(): string {
    const id = this.#createId('rs_');
    const at = { ...this.#at(id), summary_index: 0 };
    const delta = this.#frames.deltas('response.reasoning_summary_text.delta', at);
    this.#open = { kind: 'reasoning', id, at, text: new KeptText(), delta };
    return this.#added(reasoningItem(id, '', undefined));
  }

  #addThought(open: OpenReasoning, text: string): string {
    if (text === '' || open.text.length > 0) return append(open, text);
    const part = { ...open.at, part: summaryPart('') };
    return this.#frames.write('response.reasoning_summary_part.added', part) + append(open, text);
  }

  #proofOf(signature: Signature | undefined): string | undefined {
    if (signature === undefined || !this.#settings.carriesReasoning) return undefined;
    return writeCarrier(signature);
  }

  /** A call's proof travels on a reasoning item before it, unless the thoughts carry it already. */
  #openCall({ id: callId, name, signature }: CallOpening): string {
    const proof = this.#proofOf(signature);
    const isProved = proof === undefined || proof === this.#lastProof;
    const before = isProved ? '' : this.#openReasoning() + this.#closeItem(proof);
    const tool = this.#settings.directory.find(name) ?? { form: 'function' as const, name };
    const { prefix, isStreamed } = CALL_ITEMS[tool.form];
    const id = this.#createId(prefix);
    const at = this.#at(id);
    const delta = this.#frames.deltas('response.function_call_arguments.delta', at);
    const call: OpenCall = { kind: 'call', id, at, text: new KeptText(), delta, callId, tool };
    this.#open = call;
    return isStreamed === true ? before + this.#added(callItem(call, 'in_progress')) : before;
  }

  /** Unfinished images as they arrive, then the final one (`openai` responses, `ResponseImageGenCallPartialImageEvent`). */
  #draw({ base64, isDraft }: Extract<BlockOpening, { kind: 'media' }>): string {
    let text = '';
    let drawing = this.#open;
    if (drawing?.kind !== 'drawing') {
      text = this.#closeItem();
      const id = this.#createId('ig_');
      drawing = { kind: 'drawing', id, at: this.#at(id), shown: 0 };
      this.#open = drawing;
      text += this.#added(drawingItem(id, 'in_progress', null));
      text += this.#steps(['in_progress', 'generating'], drawing.at, 'image_generation_call');
    }
    if (isDraft !== true) return text + this.#closeItem(base64);
    if (drawing.shown >= this.#settings.drafts) return text;
    const draft = { partial_image_index: drawing.shown, partial_image_b64: base64 };
    drawing.shown += 1;
    const at = { ...drawing.at, ...draft };
    return text + this.#frames.write('response.image_generation_call.partial_image', at);
  }

  /** `ending` is the proof of thoughts, or the finished picture of a drawing. */
  #closeItem(ending?: string, end?: ChoiceEnd): string {
    const open = this.#open;
    this.#open = undefined;
    switch (open?.kind) {
      case undefined:
        return '';
      case 'message':
        return this.#closeMessage(open, end);
      case 'reasoning':
        this.#lastProof = ending;
        return this.#closeReasoning(open, ending);
      case 'call':
        return this.#closeCall(open);
      case 'drawing': {
        // Without a picture the drawing failed.
        if (ending === undefined) return this.#done(drawingItem(open.id, 'failed', null));
        const completed = this.#steps(['completed'], open.at, 'image_generation_call');
        return completed + this.#done(drawingItem(open.id, 'completed', ending));
      }
      default:
        return open satisfies never;
    }
  }

  #closeMessage(open: OpenMessage, end: ChoiceEnd | undefined): string {
    this.#textLength += open.content.modelLength;
    this.#isUncited ||= this.grounding === undefined;
    const rated = this.#settings.hasLogprobs && end !== undefined ? writeLogprobs(end) : null;
    const logprobs = rated?.content ?? [];
    const annotations = annotationsOf(open, this.grounding);
    const whole = open.text.toString();
    const { at } = open;
    let text = '';
    for (const [index, annotation] of annotations.entries()) {
      const fields = { ...at, annotation_index: index, annotation };
      text += this.#frames.write('response.output_text.annotation.added', fields);
    }
    text += this.#frames.write('response.output_text.done', { ...at, text: whole, logprobs });
    const part = textPart(whole, annotations, logprobs);
    text += this.#frames.write('response.content_part.done', { ...at, part });
    const isCut = end?.reason === 'max-tokens' || end?.reason === 'safety';
    return text + this.#done(messageItem(open.id, isCut ? 'incomplete' : 'completed', [part]));
  }

  #closeReasoning({ id, at, text }: OpenReasoning, proof: string | undefined): string {
    const said = text.toString();
    const item = reasoningItem(id, said, proof);
    if (said === '') return this.#done(item);
    const part = { ...at, part: summaryPart(said) };
    return (
      this.#frames.write('response.reasoning_summary_text.done', { ...at, text: said }) +
      this.#frames.write('response.reasoning_summary_part.done', part) +
      this.#done(item)
    );
  }

  /** Arguments of functions are streamed, those of other kinds are sent whole. */
  #closeCall(call: OpenCall): string {
    const { tool, at } = call;
    const json = call.text.toString();
    const item = callItem(call, 'completed');
    switch (tool.form) {
      case 'function': {
        const late = json === '' ? call.delta('{}') : '';
        const whole = { ...at, name: tool.name, arguments: item.arguments ?? '' };
        const done = this.#frames.write('response.function_call_arguments.done', whole);
        return late + done + this.#done(item);
      }
      case 'custom': {
        const input = item.input ?? '';
        return (
          this.#frames.write('response.custom_tool_call_input.delta', { ...at, delta: input }) +
          this.#frames.write('response.custom_tool_call_input.done', { ...at, input }) +
          this.#done(item)
        );
      }
      default:
        return this.#added(callItem(call, 'in_progress')) + this.#done(item);
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
    const id = this.#createId('ws_');
    const item = searchItem(id, grounding, { namesSources: namesSources || isLast, namesResults });
    return (
      this.#added({ ...item, status: 'in_progress' }) +
      this.#steps(['in_progress', 'searching', 'completed'], this.#at(id), 'web_search_call') +
      this.#done(item)
    );
  }

  /**
   * Why an answer was withheld, as a message of its own: clients that know no refusals keep the text that came before
   * it. A refused prompt has no answer: its response has failed and says why itself.
   */
  #writeRefusal(end: ChoiceEnd | undefined): string {
    const refusal = end?.reason === 'safety' ? blockMessage(end)?.text : undefined;
    if (refusal === undefined) return '';
    const id = this.#createId('msg_');
    const at = { ...this.#at(id), content_index: 0 };
    const part = { type: 'refusal', refusal };
    const frames = this.#frames;
    return (
      this.#added(messageItem(id, 'in_progress', [])) +
      frames.write('response.content_part.added', { ...at, part: { ...part, refusal: '' } }) +
      frames.write('response.refusal.delta', { ...at, delta: refusal }) +
      frames.write('response.refusal.done', { ...at, refusal }) +
      frames.write('response.content_part.done', { ...at, part }) +
      this.#done(messageItem(id, 'completed', [part]))
    );
  }

  #at(id: string): JsonObject {
    return { item_id: id, output_index: this.done.length };
  }

  #added(item: JsonObject): string {
    const fields = { output_index: this.done.length, item };
    return this.#frames.write('response.output_item.added', fields);
  }

  #done(item: JsonObject): string {
    const fields = { output_index: this.done.length, item };
    this.done.push(item);
    return this.#frames.write('response.output_item.done', fields);
  }

  /** The events of a kind of items between `added` and `done`. */
  #steps(steps: readonly string[], at: JsonObject, kind: string): string {
    return steps.map((step) => this.#frames.write(`response.${kind}.${step}`, at)).join('');
  }
}

function append({ text, delta }: OpenText, piece: string): string {
  if (piece === '') return '';
  text.add(piece);
  return delta(piece);
}

/** The citations of this message's text, in the flat form of this surface. */
function annotationsOf(
  { content, textStart }: OpenMessage,
  grounding: GroundingEvent | undefined,
): JsonObject[] {
  if (grounding === undefined) return [];
  const textEnd = textStart + content.modelLength;
  const citations = grounding.citations.filter(
    ({ startIndex, endIndex }) => startIndex >= textStart && endIndex <= textEnd,
  );
  // Without any citation all sources stand for the whole.
  if (citations.length === 0 && grounding.citations.length > 0) return [];
  return writeAnnotations({ ...grounding, citations }, content, textStart).map(
    ({ url_citation: citation }) => ({ type: 'url_citation', ...citation }),
  );
}

function textPart(text: string, annotations: JsonObject[], logprobs: JsonObject[]): JsonObject {
  return { type: 'output_text', text, annotations, logprobs };
}

/** `parts` are empty while the message has none. */
function messageItem(
  id: string,
  status: 'in_progress' | 'completed' | 'incomplete',
  parts: JsonObject[],
): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content: parts };
}

function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text };
}

/** Without text there is only the proof. */
function reasoningItem(id: string, text: string, proof: string | undefined): JsonObject {
  const summary = text === '' ? [] : [summaryPart(text)];
  const item = { id, type: 'reasoning', summary };
  return proof === undefined ? item : { ...item, encrypted_content: proof };
}

function callItem(
  { id, callId, tool, text }: OpenCall,
  status: 'in_progress' | 'completed',
): JsonObject {
  const { type, isStreamed, fill } = CALL_ITEMS[tool.form];
  const { name, namespace } = tool;
  return {
    id,
    type,
    status,
    call_id: callId,
    ...(isStreamed === true ? { name } : {}),
    ...(isStreamed !== true || namespace === undefined ? {} : { namespace }),
    ...fill(text.toString(), status === 'completed'),
  };
}

/** `sources` and `results` only where they are asked for. */
function searchItem(
  id: string,
  { queries, sources }: GroundingEvent,
  { namesSources, namesResults }: Pick<ResponseSettings, 'namesSources' | 'namesResults'>,
): JsonObject {
  return {
    id,
    type: 'web_search_call',
    status: 'completed',
    action: {
      type: 'search',
      query: queries[0] ?? '',
      queries: [...queries],
      ...(namesSources ? { sources: sources.map(({ url }) => ({ type: 'url', url })) } : {}),
    },
    ...(namesResults ? { results: sources.map(({ url, title }) => ({ url, title })) } : {}),
  };
}

function drawingItem(
  id: string,
  status: 'in_progress' | 'completed' | 'failed',
  base64: string | null,
): JsonObject {
  return { id, type: 'image_generation_call', status, result: base64 };
}

/**
 * The items of a summary: one compaction item, whole at its end. Half a summary is none, as the conversation could
 * not go on from it; thoughts about it are of no use.
 */
export class SummaryItems {
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
