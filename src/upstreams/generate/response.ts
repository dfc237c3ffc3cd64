// One exchange with the upstream: response bytes in, batches of frames out, at the reader's own pace.

import type { Dispatcher } from 'undici';
import { type Clock, SilenceTimer } from '../../lib/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { type Ending, Handover } from '../../stream/queue.ts';
import { turn } from '../../stream/scheduler.ts';
import { createFrameReader, FrameError, type FrameReader } from '../../stream/sse.ts';
import type { Frame, UpstreamStream } from '../upstream.ts';
import { readNetworkError, timeoutFault } from './connections.ts';
import { classifyFailure, pathFault } from './errors.ts';
import { createEventMemory } from './event-parser.ts';

export interface AnswerStreamOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly limits: AnswerLimits;
  /** Secrets of the account, kept out of error texts. */
  readonly secrets: readonly string[];
  /** The tools that are sent, for what a refusal says of them. */
  readonly tools?: JsonValue | undefined;
  /** How long the upstream may be silent after this frame, in milliseconds. */
  idleMsAfter(frame: Frame): number;
  /** True when the answer is whole with this frame, although more may come. */
  saysItsEnd(frame: Frame): boolean;
  /**
   * The memory for an event, or a whole answer, of so many bytes; without it there is enough.
   * @throws GatewayError when there is none
   */
  takeRoom?(bytes: number): void;
  /** Called once when the exchange is over. */
  onClosed(): void;
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

type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  readonly chunks: Buffer[];
  bytes: number;
}

/** Smaller events are many at once, and soon over. */
const COUNTED_FROM_BYTES = 1_048_576;

/** Interim answers (1xx) before the real one; more are no answer. */
const MOST_INTERIM = 100;

/**
 * A handler of undici's `dispatch` that hands frames over: no stream object stands between the
 * socket and the decoder. What arrives is read in the turn's stage for answers. Comments and other bytes that complete no frame do not put the idle limit
 * off. An abort rejects at once with the signal's reason and destroys the socket.
 */
export class AnswerStream implements Dispatcher.DispatchHandler {
  /** Resolves with the frames when good headers came. @throws GatewayError with `failure` set */
  readonly opened: Promise<UpstreamStream>;
  readonly frames: Handover<Frame>;
  readonly #options: AnswerStreamOptions;
  readonly #reader: FrameReader;
  readonly #onAbort = (): void => this.#cancel(this.#options.signal.reason);
  readonly #readInTurn = (): void => {
    this.#isDue = false;
    this.#readArrived();
  };
  readonly #opening = Promise.withResolvers<UpstreamStream>();
  #controller: Dispatcher.DispatchController | undefined;
  #hasAnswer = false;
  #interim = 0;
  /** What this turn of the event loop brought, for the stage of the turn that reads answers. */
  #arrived: Buffer[] = [];
  #arrivedBytes = 0;
  #ending: Ending | undefined;
  #isDue = false;
  #bytes = 0;
  /** Of what is no whole event yet. */
  #partBytes = 0;
  #refusal: Refusal | undefined;
  #waitingBytes = 0;
  /** How long the upstream may be silent after the last frame. */
  #idleMs = 0;
  /** True when what came so far is a whole answer. */
  #isSaid = false;
  #isOver = false;
  readonly #silence: SilenceTimer;

  constructor(options: AnswerStreamOptions) {
    this.#options = options;
    this.#reader = createFrameReader({ ...options.limits, memory: createEventMemory() });
    this.#silence = new SilenceTimer(options.clock, (limitMs) => this.#onSilence(limitMs));
    this.frames = new Handover({
      onCaughtUp: () => this.#resume(),
      onLeft: () => this.#leave(),
    });
    this.opened = this.#opening.promise;
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** True once nothing more is wanted of it or comes from it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('The request was given up.'));
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
      if (this.#interim > MOST_INTERIM) this.#cancel(pathFault(told`The upstream never answered.`));
      return;
    }
    if (status >= 300) {
      this.#refusal = { status, headers, chunks: [], bytes: 0 };
      this.#silence.touch(this.#options.limits.refusalMs);
      return;
    }
    const fault = faultOfHeaders(headers);
    if (fault !== undefined) {
      this.#cancel(pathFault(fault, new Error(`content-type ${headers['content-type']}`)));
      return;
    }
    this.#silence.touch(this.#options.limits.firstFrameMs);
    this.#opening.resolve(this.frames);
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#ending !== undefined) return;
    this.#arrived.push(chunk);
    this.#arrivedBytes += chunk.length;
    // A fast upstream sends more than may be kept in one turn.
    if (this.#arrivedBytes >= this.#options.limits.maxWaitingBytes) this.#readArrived();
    else this.#readInStage();
  }

  onResponseEnd(): void {
    this.#end({ kind: 'end' });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end({ kind: 'error', error });
  }

  /** The first counts: what a proxy makes of its refusal is followed by the end of the refusal itself. */
  #end(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#readInStage();
  }

  #readInStage(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    turn.answers(this.#readInTurn);
  }

  #readArrived(): void {
    const chunks = this.#arrived;
    const [first] = chunks;
    if (first !== undefined) {
      const all = chunks.length === 1 ? first : Buffer.concat(chunks, this.#arrivedBytes);
      this.#arrived = [];
      this.#arrivedBytes = 0;
      this.#readChunk(all);
    }
    if (this.#ending !== undefined) this.#readEnding(this.#ending);
  }

  #readChunk(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#refusal !== undefined) {
      this.#readRefusal(this.#refusal, chunk);
      return;
    }
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.limits.maxAnswerBytes) {
      this.#cancel(pathFault(told`The upstream sent an answer that is too long.`));
      return;
    }
    this.#partBytes += chunk.length;
    if (this.#partBytes > COUNTED_FROM_BYTES && !this.#takeRoom()) return;
    try {
      this.#deliver(this.#reader.push(chunk));
    } catch (error) {
      this.#cancel(frameFault(error));
      return;
    }
    if (this.frames.hasWaiting) this.#waitingBytes += chunk.length;
    const isMuch = this.#waitingBytes >= this.#options.limits.maxWaitingBytes;
    if (!isMuch && !this.frames.isBehind) return;
    this.#silence.cancel();
    this.#controller?.pause();
  }

  #takeRoom(): boolean {
    try {
      this.#options.takeRoom?.(this.#partBytes);
      return true;
    } catch (error) {
      this.#cancel(error);
      return false;
    }
  }

  #readEnding(ending: Ending): void {
    if (this.#isOver) return;
    if (this.#refusal !== undefined) {
      this.#finish({ kind: 'error', error: this.#readFailure(this.#refusal) });
    } else if (ending.kind === 'error') {
      const error = readNetworkError(ending.error, { hasAnswer: this.#hasAnswer });
      this.#finish({ kind: 'error', error });
    } else this.#readEnd();
  }

  #readEnd(): void {
    try {
      this.#deliver(this.#reader.end());
      this.#finish({ kind: 'end' });
    } catch (error) {
      this.#finish({ kind: 'error', error: frameFault(error) });
    }
  }

  #deliver(frames: readonly Frame[]): void {
    const last = frames.at(-1);
    if (last === undefined) return;
    this.#isSaid = this.#options.saysItsEnd(last);
    this.#partBytes = 0;
    this.#idleMs = this.#options.idleMsAfter(last);
    this.#silence.touch(this.#idleMs);
    this.frames.add(frames);
  }

  #resume(): void {
    this.#waitingBytes = 0;
    const controller = this.#controller;
    if (this.#isOver || controller?.paused !== true) return;
    this.#silence.touch(this.#idleMs);
    controller.resume();
  }

  #leave(): void {
    this.#finish({ kind: 'end' });
    this.#controller?.abort(new Error('The answer is not read any further.'));
  }

  #readRefusal(refusal: Refusal, chunk: Buffer): void {
    refusal.chunks.push(chunk);
    refusal.bytes += chunk.length;
    if (refusal.bytes >= this.#options.limits.maxRefusalBytes) {
      this.#cancel(this.#readFailure(refusal));
    }
  }

  #readFailure({ status, headers, chunks }: Refusal): Error {
    const { clock, secrets, limits, tools } = this.#options;
    const body = Buffer.concat(chunks).subarray(0, limits.maxRefusalBytes).toString();
    return classifyFailure({ status, headers, body, now: clock.now(), secrets, tools });
  }

  /** Ends the exchange from this side: nothing more is given out, the socket goes. */
  #cancel(error: unknown): void {
    if (this.#options.signal.aborted) this.frames.drop();
    this.#finish({ kind: 'error', error });
    this.#controller?.abort(new Error('The exchange was cancelled.'));
  }

  #finish(ending: Ending): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#silence.cancel();
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#options.onClosed();
    if (ending.kind === 'error') this.#opening.reject(ending.error);
    this.frames.end(ending);
  }

  /** An upstream that has said all there is may forget to end its body. */
  #onSilence(limitMs: number): void {
    if (this.#isSaid) {
      this.#leave();
      return;
    }
    const seconds = Math.round(limitMs / 1000);
    const silence = timeoutFault(told`The upstream was silent for ${seconds} s.`);
    this.#cancel(this.#refusal ? this.#readFailure(this.#refusal) : silence);
  }
}

/** Small proxies call every body plain text; what of it is no answer is seen when it is read. */
const ANSWER_TYPE = /^(?:text\/(?:event-stream|plain)|application\/(?:[\w.]+\+)?json)\b/;

function faultOfHeaders(headers: Headers): Sentence | undefined {
  const type = String(headers['content-type'] ?? '').toLowerCase();
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity')
    return told`The upstream sent an answer in an encoding not asked for.`;
  const isExpected = type === '' || ANSWER_TYPE.test(type);
  return isExpected ? undefined : told`The upstream sent something other than an answer.`;
}

function frameFault(error: unknown): Error {
  if (!(error instanceof FrameError)) {
    return pathFault(told`The upstream sent an answer that could not be read.`, error);
  }
  return error.fault === 'truncated'
    ? pathFault(told`The upstream cut its answer off.`, error)
    : pathFault(told`The upstream sent an answer that could not be read.`, error);
}

export const IDLE_MS = 90_000;
const LONG_IDLE_MS = 180_000;
/** Usage and sources may come behind the finish reason; and some upstreams write it into every frame. */
const FINISHED_IDLE_MS = 30_000;

/** The limit in milliseconds after each frame of one answer. */
export function createIdleLimit({
  drawsImages,
}: {
  readonly drawsImages: boolean;
}): (frame: Frame) => number {
  return (frame) => {
    if (saysItsEnd(frame)) return FINISHED_IDLE_MS;
    return drawsImages || endsInThought(frame.repeats ?? frame.value) ? LONG_IDLE_MS : IDLE_MS;
  };
}

/** True when every candidate of the frame names the reason why it has finished; no answer ends in a thought. */
export function saysItsEnd(frame: Frame): boolean {
  // What repeats another frame ends as little, or as much, as that one.
  const value = frame.repeats ?? frame.value;
  const { candidates } = value;
  if (!Array.isArray(candidates) || candidates.length === 0 || endsInThought(value)) return false;
  return candidates.every(
    (candidate) => isJsonObject(candidate) && isReason(candidate.finishReason),
  );
}

/** Some upstreams write every field into every frame, also those that say nothing. */
function isReason(reason: JsonValue | undefined): boolean {
  return typeof reason === 'string' && reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED';
}

function endsInThought({ candidates }: JsonObject): boolean {
  const candidate = Array.isArray(candidates) ? candidates.at(-1) : undefined;
  if (!isJsonObject(candidate) || !isJsonObject(candidate.content)) return false;
  const { parts } = candidate.content;
  const part = Array.isArray(parts) ? parts.at(-1) : undefined;
  return isJsonObject(part) && part.thought === true;
}
