// Writes one stream to the client's socket at the pace the client reads.

import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';

/** A client that takes nothing for this long is cut off. */
const WRITE_STALL_MS = 120_000;
/** Larger texts go out in pieces, so that progress within one is seen. */
const PIECE_LENGTH = 65_536;
/** RFC 9112, "Chunked Transfer Coding". */
const LAST_CHUNK = '0\r\n\r\n';

export interface SocketWriter {
  readonly isOpen: boolean;
  /** Writes now; a promise when the client has to catch up before the next write. */
  write(text: string): Promise<void> | undefined;
  /** Writes unless the client is behind already. */
  writeIfIdle(text: string): void;
  end(): void;
}

export function createSocketWriter(response: ServerResponse, clock: Clock): SocketWriter {
  const isOpen = (): boolean => !response.writableEnded && !response.destroyed;
  let framesItself = false;
  /** True when the client has kept up. */
  const send = (text: string): boolean => {
    if (response.chunkedEncoding) {
      // From here on chunks are framed below: node would write each as four pieces, which costs the
      // kernel more than everything else about a small event.
      response.chunkedEncoding = false;
      framesItself = true;
    }
    if (!framesItself) return response.write(text);
    return response.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  };
  const sendInPieces = async (text: string): Promise<void> => {
    for (let start = 0; start < text.length && isOpen(); ) {
      const end = endOfPiece(text, start);
      if (!send(text.slice(start, end))) await waitForDrain(response, clock);
      start = end;
    }
  };
  return {
    get isOpen() {
      return isOpen();
    },
    write(text) {
      if (text === '' || !isOpen()) return undefined;
      if (text.length > PIECE_LENGTH) return sendInPieces(text);
      return send(text) ? undefined : waitForDrain(response, clock);
    },
    writeIfIdle(text) {
      if (text !== '' && isOpen() && !response.writableNeedDrain) send(text);
    },
    end() {
      if (!isOpen()) return;
      if (framesItself) response.end(LAST_CHUNK);
      else response.end();
    },
  };
}

/** Resolves when the client has caught up or is gone; cuts it off when it makes no progress. */
function waitForDrain(response: ServerResponse, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const stall = clock.startTimer(WRITE_STALL_MS, () => response.destroy());
    const settle = (): void => {
      stall.cancel();
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
  });
}

/** Pieces never part the two halves of a character. */
function endOfPiece(text: string, start: number): number {
  const end = Math.min(start + PIECE_LENGTH, text.length);
  const isParted = end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return isParted ? end - 1 : end;
}
