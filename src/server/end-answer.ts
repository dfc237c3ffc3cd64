// Sends the body of an answer, a large one in pieces, to a client that may be slow.

import type { Timer } from '../lib/clock.ts';
import type { ClientResponse } from './client-response.ts';
import { closeStalled, type StallClock } from './connections.ts';

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
  response: ClientResponse,
  body: string | Buffer | undefined,
  clock: StallClock,
): void {
  if (body === undefined || body.length <= SMALL_LENGTH) response.end(body);
  else sendInPieces(response, typeof body === 'string' ? Buffer.from(body) : body, clock);
}

function sendInPieces(response: ClientResponse, body: Buffer, clock: StallClock): void {
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
    stall = closeStalled(response, clock);
    response.write(piece, sendNext);
  };
  response.once('close', () => stall?.cancel());
  sendNext();
}
