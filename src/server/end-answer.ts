// Ends a whole answer, so that a wind-down does not cut what is still on its way, nor a client keep it for ever.

import type { ServerResponse } from 'node:http';
import type { Timer } from '../lib/clock.ts';
import { cutStalled, type StallClock } from './cut-stalled.ts';

/** What the kernel takes of any answer at once. */
const SMALL_LENGTH = 8_192;
/** Of a large answer progress is seen by the piece. */
const PIECE_BYTES = 262_144;

/**
 * A large answer ends only when the kernel has all of it: node takes a connection whose answer has
 * ended for an idle one, and closes those when the server closes, sent or not. A client that takes
 * nothing of it for two minutes is cut off.
 */
export function endAnswer(
  response: ServerResponse,
  body: string | Buffer | undefined,
  clock: StallClock,
): void {
  if (body === undefined || body.length <= SMALL_LENGTH) response.end(body);
  else sendInPieces(response, typeof body === 'string' ? Buffer.from(body) : body, clock);
}

function sendInPieces(response: ServerResponse, body: Buffer, clock: StallClock): void {
  let offset = 0;
  let stall: Pick<Timer, 'cancel'> | undefined;
  const sendNext = (): void => {
    stall?.cancel();
    if (response.destroyed) return;
    if (offset >= body.length) {
      response.end();
      return;
    }
    const piece = body.subarray(offset, offset + PIECE_BYTES);
    offset += piece.length;
    stall = cutStalled(response, clock);
    response.write(piece, sendNext);
  };
  response.once('close', () => stall?.cancel());
  sendNext();
}
