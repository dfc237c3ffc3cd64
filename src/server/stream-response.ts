// One streamed answer: headers held for the first event, keep-alives in silence, errors in the stream's own words.

import { asGatewayError } from '../canonical/error.ts';
import type { KeptText } from '../canonical/transcript.ts';
import type { AnswerChunks } from '../dispatch/dispatcher.ts';
import { type Clock, SilenceTimer, type Timer } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { LARGE_WORK, relieveMemory } from '../lib/memory-limit.ts';
import type { FollowedEvents, GenerateCall } from '../protocols/protocol.ts';
import type { StreamWriter } from '../protocols/writers.ts';
import { turn } from '../stream/scheduler.ts';
import { readCallContext, startDeadline } from './call-context.ts';
import { closeStalled, onSocket } from './connections.ts';
import type { Exchange } from './edge.ts';
import { baseHeaders, logInternal, sendError } from './respond.ts';
import type { ClientResponse } from './settings.ts';

/** Runs a streaming call. @throws GatewayError before the headers; later failures go into the stream */
export function answerStream(exchange: Exchange, call: GenerateCall): Promise<void> {
  const { edge, settings } = exchange;
  const { model } = call;
  const context = readCallContext(exchange);
  return sendStream(exchange, {
    async open() {
      const answer = await edge.dispatcher.generate(call, context);
      if (answer.kind === 'reply') throw new Error('A stream was asked for, a whole answer came.');
      return answer.chunks;
    },
    createWriter() {
      const createdAt = Math.floor(edge.clock.now() / 1000);
      return call.createStreamWriter({ model, createId, createdAt });
    },
    limitMs: settings.requestTimeoutMs,
    kept: call.kept,
  });
}

/** Reads a stream along that goes on without this client. @throws as `answerStream` */
export function followStream(
  exchange: Exchange,
  { events, first, reader }: FollowedEvents,
): Promise<void> {
  const { signal } = exchange.abort;
  const open = (): Promise<AnswerChunks> => Promise.resolve(events.read(first, signal));
  return sendStream(exchange, { open, createWriter: () => reader, mayBeEmpty: true });
}

interface StreamSource {
  open(): Promise<AnswerChunks>;
  /** For what has to be said while there is no answer. */
  createWriter(): StreamWriter;
  /** How long the first of it may take; as long as it does where it is not said. */
  readonly limitMs?: number;
  /** Where it ends well without any text. */
  readonly mayBeEmpty?: true;
  readonly kept?: GenerateCall['kept'];
}

async function sendStream(exchange: Exchange, source: StreamSource): Promise<void> {
  const { edge, abort } = exchange;
  const { signal } = abort;
  const stream = new OpenStream(exchange, source);
  const { limitMs } = source;
  const deadline = limitMs === undefined ? undefined : startDeadline(edge.clock, abort, limitMs);
  const onAbort = (): void => {
    stream.pulse.cancel();
    if (stream.hasBegun) stream.fail(signal.reason);
    else sendError(exchange, signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const chunks = await source.open();
    stream.answer = chunks;
    await sendChunks(stream, chunks, { deadline, kept: source.kept });
    if (!stream.hasBegun) {
      if (source.mayBeEmpty !== true) throw new Error('The answer stream ended without any event.');
      stream.begin();
    }
    stream.end();
  } catch (error) {
    if (!stream.hasBegun) throw error;
    stream.fail(error);
    if (stream.answer !== undefined) await sendChunks(stream, stream.answer);
    stream.end();
  } finally {
    deadline?.cancel();
    stream.pulse.cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

async function sendChunks(
  stream: OpenStream,
  chunks: AnswerChunks,
  { deadline, kept }: { deadline?: Timer | undefined; kept?: GenerateCall['kept'] } = {},
): Promise<void> {
  for await (const chunk of chunks) {
    if (chunk === '') continue;
    const keeping = kept?.();
    if (keeping !== undefined) await keeping;
    if (!stream.hasText) deadline?.cancel();
    const behind = stream.write(chunk);
    if (behind !== undefined) await behind;
    if (!stream.isOpen) break;
  }
}

/** Larger texts go out in pieces of so many bytes, so that progress within one is seen. */
const PIECE_LENGTH = 65_536;
/** RFC 9112, "Chunked Transfer Coding". */
const LAST_CHUNK = '0\r\n\r\n';

interface Piece {
  readonly text: string;
  readonly encoding: 'latin1' | 'utf8';
}

export class SocketWriter {
  readonly #response: ClientResponse;
  readonly #clock: Clock;
  /** Written and not yet sent. */
  #pending = '';
  #isInPieces = false;
  #isEnding = false;
  #hasSent = false;
  #framesItself = false;

  constructor(response: ClientResponse, clock: Clock) {
    this.#response = response;
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return !this.#isEnding && this.#isWritable;
  }

  /** What is written in one turn goes out together; a promise when the client has to catch up first. */
  write(text: string): Promise<void> | undefined {
    if (text === '' || !this.isOpen) return undefined;
    if (this.#pending === '') turn.toClients.add(this.#flush);
    this.#pending += text;
    if (this.#pending.length > PIECE_LENGTH && !this.#isInPieces) return this.#sendInPieces();
    return this.isBehind ? this.#untilDrained() : undefined;
  }

  get isBehind(): boolean {
    const response = this.#response;
    return response.writableNeedDrain || response.socket?.writableNeedDrain === true;
  }

  end(): void {
    if (!this.isOpen) return;
    this.#isEnding = true;
    if (this.#pending === '' && !this.#isInPieces) turn.toClients.add(this.#flush);
  }

  get #isWritable(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  readonly #flush = (): void => {
    if (this.#isInPieces || !this.#isWritable) return;
    const text = this.#pending;
    this.#pending = '';
    if (!this.#isEnding) {
      if (text !== '') this.#send(text);
      return;
    }
    const rest = this.#frame(text);
    this.#response.end(this.#framesItself ? rest.text + LAST_CHUNK : rest.text, rest.encoding);
  };

  async #sendInPieces(): Promise<void> {
    this.#isInPieces = true;
    while (this.#pending !== '' && this.isOpen) {
      if (this.#pending.length >= LARGE_WORK) relieveMemory();
      // Outside of V8's own memory, which has a limit: a client may take its time.
      const bytes = Buffer.from(this.#pending);
      this.#pending = '';
      for (let at = 0; at < bytes.length && this.#isWritable; ) {
        const end = endOfPiece(bytes, at);
        if (!this.#send(bytes.toString('utf8', at, end))) await this.#untilDrained();
        at = end;
      }
    }
    this.#isInPieces = false;
    if (this.#isEnding) this.#flush();
  }

  /** True when the client has kept up. */
  #send(chunk: string): boolean {
    const { text, encoding } = this.#frame(chunk);
    const { socket } = this.#response;
    // Behind the headers nothing is left for the response to add to a chunk that is framed already.
    if (this.#hasSent && this.#framesItself && socket?.writable === true) {
      return socket.write(text, encoding);
    }
    this.#hasSent = true;
    return this.#response.write(text, encoding);
  }

  /** Node would write a chunk as four pieces, which costs more than all else about a small event. */
  #frame(chunk: string): Piece {
    const response = this.#response;
    if (response.chunkedEncoding) {
      response.chunkedEncoding = false;
      this.#framesItself = true;
    }
    const bytes = Buffer.byteLength(chunk);
    // ASCII is the same in both; node measures and copies latin1 faster.
    const encoding = bytes === chunk.length ? 'latin1' : 'utf8';
    if (!this.#framesItself || bytes === 0) return { text: chunk, encoding };
    return { text: `${bytes.toString(16)}\r\n${chunk}\r\n`, encoding };
  }

  /** Resolves when the client has caught up or is gone; cuts it off when it makes no progress. */
  #untilDrained(): Promise<void> {
    const response = this.#response;
    const { socket } = response.req;
    return new Promise((resolve) => {
      const stall = closeStalled(response, this.#clock);
      const stops: (() => void)[] = [];
      const settle = (): void => {
        stall.cancel();
        response.off('drain', settle).off('close', settle);
        for (const stop of stops) stop();
        resolve();
      };
      response.on('drain', settle).on('close', settle);
      stops.push(onSocket(socket, 'drain', settle), onSocket(socket, 'close', settle));
    });
  }
}

/** Pieces never part the bytes of a character. */
function endOfPiece(bytes: Buffer, start: number): number {
  let end = Math.min(start + PIECE_LENGTH, bytes.length);
  // The first byte behind the piece must begin a character (RFC 3629).
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}

/** The stream as the client sees it. */
class OpenStream extends SocketWriter {
  /** True once headers went out, with text or without. */
  hasBegun = false;
  hasText = false;
  /** What is written; undefined until dispatch has it. */
  answer: AnswerChunks | undefined;
  readonly #exchange: Exchange;
  readonly #source: StreamSource;
  #ownWriter: StreamWriter | undefined;
  /** Says something where the answer is silent for long. */
  readonly pulse: SilenceTimer;
  readonly #sentBody: KeptText | undefined;

  constructor(exchange: Exchange, source: StreamSource) {
    const { clock } = exchange.edge;
    super(exchange.response, clock);
    this.#exchange = exchange;
    this.#source = source;
    this.#sentBody = exchange.record.sentBody;
    this.pulse = new SilenceTimer(clock, () => this.#beat());
    // A WebSocket has no headers, and is kept alive by its connection.
    if (exchange.turn === undefined) this.pulse.touch(exchange.settings.headerHoldMs);
  }

  get #writer(): StreamWriter {
    this.#ownWriter ??= this.#source.createWriter();
    return this.#ownWriter;
  }

  override write(chunk: string): Promise<void> | undefined {
    this.hasText = true;
    if (!this.hasBegun) this.begin();
    this.pulse.touch(this.#exchange.settings.keepAliveMs);
    this.#sentBody?.add(chunk);
    return super.write(chunk);
  }

  /** Says in the stream's own form why it ends. Before the headers the caller answers. */
  fail(thrown: unknown): void {
    if (!this.hasBegun || !this.isOpen) return;
    const error = asGatewayError(thrown);
    const { record } = this.#exchange;
    record.error ??= error;
    if (error.kind === 'internal') logInternal(this.#exchange, error);
    // A writer of its own would begin anew what the answer's writer numbers or brackets.
    if (this.answer?.endWithError !== undefined) {
      this.answer.endWithError(error);
      return;
    }
    const ending = this.#writer.write({ kind: 'error', error });
    this.#sentBody?.add(ending);
    super.write(ending);
    this.end();
  }

  begin(): void {
    const exchange = this.#exchange;
    this.hasBegun = true;
    if (!this.isOpen) return;
    const headers = baseHeaders(exchange);
    headers.push('content-type', this.answer?.contentType ?? this.#writer.contentType);
    // Proxies must neither store nor collect what should arrive piece by piece.
    headers.push('cache-control', 'no-cache', 'x-accel-buffering', 'no');
    exchange.response.writeHead(200, headers);
  }

  #beat(): void {
    if (!this.hasBegun) this.begin();
    this.pulse.touch(this.#exchange.settings.keepAliveMs);
    if (this.isOpen && !this.isBehind) super.write(this.#writer.keepAlive());
  }
}
