// Cuts off a client that takes nothing of what waits for it; one that takes a little, however little, goes on.

import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../lib/clock.ts';
import { readUnsentBytes } from './unsent-bytes.ts';

/** A client that takes nothing for this long is cut off. */
const STALL_MS = 120_000;
/** Most waits are over by then, and nobody has looked what the system holds. */
const FIRST_LOOK_MS = 1_000;

/**
 * From now until `cancel`, which whoever sees progress calls. A pipelined response has no socket before
 * its turn: until then it is not the client that is slow.
 */
export function cutStalled(
  response: ServerResponse,
  clock: Pick<Clock, 'startTimer'>,
): Pick<Timer, 'cancel'> {
  let timer: Timer | undefined;
  let isOver = false;
  const look = (): Promise<number | undefined> => readUnsentBytes(response.socket);
  const begin = (): void => {
    timer = clock.startTimer(FIRST_LOOK_MS, () => wait(STALL_MS - FIRST_LOOK_MS, look()));
  };
  const wait = (delayMs: number, before: Promise<number | undefined>): void => {
    timer = clock.startTimer(delayMs, () => void judge(before));
  };
  const judge = async (before: Promise<number | undefined>): Promise<void> => {
    const now = look();
    const isStalled = (await before) === (await now);
    if (isOver) return;
    if (isStalled) response.destroy();
    else wait(STALL_MS, now);
  };
  if (response.socket === null) response.on('socket', begin);
  else begin();
  return {
    cancel() {
      isOver = true;
      timer?.cancel();
      response.off('socket', begin);
    },
  };
}
