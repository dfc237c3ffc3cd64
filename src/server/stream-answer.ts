// One streamed answer: headers held for the first event, keep-alives in silence, errors in the stream's own words.

import { asGatewayError } from '../canonical/error.ts';
import type { AnswerChunks } from '../dispatch/dispatcher.ts';
import type { Timer } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { pump } from '../lib/pump.ts';
import { SilenceTimer } from '../lib/silence-timer.ts';
import type { GenerateCall, StreamWriter } from '../protocols/protocol.ts';
import { baseHeaders } from './answer-headers.ts';
import { readCallContext } from './call-context.ts';
import { startDeadline } from './deadline.ts';
import type { Edge, Exchange } from './edge.ts';
import { logInternal, sendError } from './respond.ts';
import { createSocketWriter, type SocketWriter } from './sse.ts';

/**
 * Runs a streaming call to its end. Failures before the headers went out are thrown; later ones are
 * written into the stream, which then ends.
 * @throws GatewayError to render with its own status.
 */
export async function answerStream(
  edge: Edge,
  exchange: Exchange,
  call: GenerateCall,
): Promise<void> {
  const { abort, settings } = exchange;
  const { signal } = abort;
  const context = readCallContext(exchange);
  const stream = new OpenStream(edge, exchange, call);
  const deadline = startDeadline(edge.clock, abort, settings.requestTimeoutMs);
  const onAbort = (): void => {
    stream.stop();
    if (stream.hasBegun) stream.fail(signal.reason);
    else sendError(edge, exchange, signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const answer = await edge.dispatcher.generate(call, context);
    if (answer.kind === 'reply') throw new Error('A stream was asked for, a whole answer came.');
    await copyChunks(stream, answer.chunks, deadline);
  } catch (error) {
    if (!stream.hasBegun) throw error;
    stream.fail(error);
  } finally {
    deadline.cancel();
    stream.stop();
    signal.removeEventListener('abort', onAbort);
  }
}

async function copyChunks(
  stream: OpenStream,
  chunks: AnswerChunks,
  deadline: Timer,
): Promise<void> {
  stream.answer = chunks;
  let isFirst = true;
  await pump(chunks, (chunk) => {
    if (chunk === '') return true;
    if (isFirst) deadline.cancel();
    isFirst = false;
    const behind = stream.write(chunk);
    return behind === undefined ? stream.isOpen : behind.then(() => stream.isOpen);
  });
  if (!stream.hasBegun) throw new Error('The answer stream ended without any event.');
  stream.end();
}

/** The stream as the client sees it. */
class OpenStream {
  hasBegun = false;
  /** What is written; undefined until dispatch has it. */
  answer: AnswerChunks | undefined;
  readonly #edge: Edge;
  readonly #exchange: Exchange;
  readonly #writer: StreamWriter;
  readonly #socket: SocketWriter;
  readonly #pulse: SilenceTimer;

  constructor(edge: Edge, exchange: Exchange, call: GenerateCall) {
    this.#edge = edge;
    this.#exchange = exchange;
    const createdAt = Math.floor(edge.clock.now() / 1000);
    this.#writer = call.createStreamWriter({ model: call.model, createId, createdAt });
    this.#socket = createSocketWriter(exchange.response, edge.clock);
    this.#pulse = new SilenceTimer(edge.clock, () => this.#beat());
    this.#pulse.touch(exchange.settings.headerHoldMs);
  }

  get isOpen(): boolean {
    return this.#socket.isOpen;
  }

  write(chunk: string): Promise<void> | undefined {
    if (!this.hasBegun) this.#begin();
    this.#pulse.touch(this.#exchange.settings.keepAliveMs);
    return this.#socket.write(chunk);
  }

  end(): void {
    this.#socket.end();
  }

  /** Says in the stream's own words why it ends here. Before the headers it is the caller who answers. */
  fail(thrown: unknown): void {
    if (!this.hasBegun || !this.isOpen) return;
    const error = asGatewayError(thrown);
    const { record } = this.#exchange;
    record.error ??= error;
    if (error.kind === 'internal') logInternal(this.#edge, this.#exchange, error);
    // A writer of its own would begin anew what the answer's writer numbers or brackets.
    const ending = this.answer?.breakOff?.(error) ?? this.#writer.write({ kind: 'error', error });
    this.#socket.write(ending);
    this.#socket.end();
  }

  stop(): void {
    this.#pulse.cancel();
  }

  #begin(): void {
    const edge = this.#edge;
    const exchange = this.#exchange;
    this.hasBegun = true;
    if (!this.isOpen) return;
    const headers = baseHeaders(edge, exchange);
    headers.push('content-type', this.#writer.contentType);
    // Proxies must neither store nor collect what should arrive piece by piece.
    headers.push('cache-control', 'no-cache', 'x-accel-buffering', 'no');
    exchange.response.writeHead(200, headers);
  }

  #beat(): void {
    if (!this.hasBegun) this.#begin();
    this.#pulse.touch(this.#exchange.settings.keepAliveMs);
    if (!this.isOpen) return;
    this.#socket.writeIfIdle(this.#writer.keepAlive());
  }
}
