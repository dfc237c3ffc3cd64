// Writes canonical events as the Messages event stream: one open block at a time, rising indices.
// Source: Messages API, "Streaming"; TypeScript SDK `lib/MessageStream.js`.

import type {
  BlockDeltaEvent,
  BlockOpening,
  CanonicalEvent,
  ChoiceEnd,
  FinishEvent,
} from '../../canonical/event.ts';
import { type FetchedPage, type GroundingEvent, searchCount } from '../../canonical/grounding.ts';
import { PARAGRAPH } from '../../canonical/media.ts';
import type { Signature } from '../../canonical/request.ts';
import { writeServiceTier } from '../../canonical/service-tier.ts';
import { writeCarrier } from '../../canonical/signatures.ts';
import { blockMessage, sourceTitle, writeCodeText } from '../../canonical/text-forms.ts';
import {
  cacheWriteTokens,
  inputTokens,
  NO_USAGE,
  outputTokens,
  type Usage,
} from '../../canonical/usage.ts';
import type { JsonValue } from '../../lib/json.ts';
import { flattenString } from '../../lib/long-text.ts';
import { EVENT_STREAM_TYPE, eventFrame, eventStart, FRAME_END } from '../../stream/sse.ts';
import type { ReplyContext, StreamWriter } from '../writers.ts';
import { writeStreamError } from './errors.ts';

type WholeOpening = Exclude<BlockOpening, { kind: 'text' | 'thinking' | 'tool-call' }>;

/** A text, and the sources of what it says where it cites any. */
type TextBlock = {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: ReturnType<typeof writeCitations>;
};

/** Images are an extension of the protocol; other media have no place in it and are only named. */
export function writeWholeBlock(opening: WholeOpening) {
  // Clients join the texts of an answer, and a fence stands on a line of its own.
  if (opening.kind !== 'media') return textBlock(PARAGRAPH + writeCodeText(opening) + PARAGRAPH);
  const { mediaType, base64 } = opening;
  if (!mediaType.startsWith('image/')) return textBlock(`[${mediaType} cannot be shown here]`);
  const source = { type: 'base64', media_type: mediaType, data: base64 } as const;
  return { type: 'image', source } as const;
}

function textBlock(text: string): TextBlock {
  return { type: 'text', text };
}

/**
 * Pages that were opened and a web search as the protocol shows them, behind the text they served: calls, their
 * results, and a text naming query and sources for clients that read text only. Empty when there were none.
 */
export function writeSearch(
  grounding: GroundingEvent,
  { createId }: Pick<ReplyContext, 'createId'>,
  { isFormatted = false }: WriterOptions,
) {
  const { queries, sources, pages = [], isEarly = false } = grounding;
  // Of a step that ends in a call only the queries are known: there is nothing to read yet.
  const isToldInText = !isFormatted && !isEarly && queries.length + sources.length > 0;
  return [
    ...pages.flatMap((page) => writeFetchedPage(page, serviceId(createId))),
    ...(searchCount(grounding) === 0 ? [] : writeSearchCall(grounding, serviceId(createId))),
    ...(isToldInText ? [writeSources(grounding)] : []),
  ];
}

/** Without hyphens: such an id is `^srvtoolu_[a-zA-Z0-9_]+$` (API reference, `ServerToolUseBlock`). */
function serviceId(createId: ReplyContext['createId']): string {
  return createId('srvtoolu_').replaceAll('-', '_');
}

/** Who made a call: required on blocks of calls (`@anthropic-ai/sdk` messages.d.ts; `anthropic-java` throws without it). */
export const CALLER = { type: 'direct' } as const;
const DIRECT = JSON.stringify(CALLER);

function writeSearchCall({ queries, sources }: GroundingEvent, id: string) {
  const input = { query: queries.join('; ') };
  const content = sources.map((source) => ({
    type: 'web_search_result' as const,
    url: source.url,
    title: sourceTitle(source),
    encrypted_content: '',
    page_age: null,
  }));
  return [
    { type: 'server_tool_use', id, caller: CALLER, name: 'web_search', input },
    { type: 'web_search_tool_result', tool_use_id: id, caller: CALLER, content },
  ] as const;
}

const FETCH_ERRORS = {
  unreachable: 'url_not_accessible',
  refused: 'url_not_allowed',
  unknown: 'unavailable',
} as const;

/** Upstreams tell that a page was read, and not what it says: its document is empty. */
function writeFetchedPage({ url, outcome }: FetchedPage, id: string) {
  const document = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: '' },
    title: null,
    citations: { enabled: false },
  } as const;
  const content =
    outcome === 'read'
      ? ({ type: 'web_fetch_result', url, retrieved_at: null, content: document } as const)
      : ({ type: 'web_fetch_tool_result_error', error_code: FETCH_ERRORS[outcome] } as const);
  return [
    { type: 'server_tool_use', id, caller: CALLER, name: 'web_fetch', input: { url } },
    { type: 'web_fetch_tool_result', tool_use_id: id, caller: CALLER, content },
  ] as const;
}

/** What of it the client asked for; undefined when there is nothing to report. */
export function shownGrounding(
  grounding: GroundingEvent | undefined,
  { fetchesPages = false }: WriterOptions,
): GroundingEvent | undefined {
  if (grounding === undefined) return undefined;
  const { pages, ...search } = grounding;
  if (fetchesPages && pages !== undefined) return grounding;
  return search.queries.length + search.sources.length === 0 ? undefined : search;
}

function writeSources(grounding: GroundingEvent): TextBlock {
  const { queries, sources, pages } = grounding;
  const read = pages === undefined ? 'Searched the web' : 'Read on the web';
  const searched = queries.length === 0 ? read : `Searched: ${queries.join('; ')}`;
  const list = sources.map(
    (source, index) => `${index + 1}. ${sourceTitle(source)} - ${source.url}`,
  );
  const citations = writeCitations(grounding);
  return {
    type: 'text',
    text: ['\n', searched, ...list].join('\n'),
    ...(citations.length === 0 ? {} : { citations }),
  };
}

/** The passages of the answer, each with the sources that support it. */
function writeCitations({ citations, sources }: GroundingEvent) {
  return citations.flatMap((citation) =>
    citation.sources.flatMap((index) => {
      const source = sources[index];
      if (source === undefined) return [];
      return {
        type: 'web_search_result_location' as const,
        url: source.url,
        title: sourceTitle(source),
        encrypted_index: '',
        cited_text: citation.text,
      };
    }),
  );
}

/**
 * The usage of `message_delta`: the cumulative truth, whatever `message_start` said. Cached tokens are not part
 * of `input_tokens`: the whole prompt is the sum of the three.
 */
export function writeFinalUsage(usage: Usage, grounding: GroundingEvent | undefined) {
  const searches = grounding === undefined ? 0 : searchCount(grounding);
  const fetches = grounding?.pages?.length ?? 0;
  return {
    ...writeCounts(usage),
    output_tokens_details: { thinking_tokens: usage.thoughtTokens },
    ...(searches + fetches === 0
      ? {}
      : { server_tool_use: { web_search_requests: searches, web_fetch_requests: fetches } }),
  };
}

function writeCounts(usage: Usage) {
  return {
    input_tokens: Math.max(0, inputTokens(usage) - usage.cachedTokens - cacheWriteTokens(usage)),
    cache_creation_input_tokens: cacheWriteTokens(usage),
    cache_read_input_tokens: usage.cachedTokens,
    output_tokens: outputTokens(usage),
  };
}

/** How long written caches are kept: of whole answers and `message_start`, where the upstream says it. */
export function writeCacheWrites({ cacheWrites }: Usage) {
  if (cacheWrites?.hourTokens === undefined) return {};
  const { tokens, hourTokens } = cacheWrites;
  return {
    cache_creation: {
      ephemeral_5m_input_tokens: tokens - hourTokens,
      ephemeral_1h_input_tokens: hourTokens,
    },
  };
}

/** The usual one where nobody says, or the protocol has no word for it (`@anthropic-ai/sdk` messages.d.ts, `Usage`). */
export function writeTier(serviceTier: string | undefined) {
  const word = writeServiceTier(serviceTier, ['standard', 'priority', 'batch']);
  return word === undefined ? USUAL_TIER : { service_tier: word };
}

const USUAL_TIER = { service_tier: 'standard' } as const;

export const NO_END: ChoiceEnd = { choice: 0, reason: 'stop' };

const STOP_REASONS = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  'max-tokens': 'max_tokens',
  'stop-sequence': 'stop_sequence',
  safety: 'refusal',
  'prompt-blocked': 'refusal',
} as const;

/** A call decides over every reason but safety: an agent must not stop with its call unanswered. */
export function writeStop(end: ChoiceEnd, hasToolCall: boolean) {
  const own = STOP_REASONS[end.reason];
  const reason = hasToolCall && own !== 'refusal' ? 'tool_use' : own;
  const explanation = reason === 'refusal' ? (blockMessage(end)?.text ?? null) : null;
  return {
    stop_reason: reason,
    stop_sequence: reason === 'stop_sequence' ? (end.stopSequence ?? null) : null,
    stop_details: reason === 'refusal' ? { type: reason, category: null, explanation } : null,
  };
}

export interface WriterOptions {
  /** True when thinking is answered as signature only (`display:"omitted"`). */
  readonly omitsThinking: boolean;
  /** True when the client declared a tool that opens pages. */
  readonly fetchesPages?: boolean | undefined;
  /** True when the client gave the text of the answer a form: no other text stands beside it, as its helpers read all. */
  readonly isFormatted?: boolean | undefined;
}

/** The canonical block being written. Text and thinking open with their first content. */
interface OpenBlock {
  readonly source: number;
  readonly kind: 'text' | 'thinking' | 'tool-call' | 'whole';
  isStarted: boolean;
}

const START = blockEvent('content_block_start');
const DELTA = blockEvent('content_block_delta');
const DELTA_END = `}}${FRAME_END}`;
const STOP = blockEvent('content_block_stop');
const TEXT_DELTA = ',"delta":{"type":"text_delta","text":';
const THINKING_DELTA = ',"delta":{"type":"thinking_delta","thinking":';
const SIGNATURE_DELTA = ',"delta":{"type":"signature_delta","signature":';
const INPUT_DELTA = ',"delta":{"type":"input_json_delta","partial_json":';
const CITATION_DELTA = ',"delta":{"type":"citations_delta","citation":';
export const EMPTY_TEXT = '{"type":"text","text":""}';
export const EMPTY_THINKING = '{"type":"thinking","thinking":"","signature":""}';
export const MESSAGE_STOP = eventFrame('message_stop', '{"type":"message_stop"}');
export const PING = eventFrame('ping', '{"type":"ping"}');

/** Only choice 0 is written: the protocol has one answer. */
export class MessagesWriter implements StreamWriter {
  readonly contentType = EVENT_STREAM_TYPE;
  readonly #context: ReplyContext;
  readonly #options: WriterOptions;
  #nextIndex = 0;
  #open: OpenBlock | undefined;
  #usage = NO_USAGE;
  #grounding: GroundingEvent | undefined;
  #hasToolCall = false;
  /** The signature of the thinking block directly before; a call need not repeat it. */
  #carried: string | undefined;

  constructor(context: ReplyContext, options: WriterOptions) {
    this.#context = context;
    this.#options = options;
  }

  keepAlive(): string {
    return PING;
  }

  write(event: CanonicalEvent): string {
    switch (event.kind) {
      case 'start':
        this.#usage = event.usage ?? NO_USAGE;
        return writeMessageStart(this.#context, this.#usage, event.serviceTier);
      case 'block-start':
        return event.choice === 0 ? this.#openBlock(event.index, event.block) : '';
      case 'block-delta':
        return this.#writeDelta(event);
      case 'block-end':
        return this.#open?.source === event.index ? this.#closeBlock(event.signature) : '';
      case 'grounding':
        if (event.choice === 0) this.#grounding = shownGrounding(event, this.#options);
        return '';
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

  #openBlock(source: number, opening: BlockOpening): string {
    const tail = this.#closeBlock(undefined);
    const carried = this.#carried;
    this.#carried = undefined;
    switch (opening.kind) {
      case 'text':
      case 'thinking':
        this.#open = { source, kind: opening.kind, isStarted: false };
        return tail;
      case 'tool-call': {
        this.#hasToolCall = true;
        this.#open = { source, kind: 'tool-call', isStarted: true };
        const id = JSON.stringify(opening.id);
        const name = JSON.stringify(opening.name);
        const carrier = callCarrier(opening.signature, carried);
        const extension = carrier === undefined ? '' : `,"signature":${JSON.stringify(carrier)}`;
        const block = `{"type":"tool_use","id":${id},"caller":${DIRECT},"name":${name},"input":{}${extension}}`;
        return tail + startText(this.#nextIndex, block);
      }
      default:
        this.#open = { source, kind: 'whole', isStarted: true };
        return tail + wholeText(this.#nextIndex, writeWholeBlock(opening));
    }
  }

  #writeDelta({ index, delta }: BlockDeltaEvent): string {
    const open = this.#open;
    const text = delta.kind === 'arguments' ? delta.json : delta.text;
    if (open === undefined || open.source !== index || text === '') return '';
    switch (open.kind) {
      case 'text':
        return this.#begin(open, EMPTY_TEXT) + deltaText(this.#nextIndex, TEXT_DELTA, text);
      case 'thinking': {
        const begin = this.#begin(open, EMPTY_THINKING);
        if (this.#options.omitsThinking) return begin;
        return begin + deltaText(this.#nextIndex, THINKING_DELTA, text);
      }
      case 'tool-call':
        return deltaText(this.#nextIndex, INPUT_DELTA, text);
      case 'whole':
        return '';
      default:
        return open.kind satisfies never;
    }
  }

  #begin(open: OpenBlock, block: string): string {
    if (open.isStarted) return '';
    open.isStarted = true;
    return startText(this.#nextIndex, block);
  }

  #closeBlock(signature: Signature | undefined): string {
    const open = this.#open;
    if (open === undefined) return '';
    this.#open = undefined;
    let text = '';
    if (open.kind === 'thinking' && signature !== undefined) {
      this.#carried = signature.value;
      text = this.#begin(open, EMPTY_THINKING);
      text += deltaText(this.#nextIndex, SIGNATURE_DELTA, writeCarrier(signature));
    }
    return open.isStarted ? text + stopText(this.#nextIndex++) : text;
  }

  #finish(event: FinishEvent): string {
    const end = event.choices[0] ?? NO_END;
    const tail = this.#closeBlock(undefined);
    let search = '';
    if (this.#grounding !== undefined) {
      for (const block of writeSearch(this.#grounding, this.#context, this.#options)) {
        search += writeSearchBlock(block, this.#nextIndex++);
      }
    }
    const stop = JSON.stringify(writeStop(end, this.#hasToolCall));
    const usage = JSON.stringify(writeFinalUsage(this.#usage, this.#grounding));
    const delta = `{"type":"message_delta","delta":${stop},"usage":${usage}}`;
    return tail + search + eventFrame('message_delta', delta) + MESSAGE_STOP;
  }
}

/** An extension: a call's signature stands on the call itself unless the thinking block before it carries it. */
export function callCarrier(
  signature: Signature | undefined,
  before: string | undefined,
): string | undefined {
  if (signature === undefined || signature.value === before) return undefined;
  return writeCarrier(signature);
}

/**
 * `message_start` carries the usage of the prompt as far as it is known. Nothing is written yet, whatever the
 * upstream counted by then: `message_delta` counts it all, and some clients add the two.
 */
export function writeMessageStart(
  context: ReplyContext,
  usage: Usage,
  serviceTier?: string,
): string {
  const id = JSON.stringify(context.createId('msg_'));
  const model = JSON.stringify(context.model);
  const isCounted = inputTokens(usage) > 0;
  const promptTokens = isCounted ? usage.promptTokens : (context.estimatePrompt?.() ?? 0);
  const counts = JSON.stringify({
    ...writeCounts({ ...usage, promptTokens }),
    ...(usage.cacheWrites && writeCacheWrites(usage)),
    output_tokens: 0,
    ...(serviceTier === undefined ? USUAL_TIER : writeTier(serviceTier)),
  });
  const message = `{"id":${id},"type":"message","role":"assistant","model":${model},"content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":${counts}}`;
  return eventFrame('message_start', `{"type":"message_start","message":${message}}`);
}

/** An event of one block up to the block's index. */
function blockEvent(name: string): string {
  return flattenString([eventStart(name), `{"type":"${name}","index":`]);
}

/** Everything of a whole block but its end; texts go into a delta, where all clients look for them. */
function wholeText(index: number, block: ReturnType<typeof writeWholeBlock>): string {
  if (block.type !== 'text') return startText(index, JSON.stringify(block));
  return startText(index, EMPTY_TEXT) + deltaText(index, TEXT_DELTA, block.text);
}

/** A block known whole at the end of the answer, with its parts in the deltas they belong in. */
function writeSearchBlock(block: ReturnType<typeof writeSearch>[number], index: number): string {
  switch (block.type) {
    case 'server_tool_use': {
      const start = startText(index, JSON.stringify({ ...block, input: {} }));
      return start + deltaText(index, INPUT_DELTA, JSON.stringify(block.input)) + stopText(index);
    }
    case 'text': {
      const text = wholeText(index, block);
      const citations = (block.citations ?? []).map((it) => deltaText(index, CITATION_DELTA, it));
      return text + citations.join('') + stopText(index);
    }
    default:
      return startText(index, JSON.stringify(block)) + stopText(index);
  }
}

export function startText(index: number, block: string): string {
  return `${START}${index},"content_block":${block}}${FRAME_END}`;
}

function deltaText(index: number, field: string, value: JsonValue): string {
  return `${DELTA}${index}${field}${JSON.stringify(value)}${DELTA_END}`;
}

export function stopText(index: number): string {
  return `${STOP}${index}}${FRAME_END}`;
}
