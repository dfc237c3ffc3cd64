// Writes the events of one answer as a Responses stream, item by item, and builds the response object on the way.

import type { GatewayError } from '../../../canonical/error.ts';
import {
  type BlockDeltaEvent,
  type BlockEndEvent,
  type BlockOpening,
  type CanonicalEvent,
  type ChoiceEnd,
  readCallInput,
} from '../../../canonical/event.ts';
import type { Reply } from '../../../canonical/fold.ts';
import { type GroundingEvent, searchCount } from '../../../canonical/grounding.ts';
import type { Signature } from '../../../canonical/request.ts';
import { writeCarrier } from '../../../canonical/signatures.ts';
import { blockMessage } from '../../../canonical/text-forms.ts';
import { unfold } from '../../../canonical/unfold.ts';
import { NO_USAGE, type Usage } from '../../../canonical/usage.ts';
import { type JsonObject, sizeOf } from '../../../lib/json.ts';
import { KeptText } from '../../../lib/long-text.ts';
import type { ReplyContext, StreamWriter } from '../../writers.ts';
import {
  ContentText,
  type ShownBlock,
  STREAM,
  writeAnnotations,
  writeFreeformInput,
  writeLogprobs,
  writeMarkdown,
  writeTier,
} from '../answer-parts.ts';
import { writeErrorBody } from '../errors.ts';
import { compactionItem } from './read-input.ts';
import type { ResponseSettings } from './read-request.ts';
import {
  type Ending,
  endingOf,
  Frames,
  failureOf,
  responseObject,
  showsSomething,
} from './response-object.ts';
import type { CallForm, ToolIdentity } from './schema.ts';
import { CLIENT_TOOLS, completeClientCall } from './tools.ts';

/** What is done with a response that has ended: whole, or by an error. */
interface Keeper {
  /** False for what later requests will not find. */
  keep(response: JsonObject): boolean;
  fail(error: GatewayError, response: JsonObject): void;
}

/**
 * Rules of the stream (`openai` lib/responses/ResponseStream): `response.created` comes first, every
 * item is added, filled and done under one id, and a terminal event repeats the whole response.
 */
export class ResponsesWriter implements StreamWriter {
  readonly contentType = STREAM.contentType;
  readonly keepAlive = STREAM.keepAlive;
  readonly #context: ReplyContext;
  readonly #settings: ResponseSettings;
  readonly #keeper: Keeper | undefined;
  readonly #id: string;
  readonly #frames: Frames;
  readonly #items: OutputItems;
  readonly #hold: Hold | undefined;
  /** Blocks of other answers. */
  #others: Set<number> | undefined;
  #hasBegun: boolean;
  heldBytes = 0;
  #usage: Usage = NO_USAGE;
  #serviceTier: string | undefined;
  #ending: Ending = { status: 'in_progress' };
  #isKept = true;

  /** @param begun how many events the client has of it already */
  constructor(context: ReplyContext, settings: ResponseSettings, keeper?: Keeper, begun = 0) {
    this.#context = context;
    this.#settings = settings;
    this.#keeper = keeper;
    this.#hasBegun = begun > 0;
    this.#frames = new Frames(begun);
    this.#items = new OutputItems(context.createId, settings, this.#frames);
    this.#hold = createHold(settings, context);
    this.#id = context.createId('resp_');
  }

  /** The response object as it stands: final after `finish` or `error`. */
  get response(): JsonObject {
    const { createdAt, model } = this.#context;
    const echo = {
      ...this.#settings.echo,
      ...writeTier(this.#serviceTier),
      ...(!this.#isKept && { store: false }),
    };
    const head = { id: this.#id, createdAt, model, echo };
    const usage = this.#ending.status === 'in_progress' ? undefined : this.#usage;
    const { done, grounding } = this.#items;
    const { status } = this.#ending;
    const isBroken = status === 'failed' || status === 'cancelled';
    const output = isBroken ? [...done, ...this.#items.brokenOff()] : done;
    const searches = grounding === undefined ? 0 : searchCount(grounding);
    return responseObject(head, this.#ending, { output, usage, searches });
  }

  /** The whole stream of a response that is complete without an answer. */
  writeWarmUp(): string {
    const text = this.#begin();
    this.#ending = { status: 'completed', completedAt: this.#context.createdAt };
    this.#keep();
    const { response } = this;
    return text + this.#frames.write('response.completed', { response }) + this.#frames.rest();
  }

  write(event: CanonicalEvent): string {
    if (this.#isOfAnother(event)) return '';
    this.heldBytes += bytesOf(event, this.#settings);
    if (this.#hold === undefined) return this.#writeEvent(event);
    let text = '';
    for (const due of this.#hold(event)) text += this.#writeEvent(due);
    return text;
  }

  more(): string {
    return this.#frames.more();
  }

  /** Of its events none is wanted. */
  silence(): void {
    this.#frames.silence();
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
        this.#serviceTier = event.serviceTier;
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
    const { response } = this;
    const created = this.#hasBegun ? '' : this.#frames.write('response.created', { response });
    this.#hasBegun = true;
    return created + this.#frames.write('response.in_progress', { response });
  }

  #finish(end: ChoiceEnd | undefined): string {
    const begun = this.#hasBegun ? '' : this.#begin();
    const closing = begun + this.#items.end(end);
    const hasContent = this.#items.done.some(showsSomething);
    this.#ending = endingOf(end, { hasContent, at: this.#context.createdAt });
    this.#keep();
    const { response } = this;
    return closing + this.#frames.write(`response.${this.#ending.status}`, { response });
  }

  #keep(): void {
    this.#isKept = this.#keeper?.keep(this.response) ?? true;
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

/** Writes a finished answer as a response object, by the same rules as its stream. */
export function writeResponse(reply: Reply, writer: ResponsesWriter): JsonObject {
  writer.silence();
  for (const event of unfold(reply)) writer.write(event);
  return writer.response;
}

/** How the ids of calls begin, by how their tool was declared. */
const CALL_PREFIXES: Readonly<Record<CallForm, string>> = {
  function: 'fc_',
  custom: 'ctc_',
  local_shell: 'lsh_',
  shell: 'sh_',
  apply_patch: 'apc_',
  tool_search: 'tsc_',
};

/** An item that was added and is not done. */
interface OpenItem {
  readonly kind: 'message' | 'reasoning' | 'call' | 'drawing';
  /** A piece of its text, thoughts or arguments; an unfinished picture of a drawing. */
  add(piece: string): string;
  /** `ending` is the proof of thoughts, or the finished picture of a drawing. */
  close(ending: string | undefined, end: ChoiceEnd | undefined): string;
  /** What there is of it where the answer breaks off. A call or a picture that was cut is none. */
  brokenOff?(): JsonObject | undefined;
}

interface OpenMessage extends OpenItem {
  readonly kind: 'message';
  /** Adds something that is no text of the model's, as a paragraph of its own. */
  show(block: ShownBlock): string;
}

type CallOpening = Extract<BlockOpening, { kind: 'tool-call' }>;
type MediaOpening = Extract<BlockOpening, { kind: 'media' }>;

/** The kind of item that takes a delta. */
const TAKERS = { text: 'message', thinking: 'reasoning', arguments: 'call' } as const;

/** Every item is added, filled and done under one id; at most one is open. Answers are frames. */
class OutputItems {
  /** The items that are done. */
  readonly done: JsonObject[] = [];
  /** What the answer is told to rest on: sources for the message that is open, and for the search. */
  grounding: GroundingEvent | undefined;
  readonly #createId: ReplyContext['createId'];
  readonly #settings: ResponseSettings;
  readonly #frames: Frames;
  #open: OpenMessage | (OpenItem & { kind: 'reasoning' | 'call' | 'drawing' }) | undefined;
  /** The queries whose search is written, and how many of the sources are those of these. */
  readonly #searched = new Set<string>();
  #namedSources = 0;
  /** True when a message was done before it was known what its text cites. */
  #isUncited = false;
  /** The proof that stands on a reasoning item already. */
  #lastProof: string | undefined;
  /** Deferred tools whose search is written. */
  readonly #found = new Set<JsonObject>();
  /** Of the messages that are done. */
  #textLength = 0;
  /** The text of an answer that is a summary. */
  readonly #summary = new KeptText();

  constructor(createId: ReplyContext['createId'], settings: ResponseSettings, frames: Frames) {
    this.#createId = createId;
    this.#settings = settings;
    this.#frames = frames;
  }

  openBlock(block: BlockOpening): string {
    if (this.#settings.isSummary) return '';
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
    const piece = delta.kind === 'arguments' ? delta.json : delta.text;
    if (this.#settings.isSummary) {
      if (delta.kind === 'text') this.#summary.add(piece);
      return '';
    }
    if (this.#open?.kind === TAKERS[delta.kind]) return this.#open.add(piece);
    throw new Error(`A ${delta.kind} delta came while no such block was open.`);
  }

  /** A message stays open: citations may follow its text. */
  endBlock({ signature }: BlockEndEvent): string {
    const kind = this.#open?.kind;
    return kind === 'reasoning' || kind === 'call' ? this.#closeItem(this.#proofOf(signature)) : '';
  }

  /** What is open where the answer breaks off. It is no event: clients keep items that are done when they ask again. */
  brokenOff(): readonly JsonObject[] {
    const item = this.#open?.brokenOff?.();
    return item === undefined ? [] : [item];
  }

  /** What is open is done; the answer has ended. */
  end(end: ChoiceEnd | undefined): string {
    if (this.#settings.isSummary) return this.#writeSummary(end);
    return this.#closeItem(undefined, end) + this.#writeSearch() + this.#writeRefusal(end);
  }

  /** Text goes on in the message that is open; a search known by now stands before it. */
  #openMessage(): { readonly message: OpenMessage; readonly text: string } {
    if (this.#open?.kind === 'message') return { message: this.#open, text: '' };
    const before = this.#closeItem() + this.#writeKnownSearch();
    const frames = this.#frames;
    const { id, at } = this.#place('msg_', { content_index: 0 });
    const delta = frames.deltas('response.output_text.delta', { ...at, logprobs: [] });
    const whole = new KeptText();
    const content = new ContentText();
    /** Where its text begins in the model's whole text, in UTF-16 units. */
    const textStart = this.#textLength;
    const append = (piece: string): string => {
      if (piece === '') return '';
      whole.add(piece);
      return delta(piece);
    };
    const partOf = (logprobs: JsonObject[]) => {
      const annotations = annotationsOf(content, textStart, this.grounding);
      return { type: 'output_text', text: whole.toString(), annotations, logprobs };
    };
    const message: OpenMessage = {
      kind: 'message',
      add: (piece) => append(content.addText(piece)),
      show: (block) => append(content.addBlock(writeMarkdown(block))),
      close: (_ending, end) => {
        this.#textLength += content.modelLength;
        this.#isUncited ||= this.grounding === undefined;
        const rated = this.#settings.hasLogprobs && end !== undefined ? writeLogprobs(end) : null;
        const part = partOf(rated?.content ?? []);
        const { text, annotations, logprobs } = part;
        let closing = '';
        for (const [index, annotation] of annotations.entries()) {
          const fields = { ...at, annotation_index: index, annotation };
          closing += frames.write('response.output_text.annotation.added', fields);
        }
        closing += frames.write('response.output_text.done', { ...at, text, logprobs });
        closing += frames.write('response.content_part.done', { ...at, part });
        const isCut = end?.reason === 'max-tokens' || end?.reason === 'safety';
        return closing + this.#done(messageItem(id, isCut ? 'incomplete' : 'completed', [part]));
      },
      brokenOff: () =>
        whole.length === 0 ? undefined : messageItem(id, 'incomplete', [partOf([])]),
    };
    this.#open = message;
    const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    const added = this.#added(messageItem(id, 'in_progress', []));
    return {
      message,
      text: before + added + frames.write('response.content_part.added', { ...at, part }),
    };
  }

  #showBlock(block: ShownBlock): string {
    const { message, text } = this.#openMessage();
    return text + message.show(block);
  }

  #openReasoning(): string {
    const frames = this.#frames;
    const { id, at } = this.#place('rs_', { summary_index: 0 });
    const delta = frames.deltas('response.reasoning_summary_text.delta', at);
    const whole = new KeptText();
    this.#open = {
      kind: 'reasoning',
      add: (piece) => {
        if (!this.#settings.showsThoughts || piece === '') return '';
        const part = { ...at, part: summaryPart('') };
        const isFirst = whole.length === 0;
        const begun = isFirst ? frames.write('response.reasoning_summary_part.added', part) : '';
        whole.add(piece);
        return begun + delta(piece);
      },
      close: (proof) => {
        this.#lastProof = proof;
        const text = whole.toString();
        const item = reasoningItem(id, text, proof);
        if (text === '') return this.#done(item);
        const part = { ...at, part: summaryPart(text) };
        return (
          frames.write('response.reasoning_summary_text.done', { ...at, text }) +
          frames.write('response.reasoning_summary_part.done', part) +
          this.#done(item)
        );
      },
      brokenOff: () =>
        whole.length === 0
          ? undefined
          : { ...reasoningItem(id, whole.toString(), undefined), status: 'incomplete' },
    };
    return this.#added(reasoningItem(id, '', undefined));
  }

  #proofOf(signature: Signature | undefined): string | undefined {
    if (signature === undefined || !this.#settings.carriesReasoning) return undefined;
    return writeCarrier(signature);
  }

  /** A call's proof travels on a reasoning item before it, unless the thoughts carry it already. */
  #openCall({ id: callId, name, signature }: CallOpening): string {
    const proof = this.#proofOf(signature);
    const isProved = proof === undefined || proof === this.#lastProof;
    const tool = this.#settings.directory.find(name) ?? { form: 'function' as const, name };
    const found = this.#writeFound(tool);
    const before = found + (isProved ? '' : this.#openReasoning() + this.#closeItem(proof));
    const frames = this.#frames;
    const { id, at } = this.#place(CALL_PREFIXES[tool.form]);
    const delta = frames.deltas('response.function_call_arguments.delta', at);
    const json = new KeptText();
    const itemOf = (status: 'in_progress' | 'completed'): JsonObject =>
      callItem({ id, status, call_id: callId }, tool, json.toString());
    this.#open = {
      kind: 'call',
      add: (piece) => {
        json.add(piece);
        return tool.form === 'function' && piece !== '' ? delta(piece) : '';
      },
      close: () => {
        const item = itemOf('completed');
        switch (tool.form) {
          case 'function': {
            const late = json.length === 0 ? delta('{}') : '';
            const whole = { ...at, name: tool.name, arguments: item.arguments ?? '' };
            const done = frames.write('response.function_call_arguments.done', whole);
            return late + done + this.#done(item);
          }
          case 'custom': {
            const input = item.input ?? '';
            return (
              frames.write('response.custom_tool_call_input.delta', { ...at, delta: input }) +
              frames.write('response.custom_tool_call_input.done', { ...at, input }) +
              this.#done(item)
            );
          }
          default:
            return this.#added(itemOf('in_progress')) + this.#done(item);
        }
      },
    };
    // Calls of other forms are one object, and nothing of it is known before it is whole.
    const isStreamed = tool.form === 'function' || tool.form === 'custom';
    return isStreamed ? before + this.#added(itemOf('in_progress')) : before;
  }

  /** Unfinished images as they arrive, then the final one (`openai` responses, `ResponseImageGenCallPartialImageEvent`). */
  #draw({ base64, isDraft }: MediaOpening): string {
    const begun = this.#open?.kind === 'drawing' ? '' : this.#openDrawing();
    return begun + (isDraft === true ? (this.#open?.add(base64) ?? '') : this.#closeItem(base64));
  }

  #openDrawing(): string {
    const before = this.#closeItem();
    const { id, at } = this.#place('ig_');
    let shown = 0;
    this.#open = {
      kind: 'drawing',
      add: (base64) => {
        if (shown >= this.#settings.drafts) return '';
        const draft = { ...at, partial_image_index: shown, partial_image_b64: base64 };
        shown += 1;
        return this.#frames.write('response.image_generation_call.partial_image', draft);
      },
      close: (picture) => {
        // Without a picture the drawing failed.
        if (picture === undefined) return this.#done(drawingItem(id, 'failed', null));
        const completed = this.#steps(['completed'], at, 'image_generation_call');
        return completed + this.#done(drawingItem(id, 'completed', picture));
      },
    };
    const added = this.#added(drawingItem(id, 'in_progress', null));
    return before + added + this.#steps(['in_progress', 'generating'], at, 'image_generation_call');
  }

  #closeItem(ending?: string, end?: ChoiceEnd): string {
    const open = this.#open;
    this.#open = undefined;
    return open?.close(ending, end) ?? '';
  }

  /** A search that is known before what it led to; one that is to name what it found waits for that. */
  #writeKnownSearch(): string {
    const { namesSources, namesResults } = this.#settings;
    const { isEarly = false, sources = [] } = this.grounding ?? {};
    const waits = isEarly && (namesSources || namesResults) && sources.length <= this.#namedSources;
    return waits ? '' : this.#writeSearch();
  }

  /** The model was shown all tools; clients refuse a call to a deferred one that no search has found (`@openai/agents`). */
  #writeFound({ name, namespace, deferred }: ToolIdentity): string {
    if (deferred === undefined || !this.#settings.searchesTools || this.#found.has(deferred))
      return '';
    this.#found.add(deferred);
    const head = { call_id: null, execution: 'server', status: 'completed' };
    const holder = { type: 'namespace', name: namespace ?? '', description: '', tools: [deferred] };
    const tools = [namespace === undefined ? deferred : holder];
    const search = { ...head, arguments: { paths: [namespace ?? name] } };
    return (
      this.#whole({ id: this.#createId('tsc_'), type: 'tool_search_call', ...search }) +
      this.#whole({ id: this.#createId('tso_'), type: 'tool_search_output', ...head, tools })
    );
  }

  /** An item that is done as soon as it is there. */
  #whole(item: JsonObject): string {
    return this.#added({ ...item, status: 'in_progress' }) + this.#done(item);
  }

  /** Where no message could name the sources, as nobody asked for a search, the search itself names them. */
  #writeSearch(): string {
    if (this.grounding === undefined) return '';
    const queries = this.grounding.queries.filter((query) => !this.#searched.has(query));
    const sources = this.grounding.sources.slice(this.#namedSources);
    const isLast = this.#isUncited && this.#searched.size === 0 && sources.length > 0;
    if (queries.length === 0 && !isLast) return '';
    for (const query of queries) this.#searched.add(query);
    this.#namedSources += sources.length;
    const { namesSources, namesResults } = this.#settings;
    const { id, at } = this.#place('ws_');
    const found = { queries, sources };
    const item = searchItem(id, found, { namesSources: namesSources || isLast, namesResults });
    return (
      this.#added({ ...item, status: 'in_progress' }) +
      this.#steps(['in_progress', 'searching', 'completed'], at, 'web_search_call') +
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
    const { id, at } = this.#place('msg_', { content_index: 0 });
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

  /**
   * One compaction item. Half a summary is none, as the conversation could not go on from it; thoughts about it are of
   * no use.
   */
  #writeSummary(end: ChoiceEnd | undefined): string {
    const summary = this.#summary.toString();
    if (end?.reason !== 'stop' || summary.trim() === '') return '';
    const item = compactionItem(this.#createId('cmp_'), summary);
    return this.#added(item) + this.#done(item);
  }

  /** Where the next item stands; `place` is where within it. */
  #place(prefix: string, place: JsonObject = {}): { readonly id: string; readonly at: JsonObject } {
    const id = this.#createId(prefix);
    return { id, at: { item_id: id, output_index: this.done.length, ...place } };
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

/** The citations of one message's text, in the flat form of this surface. */
function annotationsOf(
  content: ContentText,
  textStart: number,
  grounding: GroundingEvent | undefined,
): JsonObject[] {
  if (grounding === undefined || grounding.isEarly === true) return [];
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
  head: { readonly id: string; readonly status: string; readonly call_id: string },
  { form, name, namespace }: ToolIdentity,
  json: string,
): JsonObject {
  const isDone = head.status === 'completed';
  const type = form === 'custom' ? 'custom_tool_call' : `${form}_call`;
  const { id, ...rest } = head;
  const item = { id, type, ...rest };
  const named = namespace === undefined ? { ...item, name } : { ...item, name, namespace };
  switch (form) {
    case 'function':
      return { ...named, arguments: isDone && json === '' ? '{}' : json };
    case 'custom':
      return { ...named, input: isDone ? writeFreeformInput(readCallInput(json)) : '' };
    case 'tool_search':
      return { ...item, execution: 'client', arguments: readCallInput(json) };
    default: {
      const object = { [CLIENT_TOOLS[form].key]: completeClientCall(form, readCallInput(json)) };
      return { ...item, ...object, ...(form === 'shell' ? { environment: null } : {}) };
    }
  }
}

/** `sources` and `results` only where they are asked for. */
function searchItem(
  id: string,
  { queries, sources }: Pick<GroundingEvent, 'queries' | 'sources'>,
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

/** Of an item, beside what it says. */
const ITEM_BYTES = 512;

/** The last events repeat all that is shown. */
function bytesOf(event: CanonicalEvent, { showsThoughts }: ResponseSettings): number {
  if (event.kind === 'block-start') return ITEM_BYTES + sizeOf(event.block);
  if (event.kind !== 'block-delta') return 0;
  const { delta } = event;
  if (delta.kind === 'thinking' && !showsThoughts) return 0;
  return Buffer.byteLength(delta.kind === 'arguments' ? delta.json : delta.text);
}

/** Takes one event and gives those that are to be written now, in order. */
type Hold = (event: CanonicalEvent) => readonly CanonicalEvent[];

/** Undefined where nothing waits. */
function createHold(
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
function createCitationHold(): Hold {
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
