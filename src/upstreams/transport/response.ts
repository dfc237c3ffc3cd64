// One exchange with the upstream: response bytes in, batches of frames out, at the reader's own pace.

import type { Dispatcher } from 'undici';
import { ATTEMPTS_HEADER } from '../../canonical/call-record.ts';
import type { RateLimit } from '../../canonical/quota.ts';
import { addSummary, RECEIPT_HEADER, type Receipt } from '../../canonical/receipt.ts';
import { VectorCutter } from '../../lib/chunked-json.ts';
import { type Clock, SilenceTimer } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import type { Headers } from '../../lib/read-values.ts';
import { type AnswerRoom, HeldMemory } from '../../stream/held-memory.ts';
import { AsyncBatchQueue, type Ending } from '../../stream/queue.ts';
import { turn } from '../../stream/scheduler.ts';
import { type EventMemory, type Frame, FrameError, FrameReader } from '../../stream/sse.ts';
import {
  cutAnswer,
  oversizedAnswer,
  pathFault,
  type UpstreamRefusal,
  unreadableAnswer,
} from '../errors.ts';
import type { UpstreamCall, UpstreamStream } from '../upstream.ts';
import { type ProxyInUse, readNetworkError, timeoutFault } from './connections.ts';

/** Of a request what its answer depends on. */
export interface AnswerRequest {
  readonly signal: AbortSignal;
  /** Secrets of the account, kept out of error texts. */
  readonly secrets: readonly string[];
  /** Told what a gateway like this one lost of it; absent where nobody reads of that. */
  readonly receipt?: Receipt | undefined;
  /** Its tools are named in what a refusal says of them. */
  readonly body?: JsonObject | undefined;
  /** True where frames are kept until the end, as an answer that is wanted whole is. */
  readonly isKept?: boolean | undefined;
  /** True for models that draw, which are silent for long. */
  readonly drawsImages?: boolean | undefined;
  readonly onRateLimit?: UpstreamCall['onRateLimit'];
  /** True where sound may come as it is: it is then one frame, `{audio, done}`. */
  readonly takesBytes?: boolean | undefined;
  /** True where the answer is a document of vectors, which may be many and long. */
  readonly holdsVectors?: boolean | undefined;
  /** What it goes through; undefined goes direct. */
  readonly proxy?: ProxyInUse | undefined;
  /** Called once, when the first byte behind the headers is there. */
  readonly onFirstByte?: (() => void) | undefined;
}

export type AnswerEnding = 'over' | 'finished' | 'thought' | 'ping';

/** How a wire's answers are read. */
export interface WireAnswers {
  /** The error an answer amounts to whose status is not 2xx; `failure` is set. Never throws. */
  classifyFailure(refusal: UpstreamRefusal): Error;
  /** What the headers of an answer say of the rate limits; absent where the wire has none for it. */
  readRateLimit?(headers: Headers, now: number): RateLimit | undefined;
  /**
   * What the frame that came last says of what comes: `over` when nothing does, `finished` when it names the end of
   * the answer, `thought` when it is of one, behind which a long silence is usual, `ping` when it says nothing at all.
   */
  endingOf(value: JsonObject): AnswerEnding | undefined;
  /** For one stream, where events that repeat each other need not be parsed. */
  createMemory?(): EventMemory;
  /** The value of the frame that stands for `[DONE]`; absent where it says nothing. */
  readonly done?: JsonObject | undefined;
}

/** What all answers of one upstream share. */
export interface AnswerPlace {
  readonly wire: WireAnswers;
  readonly clock: Clock;
  readonly limits: AnswerLimits;
  /** For an event, or a whole answer, that is large; without it there is enough. */
  readonly room?: AnswerRoom | undefined;
}

export interface AnswerLimits {
  /** From the headers to the first frame, in milliseconds. */
  readonly firstFrameMs: number;
  /** For the body of a refusal, in milliseconds. */
  readonly refusalMs: number;
  readonly maxRefusalBytes: number;
  readonly maxFrameBytes: number;
  /** Of a whole body: no model says that much, and the parts of a whole answer are kept until its end. */
  readonly maxAnswerBytes: number;
  /** Frames waiting for the reader, in bytes of the body, above which the socket is not read. */
  readonly maxWaitingBytes: number;
}

interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  readonly chunks: Buffer[];
  bytes: number;
}

/** What is made of a frame that is kept, however little it says. */
const KEPT_FRAME_BYTES = 64;

/** Interim answers (1xx) before the real one; more are no answer. */
const MAX_INTERIM = 100;

/** How long the upstream may be silent after a frame, by what that says of what comes. */
const IDLE_MS = {
  more: 90_000,
  thought: 180_000,
  /** Usage and sources may come behind; and some upstreams write it into every frame. */
  finished: 30_000,
  /** Only the end of the body may come behind. */
  over: 1_000,
} as const;

interface AnswerReader extends Pick<FrameReader, 'push' | 'end' | 'fault'> {
  /** What it made of bytes that it does not give out yet, where that may be larger than these. */
  readonly heldBytes?: number;
}

/**
 * A handler of undici's `dispatch` that hands frames over: no stream object stands between the
 * socket and the decoder. What arrives is read in the turn's stage for answers. Comments, pings and other
 * bytes that complete no frame do not put the idle limit off. An abort rejects at once with the signal's reason and destroys the socket.
 */
export class AnswerStream extends AsyncBatchQueue<Frame> implements Dispatcher.DispatchHandler {
  readonly #request: AnswerRequest;
  readonly #place: AnswerPlace;
  readonly #onClosed: () => void;
  #reader: AnswerReader;
  readonly #opening = Promise.withResolvers<UpstreamStream>();
  /** Resolves with this stream when good headers came. @throws GatewayError with `failure` set */
  readonly opened = this.#opening.promise;
  readonly #silence: SilenceTimer;
  #controller: Dispatcher.DispatchController | undefined;
  #hasAnswer = false;
  #hasBody = false;
  #interim = 0;
  /** What this turn of the event loop brought, for the stage of the turn that reads answers. */
  #arrived: Buffer[] = [];
  #arrivedBytes = 0;
  /** The first counts: what a proxy makes of its refusal is followed by the end of the refusal itself. */
  #ending: Ending | undefined;
  #isDue = false;
  #bytes = 0;
  /** Of what is no whole event yet, or is kept. */
  #heldBack = 0;
  #refusal: Refusal | undefined;
  /** How long the upstream may be silent after the last frame. */
  #idleMs = 0;
  /** True when what came so far is a whole answer. */
  #namesItsEnd = false;
  /** True once the last frame of a stream came: whatever comes or breaks behind it is no part of the answer. */
  #hasLastFrame = false;
  /** True once nothing more is wanted of it or comes from it. */
  isOver = false;
  mayBeWhole = false;
  isTriedOut = false;
  readonly #memory: HeldMemory;

  /** @param onClosed called once when the exchange is over */
  constructor(request: AnswerRequest, place: AnswerPlace, onClosed: () => void) {
    super();
    this.#request = request;
    this.#place = place;
    this.#onClosed = onClosed;
    this.#memory = new HeldMemory(place.room);
    const { maxFrameBytes } = place.limits;
    const { wire } = place;
    const reader = new FrameReader({
      maxFrameBytes,
      memory: wire.createMemory?.(),
      done: wire.done,
    });
    this.#reader = request.holdsVectors === true ? new VectorReader(reader) : reader;
    this.#silence = new SilenceTimer(place.clock, this.#onSilence);
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isOver) controller.abort(new Error('The request was given up.'));
  }

  onResponseStarted(): void {
    this.#hasAnswer = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Headers,
  ): void {
    // They are parts of what was read with them, up to 64 KB that would stay until the answer's end.
    controller.rawHeaders = null;
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > MAX_INTERIM) this.#cancel(pathFault(told`The upstream never answered.`));
      return;
    }
    const { wire, clock } = this.#place;
    if (wire.readRateLimit !== undefined) {
      this.#request.onRateLimit?.(() => wire.readRateLimit?.(headers, clock.now()));
    }
    if (status >= 300) {
      this.#refusal = { status, headers, chunks: [], bytes: 0 };
      this.#silence.touch(this.#place.limits.refusalMs);
      return;
    }
    const type = String(headers['content-type'] ?? '');
    const isSound = this.#request.takesBytes === true && SOUND_TYPE.test(type);
    if (isSound) this.#reader = new SoundReader();
    const fault = faultOfHeaders(type, headers);
    if (fault !== undefined) {
      this.#cancel(fault);
      return;
    }
    this.mayBeWhole = !STREAM_TYPE.test(type);
    this.isTriedOut = headers[ATTEMPTS_HEADER] !== undefined;
    const lost = headers[RECEIPT_HEADER];
    const { receipt } = this.#request;
    if (lost !== undefined && receipt !== undefined) addSummary(receipt, String(lost));
    this.#silence.touch(this.#place.limits.firstFrameMs);
    this.#opening.resolve(this);
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#ending !== undefined) return;
    if (!this.#hasBody) {
      this.#hasBody = true;
      this.#request.onFirstByte?.();
    }
    this.#arrived.push(chunk);
    this.#arrivedBytes += chunk.length;
    // A fast upstream sends more than may be kept in one turn.
    if (this.#arrivedBytes >= this.#place.limits.maxWaitingBytes) this.#readArrived();
    else this.#readInStage();
  }

  onResponseEnd(): void {
    this.#ending ??= { kind: 'end' };
    this.#readInStage();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#ending ??= { kind: 'error', error };
    this.#readInStage();
  }

  #readInStage(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    turn.answers.add(this.#readArrived);
  }

  readonly #readArrived = (): void => {
    this.#isDue = false;
    const chunks = this.#arrived;
    const [first] = chunks;
    if (first !== undefined) {
      const all = chunks.length === 1 ? first : Buffer.concat(chunks, this.#arrivedBytes);
      this.#arrived = [];
      this.#arrivedBytes = 0;
      if (!this.isOver) this.#readChunk(all);
    }
    if (this.#ending !== undefined && !this.isOver) this.#readEnding(this.#ending);
  };

  #readChunk(chunk: Buffer): void {
    if (this.#refusal !== undefined) {
      this.#readRefusal(this.#refusal, chunk);
      return;
    }
    if (this.#hasLastFrame) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#place.limits.maxAnswerBytes) {
      this.#cancel(oversizedAnswer());
      return;
    }
    this.#heldBack += chunk.length;
    // An answer that is wanted whole is read all at once where it comes as one document, which takes as much again.
    const times = this.mayBeWhole && this.#request.isKept === true ? 2 : 1;
    try {
      this.#memory.count(times * this.#heldBack + (this.#reader.heldBytes ?? 0));
    } catch (error) {
      this.#cancel(error);
      return;
    }
    try {
      this.#deliver(this.#reader.push(chunk));
    } catch (error) {
      this.#cancel(frameFault(error));
      return;
    }
    const { fault } = this.#reader;
    if (fault !== undefined && !this.#hasLastFrame) {
      this.#cancel(frameFault(fault));
      return;
    }
    // Who has not asked for these is behind: the client does not keep up.
    if (this.waiting === undefined) return;
    this.#silence.cancel();
    this.#controller?.pause();
  }

  #readEnding(ending: Ending): void {
    if (this.#refusal !== undefined) {
      this.#finish({ kind: 'error', error: this.#readFailure(this.#refusal) });
    } else if (this.#hasLastFrame) {
      this.#finish({ kind: 'end' });
    } else if (ending.kind === 'error') {
      const { proxy } = this.#request;
      const error = readNetworkError(ending.error, { hasAnswer: this.#hasAnswer, proxy });
      this.#finish({ kind: 'error', error });
    } else {
      try {
        this.#deliver(this.#reader.end());
        this.#finish({ kind: 'end' });
      } catch (error) {
        this.#finish({ kind: 'error', error: frameFault(error) });
      }
    }
  }

  /** What comes behind the last frame of a stream is left out. */
  #deliver(read: readonly Frame[]): void {
    if (read.length === 0) return;
    const { wire } = this.#place;
    let last = read.length;
    let ending: AnswerEnding | undefined;
    // Pings say nothing, so that they do not put the limit off either.
    do {
      last -= 1;
      const frame = read[last];
      ending = frame && wire.endingOf(frame.repeats ?? frame.value);
    } while (ending === 'ping');
    for (let at = 0; at < last; at += 1) {
      const frame = read[at];
      // What repeats another frame ends as little, or as much, as that one.
      if (frame === undefined || frame.repeats !== undefined) continue;
      if (wire.endingOf(frame.value) !== 'over') continue;
      last = at;
      ending = 'over';
    }
    const frames = ending === 'over' ? read.slice(0, last + 1) : read;
    if (this.#request.isKept === true) this.#heldBack += frames.length * KEPT_FRAME_BYTES;
    else this.#heldBack = 0;
    if (last >= 0) {
      this.#hasLastFrame = ending === 'over';
      this.#namesItsEnd = this.#hasLastFrame || ending === 'finished';
      this.#idleMs = IDLE_MS[ending ?? (this.#request.drawsImages === true ? 'thought' : 'more')];
      this.#silence.touch(this.#idleMs);
    }
    this.add(frames);
    // What the reader has of the answer counts with the reader.
    if (this.waiting === undefined && this.#heldBack === 0) this.#memory.release();
  }

  protected override onTaken(): void {
    if (this.#heldBack === 0) this.#memory.release();
    const controller = this.#controller;
    if (this.isOver || controller?.paused !== true) return;
    this.#silence.touch(this.#idleMs);
    controller.resume();
  }

  protected override onLeft(): void {
    this.#finish({ kind: 'end' });
    this.#controller?.abort(new Error('The answer is not read any further.'));
  }

  #readRefusal(refusal: Refusal, chunk: Buffer): void {
    refusal.chunks.push(chunk);
    refusal.bytes += chunk.length;
    if (refusal.bytes >= this.#place.limits.maxRefusalBytes) {
      this.#cancel(this.#readFailure(refusal));
    }
  }

  #readFailure({ status, headers, chunks }: Refusal): Error {
    const { secrets, body: asked } = this.#request;
    const { wire, clock, limits } = this.#place;
    const body = Buffer.concat(chunks).subarray(0, limits.maxRefusalBytes).toString();
    const tools = asked?.tools;
    return wire.classifyFailure({ status, headers, body, now: clock.now(), secrets, tools });
  }

  /** Ends the exchange from this side: nothing more is given out, the socket goes. */
  #cancel(error: unknown): void {
    if (this.#request.signal.aborted) this.drop();
    this.#finish({ kind: 'error', error });
    this.#controller?.abort(new Error('The exchange was cancelled.'));
  }

  #finish(ending: Ending): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#silence.cancel();
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#memory.release();
    this.#onClosed();
    if (ending.kind === 'error') this.#opening.reject(ending.error);
    this.end(ending);
  }

  readonly #onAbort = (): void => this.#cancel(this.#request.signal.reason);

  /** An upstream that has said all there is may forget to end its body. */
  readonly #onSilence = (limitMs: number): void => {
    if (this.#namesItsEnd) {
      this.onLeft();
      return;
    }
    const seconds = Math.round(limitMs / 1000);
    const silence = timeoutFault(told`The upstream was silent for ${seconds} s.`);
    this.#cancel(this.#refusal ? this.#readFailure(this.#refusal) : silence);
  };
}

/** Servers call their answers plain text, bytes or nothing at all: what is no answer is seen when it is read. */
const PAGE_TYPE = /^(?:text\/html|application\/xhtml)\b/i;

const STREAM_TYPE = /^text\/event-stream\b/i;
const SOUND_TYPE = /^(?:audio\/|application\/octet-stream)/i;

/** Sound comes whole and as it is; it is in base64 within, as in answers that are JSON. */
class SoundReader {
  readonly fault = undefined;
  readonly #chunks: Buffer[] = [];

  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    return [];
  }

  end(): Frame[] {
    const value = { audio: Buffer.concat(this.#chunks).toString('base64'), done: true };
    return [{ value, text: JSON.stringify(value) }];
  }
}

/**
 * What `frames` makes of a document, whose vectors are read as they arrive: together they would hold all else up. They are in
 * the values of the frames, not in the texts.
 */
class VectorReader implements AnswerReader {
  readonly #frames: FrameReader;
  readonly #cutter = new VectorCutter();

  constructor(frames: FrameReader) {
    this.#frames = frames;
  }

  get fault(): FrameError | undefined {
    return this.#frames.fault;
  }

  get heldBytes(): number {
    return this.#cutter.heldBytes;
  }

  push(chunk: Buffer): Frame[] {
    return this.#restored(this.#frames.push(latin1(this.#cutter.cut(chunk.toString('latin1')))));
  }

  end(): Frame[] {
    const rest = this.#frames.push(latin1(this.#cutter.end()));
    return this.#restored([...rest, ...this.#frames.end()]);
  }

  #restored(frames: readonly Frame[]): Frame[] {
    for (const { value } of frames) this.#cutter.restore(value);
    return [...frames];
  }
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function faultOfHeaders(type: string, headers: Headers): Error | undefined {
  const isPlain = /^(?:identity)?$/i.test(String(headers['content-encoding'] ?? ''));
  if (isPlain && !PAGE_TYPE.test(type)) return undefined;
  const fault = isPlain
    ? told`The upstream sent something other than an answer.`
    : told`The upstream sent an answer in an encoding not asked for.`;
  return pathFault(fault, new Error(`content-type ${type}`));
}

function frameFault(error: unknown): Error {
  if (!(error instanceof FrameError)) return unreadableAnswer(error);
  if (error.fault === 'too-large') return oversizedAnswer(error);
  return error.fault === 'truncated' ? cutAnswer(error) : unreadableAnswer(error);
}
