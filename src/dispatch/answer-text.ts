// The text of one stream, whichever lane it comes from: pulled by the client, committed once, ended once.

import { asGatewayError, type GatewayError } from '../canonical/error.ts';
import type { KeptText } from '../canonical/transcript.ts';
import { nextTurn } from '../lib/chunked-json.ts';
import { LARGE_WORK, relieveMemory } from '../lib/memory-limit.ts';
import type { HeldMemory } from '../stream/held-memory.ts';
import type { Frame } from '../stream/sse.ts';
import type { UpstreamStream } from '../upstreams/upstream.ts';
import type { AnswerChunks } from './dispatcher.ts';
import type { StreamObserver } from './stream-observer.ts';

/** Of what comes before anything that is an answer. */
const MAX_HELD_LENGTH = 1_048_576;
/** However little room it says things in, what is held of so short an answer is far below what is counted. */
const UNCOUNTED_LENGTH = 16_384;

type Batch = IteratorResult<readonly Frame[], unknown>;

/** Frames that are made into text in one turn. */
const TURN_FRAMES = 500;

/**
 * The text of one stream. What a lane makes of the frames is synchronous: waiting is done here alone. A failure
 * before the commit point is thrown, a failure after it is the lane's own ending. Written by hand, as each
 * generator between the socket and the client would cost three turns of the microtask queue an event.
 */
export abstract class AnswerText implements AnswerChunks {
  abstract readonly contentType: string | undefined;
  readonly watch: StreamObserver;
  /** Written and not yet taken. */
  protected text = '';
  readonly #frames: UpstreamStream;
  readonly #memory: HeldMemory;
  readonly #wire: KeptText | undefined;
  /** Of the frames so far. */
  #readLength = 0;
  #isOver = false;
  /** True once the ending is written, whichever it is. */
  #hasEnding = false;
  #onEnd: (() => void) | undefined;

  constructor({
    frames,
    watch,
    memory,
  }: {
    readonly frames: UpstreamStream;
    readonly watch: StreamObserver;
    /** Given back once all is read or given up. */
    readonly memory: HeldMemory;
  }) {
    this.#frames = frames;
    this.watch = watch;
    this.#memory = memory;
    this.#wire = watch.transcript?.wire;
  }

  /** @throws GatewayError for a failure before the commit point. */
  protected abstract push(frame: Frame): void;
  /** True when nothing more of the upstream is wanted. */
  protected abstract isComplete(): boolean;
  /** Writes the ending. @throws as `push` */
  protected abstract end(): void;
  /** Writes a failure behind the commit point, which ends the answer. */
  protected abstract fail(error: GatewayError): void;
  /** Bytes of the answer that wait, between the upstream and the client, for what they belong to. */
  protected abstract get heldBytes(): number;
  /** How often one text has in it what is large. */
  protected get copies(): number {
    return 1;
  }
  /** Where not all is written at once: the next piece of what comes behind `text`, '' when nothing is left. */
  protected more: (() => string) | undefined;

  /** Comes first; resolves at the commit point. `onEnd` is called once, when all is read or given up. */
  async begin(onEnd: () => void): Promise<void> {
    await this.#fill();
    this.#onEnd = onEnd;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    let value = this.#takeText();
    if (value === '') {
      await this.#fill();
      value = this.#takeText();
    }
    return value === '' ? this.#settle() : { done: false, value };
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    await this.#leave();
    return this.#settle();
  }

  /**
   * Ends an answer that has begun with this failure, unless its ending is written already. What is left to say is in
   * the next chunks, the last ones.
   */
  endWithError(error: GatewayError): void {
    if (this.#hasEnding) return;
    this.#hasEnding = true;
    this.fail(error);
  }

  #takeText(): string {
    const { text } = this;
    if (text === '') return this.more?.() ?? '';
    this.text = '';
    return text;
  }

  /** Reads on until something is written, at the commit point at the earliest, or the answer ends. */
  async #fill(): Promise<void> {
    let isAsking = false;
    if (this.#hasEnding && !this.#isOver) await this.#leave();
    try {
      while (!this.#isOver && (this.text === '' || !this.watch.isCommitted)) {
        isAsking = true;
        const batch = await this.#frames.next();
        isAsking = false;
        const next = this.#take(batch);
        if (next !== undefined) await this.#takeRest(batch, next);
        if (this.#hasEnding || this.isComplete()) await this.#leave();
        if (this.#isOver && !this.#hasEnding) {
          this.end();
          this.#hasEnding = true;
        } else if (this.text.length > MAX_HELD_LENGTH) {
          // Kept from the client any longer, it would be kept here.
          this.watch.isCommitted = true;
        }
      }
    } catch (error) {
      if (isAsking) this.#isOver = true;
      await this.#leave();
      if (!this.watch.isCommitted) {
        this.#memory.release();
        throw error;
      }
      this.endWithError(asGatewayError(error));
    }
  }

  /**
   * As many frames as one turn takes; a large one has a turn of its own, after that in which it was read and parsed.
   * @returns where to go on; undefined when all are taken
   */
  #take(batch: Batch, from = 0, mayBeLarge = false): number | undefined {
    if (batch.done === true) this.#isOver = true;
    if (batch.done === true || this.#hasEnding) return undefined;
    const frames = batch.value;
    const most = Math.min(frames.length, from + TURN_FRAMES);
    let at = from;
    for (let isLarge = false; at < most && !isLarge; at += 1) {
      const frame = frames[at] as Frame;
      const { text } = frame;
      isLarge = text.length >= LARGE_WORK;
      if (isLarge && (at > from || !mayBeLarge)) break;
      if (isLarge) {
        // It is read and written all at once, which takes as much again.
        this.#memory.count((1 + this.copies) * text.length);
        relieveMemory();
      }
      this.#wire?.addLine(text);
      this.#readLength += text.length;
      this.push(frame);
    }
    if (this.#readLength > UNCOUNTED_LENGTH) this.#memory.count(this.heldBytes);
    return at < frames.length ? at : undefined;
  }

  /** What they become is sent in one turn more. */
  async #takeRest(batch: Batch, from: number): Promise<void> {
    for (let next: number | undefined = from; next !== undefined; ) {
      await nextTurn();
      next = this.#take(batch, next, true);
    }
    await nextTurn();
  }

  /** No more is asked of the upstream, unless it has ended by itself. */
  async #leave(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#frames.return?.();
  }

  #settle(): IteratorReturnResult<undefined> {
    this.#memory.release();
    this.#onEnd?.();
    this.#onEnd = undefined;
    return { done: true, value: undefined };
  }
}
