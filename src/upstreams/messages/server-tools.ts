// The tools that the real service runs: what they did, as canonical blocks and as one grounding of the answer, and going on
// with turns that it paused among them, which clients of other protocols cannot.

import type { BlockOpening } from '../../canonical/event.ts';
import {
  type Citation,
  type FetchedPage,
  type GroundingEvent,
  type GroundingSource,
  MAX_CITED_LENGTH,
  MAX_EARLY_SEARCHES,
} from '../../canonical/grounding.ts';
import { type JsonObject, type JsonValue, parseObject } from '../../lib/json.ts';
import { KeptText } from '../../lib/long-text.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import type { Frame } from '../../stream/sse.ts';
import { SERVER_TOOLS } from '../../wire/messages.ts';
import type { UpstreamCall, UpstreamStream } from '../upstream.ts';

/** Code that was run; undefined for calls that run none. Source: Messages API, "Code execution tool". */
export function readServerCall(
  { id, name }: JsonObject,
  input: JsonObject,
): BlockOpening | undefined {
  const own = textOf(id);
  switch (name) {
    case 'code_execution':
      return { kind: 'code', language: 'python', code: textOf(input.code) ?? '', id: own };
    case 'bash_code_execution':
      return { kind: 'code', language: 'bash', code: textOf(input.command) ?? '', id: own };
    case 'text_editor_code_execution':
      return { kind: 'code', language: 'json', code: JSON.stringify(input), id: own };
    default:
      return undefined;
  }
}

/** What came of it beside files, as text: what was printed, read or changed; undefined for results of other tools. */
export function readServerResult(type: string, block: JsonObject): BlockOpening | undefined {
  if (!type.endsWith('code_execution_tool_result')) return undefined;
  const id = textOf(block.tool_use_id);
  const content = objectOf(block.content) ?? {};
  const error = textOf(content.error_code);
  if (error !== undefined) {
    const outcome = error === 'execution_time_exceeded' ? 'timeout' : 'failed';
    return { kind: 'code-result', outcome, output: error, id };
  }
  const { stdout, stderr, return_code: code } = content;
  const output = [textOf(stdout), textOf(stderr)].filter((text) => text !== undefined).join('\n');
  const isPrinted = stdout !== undefined || stderr !== undefined;
  const changed = itemsOf(content.lines).flatMap((line) => textOf(line) ?? []);
  return {
    kind: 'code-result',
    outcome: typeof code === 'number' && code !== 0 ? 'failed' : 'ok',
    output: isPrinted ? output : (textOf(content.content) ?? changed.join('\n')),
    id,
  };
}

const FETCH_OUTCOMES: ReadonlyMap<string, FetchedPage['outcome']> = new Map([
  ['url_not_accessible', 'unreachable'],
  ['url_not_allowed', 'refused'],
]);

/** Searches, pages and citations of one answer, as they come. */
export class Research {
  readonly #placesCitations: boolean;
  readonly #queries: string[] = [];
  /** By address; the first title counts. */
  readonly #sources = new Map<string, GroundingSource & { readonly index: number }>();
  readonly #citations: Citation[] = [];
  readonly #pages = new Map<string, FetchedPage>();
  /** Addresses that were asked for, by the id of the call. */
  readonly #asked = new Map<string, string>();
  /** Of the text block that is being sent: its words, and the sources it cites. */
  #text = new KeptText(MAX_CITED_LENGTH);
  #cited = new Set<number>();
  /** Of the passages that are cited. */
  #citedBytes = 0;
  /** How many searches told what they found. */
  #results = 0;

  constructor(placesCitations: boolean) {
    this.#placesCitations = placesCitations;
  }

  /** What sources and pages are is small beside what came with them, which is kept elsewhere. */
  get heldBytes(): number {
    return this.#text.heldBytes + this.#citedBytes;
  }

  /** A search is told as soon as it is known: some clients show it before the words it led to. */
  call({ id, name }: JsonObject, input: JsonObject): GroundingEvent | undefined {
    const query = textOf(input.query);
    const url = textOf(input.url);
    if (name === SERVER_TOOLS['web-search'].name && query !== undefined) {
      this.#queries.push(query);
      return this.#tellEarly();
    }
    if (name === SERVER_TOOLS['url-context'].name && url !== undefined) {
      this.#asked.set(textOf(id) ?? '', url);
      this.#pages.set(url, { url, outcome: 'unknown' });
    }
    return undefined;
  }

  /** A result block of any tool. What a search found is told at once, as the search is. */
  result({ type, tool_use_id: id, content }: JsonObject): GroundingEvent | undefined {
    if (type === 'web_search_tool_result') {
      for (const { url, title } of objectsOf(content)) this.#source(textOf(url), textOf(title));
      this.#results += 1;
      return this.#tellEarly();
    }
    if (type === 'web_fetch_tool_result') {
      const page = objectOf(content) ?? {};
      const url = textOf(page.url) ?? this.#asked.get(textOf(id) ?? '');
      if (url === undefined) return undefined;
      const error = textOf(page.error_code);
      const outcome = error === undefined ? 'read' : (FETCH_OUTCOMES.get(error) ?? 'unknown');
      this.#pages.set(url, { url, outcome });
    }
    return undefined;
  }

  addText(text: string): void {
    if (this.#placesCitations) this.#text.add(text);
  }

  /** A source of the text block that is being sent; false for one without an address, which no other wire has a place for. */
  cite({ url, source, title }: JsonObject): boolean {
    const index = this.#source(textOf(url) ?? webAddress(source), textOf(title));
    if (index !== undefined) this.#cited.add(index);
    return index !== undefined;
  }

  /** Each cited passage is a block of its own. */
  endText(place: Pick<Citation, 'startIndex' | 'endIndex'>): void {
    if (this.#cited.size > 0 && this.#text.length > 0) {
      this.#citations.push({ ...place, text: this.#text.toString(), sources: [...this.#cited] });
      this.#citedBytes += this.#text.heldBytes;
    }
    if (this.#text.length > 0) this.#text = new KeptText(MAX_CITED_LENGTH);
    if (this.#cited.size > 0) this.#cited = new Set();
  }

  /** Undefined where nothing was looked for. */
  grounding(): GroundingEvent | undefined {
    const isNothing = this.#queries.length + this.#sources.size + this.#pages.size === 0;
    return isNothing ? undefined : this.#event();
  }

  #tellEarly(): GroundingEvent | undefined {
    const searches = Math.max(this.#queries.length, this.#results);
    if (!this.#placesCitations || searches > MAX_EARLY_SEARCHES) return undefined;
    return { ...this.#event(), citations: [], isEarly: true };
  }

  #event(): GroundingEvent {
    const pages = this.#pages.size === 0 ? undefined : [...this.#pages.values()];
    return {
      kind: 'grounding',
      choice: 0,
      queries: [...this.#queries],
      sources: [...this.#sources.values()].map(({ url, title }) => ({ url, title })),
      citations: [...this.#citations],
      ...(pages === undefined ? {} : { pages }),
    };
  }

  #source(url: string | undefined, title: string | undefined): number | undefined {
    if (url === undefined) return undefined;
    const known = this.#sources.get(url);
    if (known !== undefined) return known.index;
    const index = this.#sources.size;
    this.#sources.set(url, { url, title: title ?? '', index });
    return index;
  }
}

/** That of a search result which the prompt brought along: it may be any name. */
function webAddress(source: JsonValue | undefined): string | undefined {
  return typeof source === 'string' && /^https?:/.test(source) ? source : undefined;
}

/** Each time the service may have used its tools ten times (platform.claude.com, "Server tools", pause_turn). */
const MAX_PAUSES = 5;

/** As the first answer of a call and, where that paused, those that go on with it behind it. */
export async function openWhole(
  call: UpstreamCall,
  open: (call: UpstreamCall) => Promise<UpstreamStream>,
): Promise<UpstreamStream> {
  const frames = await open(call);
  return call.clientHeaders === undefined && hasServerTools(call.body)
    ? new WholeTurn(frames, call, open)
    : frames;
}

/** Those that the service runs say by their type what they are. */
function hasServerTools({ tools }: JsonObject): boolean {
  return objectsOf(tools).some(({ type }) => type !== undefined && type !== 'custom');
}

class WholeTurn implements UpstreamStream {
  readonly #open: (call: UpstreamCall) => Promise<UpstreamStream>;
  #frames: UpstreamStream;
  #call: UpstreamCall;
  #answer = new PausedAnswer();
  #pauses = 0;

  constructor(
    frames: UpstreamStream,
    call: UpstreamCall,
    open: (call: UpstreamCall) => Promise<UpstreamStream>,
  ) {
    this.#frames = frames;
    this.#call = call;
    this.#open = open;
  }

  get mayBeWhole(): boolean {
    return this.#frames.mayBeWhole === true;
  }

  get isTriedOut(): boolean {
    return this.#frames.isTriedOut === true;
  }

  async next(): Promise<IteratorResult<readonly Frame[], unknown>> {
    for (;;) {
      const batch = await this.#frames.next();
      if (batch.done !== true) {
        for (const { value } of batch.value) this.#answer.read(value);
        return batch;
      }
      if (!this.#answer.isPaused || this.#pauses === MAX_PAUSES) return batch;
      this.#pauses += 1;
      const { body } = this.#call;
      const { content, container } = this.#answer;
      const messages = [...itemsOf(body.messages), { role: 'assistant', content }];
      const goingOn = { ...body, messages, ...(container === undefined ? {} : { container }) };
      // What is mended in its text is noted already.
      this.#call = { ...this.#call, body: goingOn, receipt: undefined, onFirstByte: undefined };
      this.#answer = new PausedAnswer();
      this.#frames = await this.#open(this.#call);
    }
  }

  async return(): Promise<IteratorResult<readonly Frame[], unknown>> {
    return (await this.#frames.return?.()) ?? { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** One answer, put together as the service takes it back. */
class PausedAnswer {
  readonly content: JsonObject[] = [];
  /** Where the service ran code. */
  container: string | undefined;
  #stopReason: string | undefined;
  #isWhole = false;
  /** Of the open block, what came in pieces. */
  #json = '';
  #citations: JsonValue[] = [];

  /** What a client's own tool is to answer, only the client goes on with. */
  get isPaused(): boolean {
    const isClients = this.content.some(({ type }) => type === 'tool_use');
    const isPaused = this.#isWhole && this.#stopReason === 'pause_turn';
    return isPaused && this.content.length > 0 && !isClients;
  }

  read(frame: JsonObject): void {
    switch (frame.type) {
      case 'message':
        this.content.push(...objectsOf(frame.content));
        this.#readEnd(frame);
        this.#isWhole = true;
        break;
      case 'message_start':
        this.#readEnd(objectOf(frame.message) ?? {});
        break;
      case 'content_block_start':
        this.content.push({ ...objectOf(frame.content_block) });
        this.#json = '';
        this.#citations = [];
        break;
      case 'content_block_delta':
        this.#add(objectOf(frame.delta) ?? {});
        break;
      case 'content_block_stop':
        this.#endBlock();
        break;
      case 'message_delta':
        this.#readEnd(objectOf(frame.delta) ?? {});
        break;
      case 'message_stop':
        this.#isWhole = true;
        break;
      default:
    }
  }

  #readEnd({ stop_reason: reason, container }: JsonObject): void {
    this.#stopReason = textOf(reason) ?? this.#stopReason;
    this.container = textOf(objectOf(container)?.id) ?? this.container;
  }

  #endBlock(): void {
    const block = this.content.at(-1);
    if (block === undefined) return;
    if (this.#json !== '') block.input = parseObject(this.#json);
    if (this.#citations.length > 0) {
      block.citations = itemsOf(block.citations).concat(this.#citations);
    }
  }

  /** As the vendor's own accumulator does it (`@anthropic-ai/sdk` lib/MessageStream). */
  #add(delta: JsonObject): void {
    const block = this.content.at(-1);
    if (block === undefined) return;
    switch (delta.type) {
      case 'text_delta':
        block.text = `${textOf(block.text) ?? ''}${textOf(delta.text) ?? ''}`;
        break;
      case 'thinking_delta':
        block.thinking = `${textOf(block.thinking) ?? ''}${textOf(delta.thinking) ?? ''}`;
        break;
      case 'signature_delta':
        block.signature = textOf(delta.signature) ?? '';
        break;
      case 'citations_delta':
        this.#citations.push(delta.citation ?? {});
        break;
      case 'input_json_delta':
        this.#json += textOf(delta.partial_json) ?? '';
        break;
      default:
    }
  }
}
