// Goes on with turns that the service paused among its own tools: clients of other protocols cannot.

import { type JsonObject, type JsonValue, parseObject } from '../../lib/json.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import type { Frame } from '../../stream/sse.ts';
import type { UpstreamCall, UpstreamStream } from '../upstream.ts';

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
