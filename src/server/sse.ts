// Writes one stream to the client's socket at the pace the client reads.

import type { ServerResponse } from 'node:http';
import type { Clock } from '../lib/clock.ts';

/** A client that takes nothing for this long is cut off. */
const WRITE_STALL_MS = 120_000;
/** Larger texts go out in pieces, so that progress within one is seen. */
const PIECE_BYTES = 65_536;

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
  const writeInPieces = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text, 'utf8');
    for (let start = 0; start < bytes.length && isOpen(); start += PIECE_BYTES) {
      if (!response.write(bytes.subarray(start, start + PIECE_BYTES))) {
        await waitForDrain(response, clock);
      }
    }
  };
  return {
    get isOpen() {
      return isOpen();
    },
    write(text) {
      if (text === '' || !isOpen()) return undefined;
      if (text.length > PIECE_BYTES) return writeInPieces(text);
      return response.write(text) ? undefined : waitForDrain(response, clock);
    },
    writeIfIdle(text) {
      if (text !== '' && isOpen() && !response.writableNeedDrain) response.write(text);
    },
    end() {
      if (isOpen()) response.end();
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
