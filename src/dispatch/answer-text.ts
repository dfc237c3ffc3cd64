// The text of one streamed answer as the client gets it, read from the upstream as fast as it is taken.

import { asGatewayError, type GatewayError } from '../canonical/error.ts';
import { pump, type Take } from '../lib/pump.ts';
import type { Frame, UpstreamStream } from '../upstreams/upstream.ts';
import type { AnswerWatch } from './answer-watch.ts';
import type { AnswerChunks } from './dispatcher.ts';

/** What a lane makes of the frames. Synchronous: waiting is the business of `AnswerText` alone. */
export interface AnswerLane {
  readonly watch: AnswerWatch;
  /** Written and not yet taken. */
  text: string;
  /** Where not all is written at once: the next piece of what comes behind `text`, '' when nothing is left. */
  more?(): string;
  /** @throws GatewayError for a failure before the commit point. */
  push(frame: Frame): void;
  /** True when nothing more of the upstream is wanted. */
  isComplete(): boolean;
  /** Writes the ending. @throws as `push` */
  end(): void;
  /** Writes a failure behind the commit point, which ends the answer. */
  fail(error: GatewayError): void;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * The first item comes at the commit point; a failure before it is thrown, a failure after it is the
 * lane's own ending. Written by hand, as each generator between the socket and the client would cost
 * three turns of the microtask queue an event.
 */
export class AnswerText implements AnswerChunks {
  readonly #lane: AnswerLane;
  readonly #frames: UpstreamStream;
  #first: IteratorResult<string, undefined> | undefined;
  #isOver = false;
  /** True once the ending is written, whichever it is. */
  #hasEnding = false;
  #onEnd: (() => void) | undefined;

  constructor(frames: UpstreamStream, lane: AnswerLane) {
    this.#lane = lane;
    this.#frames = frames;
  }

  /** Takes the first item back for the next reader. `onEnd` is called once, when all is read or given up. */
  putBack(first: IteratorResult<string, undefined>, onEnd: () => void): void {
    if (first.done !== true) this.#first = first;
    this.#onEnd = onEnd;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<string, undefined>> {
    const first = this.#first;
    if (first === undefined) return this.#read();
    this.#first = undefined;
    return Promise.resolve(first);
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    if (!this.#isOver) await this.#leave();
    return this.#settle();
  }

  async pump(take: Take<string>): Promise<void> {
    const first = this.#first;
    this.#first = undefined;
    try {
      if (first?.done === false && !(await take(first.value))) return;
      if (!(await this.#giveAll(take)) || this.#isOver) return;
      if (await this.#pumpFrames(take)) await this.#giveAll(take);
    } finally {
      if (!this.#isOver) await this.#leave();
      this.#settle();
    }
  }

  /**
   * Ends an answer that has begun with this failure, unless its ending is written already. Gives what
   * is left to say; nothing comes behind it.
   */
  breakOff(error: GatewayError): string {
    this.#fail(error);
    const pieces: string[] = [];
    for (let text = this.#takeText(); text !== ''; text = this.#takeText()) pieces.push(text);
    return pieces.join('');
  }

  /** Gives all that is written. False when the taker has enough. */
  #giveAll(take: Take<string>): boolean | Promise<boolean> {
    for (let text = this.#takeText(); text !== ''; text = this.#takeText()) {
      const goesOn = take(text);
      if (goesOn === false) return false;
      if (goesOn !== true) return goesOn.then((isWanted) => isWanted && this.#giveAll(take));
    }
    return true;
  }

  /** False when the taker has enough; else the answer's ending is left to be taken. */
  async #pumpFrames(take: Take<string>): Promise<boolean> {
    const lane = this.#lane;
    let isWanted = true;
    let isTaking = false;
    const note = (goesOn: boolean): boolean => {
      isTaking = false;
      isWanted = goesOn;
      return goesOn;
    };
    try {
      await pump(this.#frames, (batch) => {
        if (this.#hasEnding) return false;
        for (const frame of batch) lane.push(frame);
        if (lane.isComplete()) return false;
        if (!lane.watch.isCommitted) return true;
        isTaking = true;
        const goesOn = this.#giveAll(take);
        return typeof goesOn === 'boolean' ? note(goesOn) : goesOn.then(note);
      });
      this.#isOver = true;
      if (isWanted) this.#end();
    } catch (error) {
      this.#isOver = true;
      if (isTaking || !lane.watch.isCommitted) throw error;
      this.#fail(asGatewayError(error));
    }
    return isWanted;
  }

  #end(): void {
    if (this.#hasEnding) return;
    this.#lane.end();
    this.#hasEnding = true;
  }

  #fail(error: GatewayError): void {
    if (this.#hasEnding) return;
    this.#hasEnding = true;
    this.#lane.fail(error);
  }

  #takeText(): string {
    const lane = this.#lane;
    const { text } = lane;
    if (text === '') return lane.more?.() ?? '';
    lane.text = '';
    return text;
  }

  async #read(): Promise<IteratorResult<string, undefined>> {
    const lane = this.#lane;
    const left = lane.watch.isCommitted ? this.#takeText() : '';
    if (left !== '') return { done: false, value: left };
    if (this.#isOver) return this.#settle();
    let isAsking = false;
    try {
      while (!this.#isOver && (lane.text === '' || !lane.watch.isCommitted)) {
        isAsking = true;
        const batch = await this.#frames.next();
        isAsking = false;
        this.#take(batch);
        if (lane.isComplete() && !this.#isOver) await this.#leave();
      }
      if (this.#isOver) this.#end();
    } catch (error) {
      if (isAsking) this.#isOver = true;
      if (!this.#isOver) await this.#leave();
      if (!lane.watch.isCommitted) throw error;
      this.#fail(asGatewayError(error));
    }
    const value = this.#takeText();
    return value === '' ? this.#settle() : { done: false, value };
  }

  #take(batch: IteratorResult<readonly Frame[], unknown>): void {
    if (batch.done === true) this.#isOver = true;
    else for (const frame of batch.value) this.#lane.push(frame);
  }

  /** No more is asked of the upstream, which has not ended by itself. */
  async #leave(): Promise<void> {
    this.#isOver = true;
    await this.#frames.return?.();
  }

  #settle(): IteratorReturnResult<undefined> {
    this.#onEnd?.();
    this.#onEnd = undefined;
    return DONE;
  }
}
