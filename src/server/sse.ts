// Writes one stream to the client's socket at the pace the client reads.

import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import { turn } from '../lib/turn.ts';
import { cutStalled } from './cut-stalled.ts';
import { onSocket } from './socket-events.ts';

/** Larger texts go out in pieces, so that progress within one is seen. */
const PIECE_LENGTH = 65_536;
/** RFC 9112, "Chunked Transfer Coding". */
const LAST_CHUNK = '0\r\n\r\n';

export interface SocketWriter {
  readonly isOpen: boolean;
  /** What is written in one turn goes out together; a promise when the client has to catch up first. */
  write(text: string): Promise<void> | undefined;
  /** Writes unless the client is behind already. */
  writeIfIdle(text: string): void;
  end(): void;
}

export function createSocketWriter(response: ServerResponse, clock: Clock): SocketWriter {
  return new ResponseWriter(response, clock);
}

interface Piece {
  readonly text: string;
  readonly encoding: 'latin1' | 'utf8';
}

class ResponseWriter implements SocketWriter {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #flush = (): void => {
    if (this.#isInPieces || !this.#isWritable) return;
    const text = this.#takePending();
    if (this.#isEnding) this.#end(text);
    else if (text !== '') this.#send(text);
  };
  /** Written and not yet sent: of this turn, or what is left of a larger text. */
  #pending = '';
  #isInPieces = false;
  #isEnding = false;
  #hasSent = false;
  #framesItself = false;

  constructor(response: ServerResponse, clock: Clock) {
    this.#response = response;
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return !this.#isEnding && this.#isWritable;
  }

  write(text: string): Promise<void> | undefined {
    if (text === '' || !this.isOpen) return undefined;
    if (this.#pending === '') turn.toClients(this.#flush);
    this.#pending += text;
    if (this.#pending.length > PIECE_LENGTH && !this.#isInPieces) return this.#sendInPieces();
    return this.#isBehind ? this.#untilDrained() : undefined;
  }

  writeIfIdle(text: string): void {
    if (!this.#isBehind) this.write(text);
  }

  end(): void {
    if (!this.isOpen) return;
    this.#isEnding = true;
    if (this.#isInPieces) this.#end(this.#takePending());
    else if (this.#pending === '') turn.toClients(this.#flush);
  }

  get #isWritable(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  get #isBehind(): boolean {
    return this.#response.writableNeedDrain || this.#response.socket?.writableNeedDrain === true;
  }

  #takePending(): string {
    const text = this.#pending;
    this.#pending = '';
    return text;
  }

  async #sendInPieces(): Promise<void> {
    this.#isInPieces = true;
    while (this.#pending !== '' && this.isOpen) {
      const end = endOfPiece(this.#pending);
      const piece = this.#pending.slice(0, end);
      this.#pending = this.#pending.slice(end);
      if (!this.#send(piece)) await this.#untilDrained();
    }
    this.#isInPieces = false;
  }

  #end(rest: string): void {
    const { text, encoding } = this.#frame(rest);
    this.#response.end(this.#framesItself ? text + LAST_CHUNK : text, encoding);
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

  /**
   * Node would write size, text and line ends of a chunk as four pieces, which costs the kernel more
   * than everything else about a small event.
   */
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
      const stall = cutStalled(response, this.#clock);
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

/** Pieces never part the two halves of a character. */
function endOfPiece(text: string): number {
  const end = Math.min(PIECE_LENGTH, text.length);
  const isParted = end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return isParted ? end - 1 : end;
}
