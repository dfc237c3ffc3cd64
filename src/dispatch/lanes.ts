// The relay lane: native frames go through as they came; the decoder only watches them.

import { asGatewayError, GatewayError } from '../canonical/error.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import { fold, type Reply } from '../canonical/fold.ts';
import type { JsonObject } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { RelayWriter, StreamWriter } from '../protocols/protocol.ts';
import { pump, type Take } from '../stream/queue.ts';
import type { AnswerTransform } from '../transforms/answer/index.ts';
import type { Decoder, Frame, UpstreamStream } from '../upstreams/upstream.ts';
import type { AnswerChunks } from './dispatcher.ts';
import { type AnswerWatch, type MissingUsage, untoldUsage } from './stream-observer.ts';

export interface RelayInput {
  readonly frames: UpstreamStream;
  readonly decoder: Decoder;
  readonly watch: AnswerWatch;
  /** What the answer used, for the record alone, should it end before the upstream tells. */
  readonly missingUsage: MissingUsage;
}

export interface RelayLaneInput extends RelayInput {
  /** A frame or body as the client is to see it; the same object when nothing changes. */
  readonly edit: (value: JsonObject) => JsonObject;
}

/** Takes an answer that fails before the commit point but says itself what is wrong with it. */
export type OnTold<Answer> = (answer: Answer) => void;

/** As `translateStream`. */
export function relayStream(
  input: RelayLaneInput,
  writer: RelayWriter,
  onTold: OnTold<string>,
): AnswerText {
  return new AnswerText(input.frames, new RelayLane(input, writer, onTold));
}

/** The bodies of the upstream's own answer, mostly one. @throws GatewayError when it is an error, empty or no answer. */
export async function relayReply(
  input: RelayLaneInput,
  onTold: OnTold<readonly JsonObject[]>,
): Promise<readonly JsonObject[]> {
  const { frames, decoder, watch, edit } = input;
  const bodies: JsonObject[] = [];
  for await (const batch of frames) {
    for (const frame of batch) {
      const value = edit(frame.value);
      bodies.push(value);
      for (const event of decoder.push(value)) see(event, input);
    }
  }
  if (watch.error === undefined) for (const event of decoder.end()) see(event, input);
  if (watch.error !== undefined) {
    if (bodies.length > 0 && tellsItself(watch.error)) onTold(bodies);
    throw watch.error;
  }
  if (bodies.length === 0) throw emptyAnswer();
  return bodies;
}

/** True when a native answer holds the upstream's own word for what is wrong with it. */
export function tellsItself({ failure }: GatewayError): boolean {
  return failure?.finishReason !== undefined;
}

function see(event: CanonicalEvent, { watch, missingUsage, decoder }: RelayInput): void {
  missingUsage.see(event);
  const untold = untoldUsage(event, missingUsage, decoder);
  if (untold !== undefined) watch.see(untold);
  watch.see(event);
}

function emptyAnswer(): GatewayError {
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: told`The upstream closed without an answer.`,
    failure: { kind: 'path' },
  });
}

class RelayLane implements AnswerLane {
  readonly watch: AnswerWatch;
  text = '';
  readonly #input: RelayLaneInput;
  readonly #decoder: Decoder;
  readonly #writer: RelayWriter;
  readonly #onTold: OnTold<string>;
  /** The frame that was read last, when it went out as it came. */
  #last: JsonObject | undefined;

  constructor(input: RelayLaneInput, writer: RelayWriter, onTold: OnTold<string>) {
    this.#onTold = onTold;
    this.watch = input.watch;
    this.#input = input;
    this.#decoder = input.decoder;
    this.#writer = writer;
  }

  get contentType(): string {
    return this.#writer.contentType;
  }

  push(frame: Frame): void {
    if (this.isComplete() || this.#pass(frame)) return;
    const value = this.#input.edit(frame.value);
    this.#see(this.#decoder.push(value));
    if (this.isComplete()) return;
    const isEdited = value !== frame.value;
    this.#last = isEdited ? undefined : value;
    this.text += this.#writer.write(value, isEdited ? JSON.stringify(value) : frame.text);
  }

  /** Most frames repeat the one before: what held for that one holds for them, and they are not read. */
  #pass(frame: Frame): boolean {
    if (frame.repeats === undefined || frame.repeats !== this.#last) return false;
    const text = this.#writer.repeat?.(frame.text);
    const events = text === undefined ? undefined : this.#decoder.repeat?.(frame);
    if (events === undefined) return false;
    this.#see(events);
    this.text += text;
    return true;
  }

  isComplete(): boolean {
    return this.watch.error !== undefined;
  }

  end(): void {
    if (!this.isComplete()) this.#see(this.#decoder.end());
    const { error } = this.watch;
    const isTold = error === undefined || tellsItself(error);
    this.text += isTold ? this.#writer.end() : this.#writer.error(error);
  }

  fail(error: GatewayError): void {
    this.watch.see({ kind: 'error', error });
    this.text += this.#writer.error(error);
  }

  #see(events: readonly CanonicalEvent[]): void {
    for (const event of events) {
      see(event, this.#input);
      if (event.kind !== 'error' || this.watch.isCommitted) continue;
      if (tellsItself(event.error)) this.#onTold(this.text + this.#writer.end());
      throw event.error;
    }
  }
}

export interface TranslateInput {
  readonly frames: UpstreamStream;
  readonly decoder: Decoder;
  readonly watch: AnswerWatch;
  /** What the client is to see of the answer, and what is remembered of it. */
  readonly transform: AnswerTransform;
  /** True when the rest of the answer is not needed; the decoder's ending then closes it. */
  readonly isComplete?: (() => boolean) | undefined;
  /** What the answer used, should it end before the upstream tells. */
  readonly missingUsage: MissingUsage;
}

/** The client's stream: `AnswerText` says when its items come and what becomes of failures. */
export function translateStream(input: TranslateInput, writer: StreamWriter): AnswerText {
  return new AnswerText(input.frames, new TranslateLane(input, writer));
}

/** The whole answer at once. @throws GatewayError */
export async function translateReply(input: TranslateInput): Promise<Reply> {
  const { frames, decoder, watch, transform, missingUsage } = input;
  const events: CanonicalEvent[] = [];
  const add = (event: CanonicalEvent): void => {
    watch.see(event);
    events.push(event);
  };
  const take = (decoded: readonly CanonicalEvent[]): void => {
    for (const event of decoded) missingUsage.see(event);
    for (const event of transform(decoded)) {
      const untold = untoldUsage(event, missingUsage, decoder);
      if (untold !== undefined) add(untold);
      add(event);
    }
  };
  for await (const batch of frames) {
    for (const frame of batch) take(decoder.push(frame.value));
  }
  if (watch.error === undefined) take(decoder.end());
  return fold(events);
}

class TranslateLane implements AnswerLane {
  readonly watch: AnswerWatch;
  text = '';
  readonly #input: TranslateInput;
  readonly #writer: StreamWriter;

  constructor(input: TranslateInput, writer: StreamWriter) {
    this.watch = input.watch;
    this.#input = input;
    this.#writer = writer;
  }

  get contentType(): string {
    return this.#writer.contentType;
  }

  more(): string {
    return this.#writer.more?.() ?? '';
  }

  push(frame: Frame): void {
    const { decoder } = this.#input;
    const repeated = frame.repeats === undefined ? undefined : decoder.repeat?.(frame);
    this.#take(repeated ?? decoder.push(frame.value));
  }

  isComplete(): boolean {
    return this.watch.error !== undefined || this.#input.isComplete?.() === true;
  }

  end(): void {
    if (this.watch.error === undefined) this.#take(this.#input.decoder.end());
  }

  fail(error: GatewayError): void {
    this.#take([{ kind: 'error', error }]);
  }

  #take(decoded: readonly CanonicalEvent[]): void {
    const { transform, missingUsage, decoder } = this.#input;
    for (const event of decoded) missingUsage.see(event);
    for (const event of transform(decoded)) {
      const untold = untoldUsage(event, missingUsage, decoder);
      if (untold !== undefined) this.#write(untold);
      this.#write(event);
    }
  }

  #write(event: CanonicalEvent): void {
    const { watch } = this;
    watch.see(event);
    if (event.kind === 'error' && !watch.isCommitted) throw event.error;
    this.text += this.#writer.write(event);
  }
}

/** What a lane makes of the frames. Synchronous: waiting is the business of `AnswerText` alone. */
export interface AnswerLane {
  readonly contentType?: string | undefined;
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

  get contentType(): string | undefined {
    return this.#lane.contentType;
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
