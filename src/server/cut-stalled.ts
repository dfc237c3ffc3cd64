// Cuts off a client that takes nothing of what waits for it; one that takes a little, however little, goes on.

import type { ServerResponse } from 'node:http';
import type { Clock, Timer } from '../lib/clock.ts';
import { readUnsentBytes } from './unsent-bytes.ts';

/** A client that takes nothing for this long is cut off. */
const STALL_MS = 120_000;
/** Most waits are over by then, and nobody has looked what the system holds. */
const FIRST_LOOK_MS = 2_000;
/** All look at the same moments: one reading of what the system holds serves all, and takes longer the more there are. */
const STEP_MS = 1_000;

export type StallClock = Pick<Clock, 'monotonic' | 'startTimer'>;

/**
 * From now until `cancel`, which whoever sees progress calls. A pipelined response has no socket before
 * its turn: until then it is not the client that is slow.
 */
export function cutStalled(response: ServerResponse, clock: StallClock): Pick<Timer, 'cancel'> {
  let timer: Timer | undefined;
  let isOver = false;
  const look = (): Promise<number | undefined> => readUnsentBytes(response.socket);
  const callAt = (at: number, callback: () => void): void => {
    timer = clock.startTimer(at - clock.monotonic(), callback);
  };
  const begin = (): void => {
    const at = Math.floor((clock.monotonic() + FIRST_LOOK_MS) / STEP_MS) * STEP_MS;
    callAt(at, () => wait(at + STALL_MS - FIRST_LOOK_MS, look()));
  };
  const wait = (at: number, before: Promise<number | undefined>): void => {
    callAt(at, () => void judge(at, before));
  };
  const judge = async (at: number, before: Promise<number | undefined>): Promise<void> => {
    const now = look();
    const isStalled = (await before) === (await now);
    if (isOver) return;
    if (isStalled) response.destroy();
    else wait(at + STALL_MS, now);
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
