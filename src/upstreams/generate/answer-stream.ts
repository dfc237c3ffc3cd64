// One exchange with the upstream: response bytes in, batches of frames out, at the reader's own pace.

import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '../../lib/clock.ts';
import { createFrameReader, FrameError, type FrameReader } from '../../wire/sse-reader.ts';
import type { Frame, UpstreamStream } from '../upstream.ts';
import { classifyFailure, pathFault } from './errors.ts';
import { readNetworkError, timeoutFault } from './network-error.ts';

export interface AnswerStreamOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly limits: AnswerLimits;
  /** Secrets of the account, kept out of error texts. */
  readonly secrets: readonly string[];
  /** How long the upstream may be silent after this frame, in milliseconds. */
  idleMsAfter(frame: Frame): number;
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
type Ending = { readonly kind: 'end' } | { readonly kind: 'error'; readonly error: unknown };

interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  readonly chunks: Buffer[];
  bytes: number;
}

/** Interim answers (1xx) before the real one; more are no answer. */
const MOST_INTERIM = 100;

interface Waiter<Value> {
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/**
 * A handler of undici's `dispatch` and the iterator over its frames in one: no stream object stands
 * between the socket and the decoder. Comments and other bytes that complete no frame do not put the
 * idle limit off. An abort rejects at once with the signal's reason and destroys the socket.
 */
export class AnswerStream
  implements Dispatcher.DispatchHandler, AsyncIterator<readonly Frame[], undefined>
{
  /** Resolves with the frames when good headers came. @throws GatewayError with `failure` set */
  readonly opened: Promise<UpstreamStream>;
  readonly #options: AnswerStreamOptions;
  readonly #reader: FrameReader;
  readonly #onAbort = (): void => this.#cancel(this.#options.signal.reason);
  #opening: Waiter<UpstreamStream> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #hasAnswer = false;
  #interim = 0;
  #bytes = 0;
  #refusal: Refusal | undefined;
  #waiting: Frame[] = [];
  #waitingBytes = 0;
  #reading: Waiter<IteratorResult<readonly Frame[], undefined>> | undefined;
  #ending: Ending | undefined;
  #timer: Timer | undefined;
  #timerMs = 0;

  constructor(options: AnswerStreamOptions) {
    this.#options = options;
    this.#reader = createFrameReader(options.limits);
    this.opened = new Promise((resolve, reject) => {
      this.#opening = { resolve, reject };
    });
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<readonly Frame[], undefined>> {
    if (this.#waiting.length > 0) {
      const value = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#resume(value);
      return Promise.resolve({ done: false, value });
    }
    const ending = this.#ending;
    if (ending?.kind === 'error') {
      this.#ending = { kind: 'end' };
      return Promise.reject(ending.error);
    }
    if (ending !== undefined) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#reading = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<readonly Frame[], undefined>> {
    this.#waiting = [];
    this.#finish({ kind: 'end' });
    this.#controller?.abort(new Error('The answer is not read any further.'));
    return Promise.resolve({ done: true, value: undefined });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ending !== undefined) controller.abort(new Error('The request was given up.'));
  }

  onResponseStarted(): void {
    this.#hasAnswer = true;
  }

  onResponseStart(_controller: unknown, status: number, headers: Headers): void {
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > MOST_INTERIM) this.#cancel(pathFault('The upstream never answered.'));
      return;
    }
    if (status >= 300) {
      this.#refusal = { status, headers, chunks: [], bytes: 0 };
      this.#arm(this.#options.limits.refusalMs);
      return;
    }
    const fault = faultOfHeaders(headers);
    if (fault !== undefined) {
      this.#cancel(pathFault(fault, new Error(`content-type ${headers['content-type']}`)));
      return;
    }
    this.#arm(this.#options.limits.firstFrameMs);
    this.#opening?.resolve(this);
    this.#opening = undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ending !== undefined) return;
    if (this.#refusal !== undefined) {
      this.#readRefusal(this.#refusal, chunk);
      return;
    }
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.limits.maxAnswerBytes) {
      this.#cancel(pathFault('The upstream sent an answer that is too long.'));
      return;
    }
    try {
      this.#deliver(this.#reader.push(chunk));
    } catch (error) {
      this.#cancel(frameFault(error));
      return;
    }
    if (this.#waiting.length === 0) return;
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes < this.#options.limits.maxWaitingBytes) return;
    this.#disarm();
    controller.pause();
  }

  onResponseEnd(): void {
    if (this.#ending !== undefined) return;
    if (this.#refusal !== undefined) {
      this.#finish({ kind: 'error', error: this.#readFailure(this.#refusal) });
      return;
    }
    try {
      this.#deliver(this.#reader.end());
      this.#finish({ kind: 'end' });
    } catch (error) {
      this.#finish({ kind: 'error', error: frameFault(error) });
    }
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#ending !== undefined) return;
    const refusal = this.#refusal;
    const failure = refusal
      ? this.#readFailure(refusal)
      : readNetworkError(error, { hasAnswer: this.#hasAnswer });
    this.#finish({ kind: 'error', error: failure });
  }

  #deliver(frames: readonly Frame[]): void {
    const last = frames.at(-1);
    if (last === undefined) return;
    this.#arm(this.#options.idleMsAfter(last));
    const reading = this.#reading;
    if (reading === undefined) {
      for (const frame of frames) this.#waiting.push(frame);
      return;
    }
    this.#reading = undefined;
    reading.resolve({ done: false, value: frames });
  }

  #resume(taken: readonly Frame[]): void {
    const controller = this.#controller;
    if (this.#ending !== undefined || controller?.paused !== true) return;
    const last = taken.at(-1);
    if (last !== undefined) this.#arm(this.#options.idleMsAfter(last));
    controller.resume();
  }

  #readRefusal(refusal: Refusal, chunk: Buffer): void {
    refusal.chunks.push(chunk);
    refusal.bytes += chunk.length;
    if (refusal.bytes >= this.#options.limits.maxRefusalBytes) {
      this.#cancel(this.#readFailure(refusal));
    }
  }

  #readFailure({ status, headers, chunks }: Refusal): Error {
    const { clock, secrets, limits } = this.#options;
    const body = Buffer.concat(chunks).subarray(0, limits.maxRefusalBytes).toString();
    return classifyFailure({ status, headers, body, now: clock.now(), secrets });
  }

  /** Ends the exchange from this side: nothing more is given out, the socket goes. */
  #cancel(error: unknown): void {
    if (this.#options.signal.aborted) this.#waiting = [];
    this.#finish({ kind: 'error', error });
    this.#controller?.abort(new Error('The exchange was cancelled.'));
  }

  #finish(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#disarm();
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#options.onClosed();
    if (ending.kind === 'error' && this.#opening !== undefined) this.#opening.reject(ending.error);
    this.#opening = undefined;
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#reading = undefined;
    this.next().then(reading.resolve, reading.reject);
  }

  #arm(limitMs: number): void {
    if (this.#timer !== undefined && this.#timerMs === limitMs) {
      this.#timer.refresh();
      return;
    }
    this.#disarm();
    this.#timerMs = limitMs;
    this.#timer = this.#options.clock.startTimer(limitMs, () => this.#onSilence(limitMs));
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #onSilence(limitMs: number): void {
    const seconds = Math.round(limitMs / 1000);
    const silence = timeoutFault(`The upstream was silent for ${seconds} s.`);
    this.#cancel(this.#refusal ? this.#readFailure(this.#refusal) : silence);
  }
}

function faultOfHeaders(headers: Headers): string | undefined {
  const type = String(headers['content-type'] ?? '').toLowerCase();
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity') return 'The upstream sent an answer in an encoding not asked for.';
  const isExpected =
    type === '' || /^(?:text\/event-stream|application\/(?:[\w.]+\+)?json)\b/.test(type);
  return isExpected ? undefined : 'The upstream sent something other than an answer.';
}

function frameFault(error: unknown): Error {
  if (!(error instanceof FrameError)) {
    return pathFault('The upstream sent an answer that could not be read.', error);
  }
  return error.fault === 'truncated'
    ? pathFault('The upstream cut its answer off.', error)
    : pathFault('The upstream sent an answer that could not be read.', error);
}
