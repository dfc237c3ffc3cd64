// A fake clock for code that talks over real sockets: waits pass at once, and time stands still meanwhile.

import type { Clock, Timer } from '../../src/lib/clock.ts';

export interface PassingClock extends Clock {
  /** Moves time on, firing the timers that fall due, in order; sockets get their turn after each. */
  advance(byMs: number): Promise<void>;
  /** Moves time on; timers that fell due fire with the next wait. */
  skip(byMs: number): void;
}

interface Pending {
  dueAt: number;
  readonly callback: () => void;
}

export function createPassingClock(startAt = 1_700_000_000_000): PassingClock {
  let now = startAt;
  const timers = new Set<Pending>();
  const takeDue = (until: number): Pending | undefined => {
    let next: Pending | undefined;
    for (const timer of timers) {
      if (timer.dueAt <= until && timer.dueAt < (next?.dueAt ?? Number.POSITIVE_INFINITY)) {
        next = timer;
      }
    }
    if (next !== undefined) timers.delete(next);
    return next;
  };
  const startTimer = (delayMs: number, callback: () => void): Timer => {
    const pending: Pending = { dueAt: now + delayMs, callback };
    timers.add(pending);
    return { cancel: () => void timers.delete(pending) };
  };
  return {
    now: () => now,
    monotonic: () => now,
    startTimer,
    async sleep(delayMs, signal) {
      signal.throwIfAborted();
      const until = now + delayMs;
      for (let due = takeDue(until); due !== undefined; due = takeDue(until)) {
        now = Math.max(now, due.dueAt);
        due.callback();
      }
      now = Math.max(now, until);
    },
    async advance(byMs) {
      const until = now + byMs;
      for (let due = takeDue(until); due !== undefined; due = takeDue(until)) {
        now = Math.max(now, due.dueAt);
        due.callback();
        await turnLoop();
      }
      now = Math.max(now, until);
    },
    skip(byMs) {
      now += byMs;
    },
  };
}

/** Long enough for a process to start on a machine with much else to do. */
const LONGEST_REAL_WAIT_MS = 60_000;
const TURNS = 8;
const STEP_MS = 100;
const REAL_STEP_MS = 2;

/** Lets real sockets and files do their work until `isSo`. @throws Error when that takes too long */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const startedAt = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedAt > LONGEST_REAL_WAIT_MS) throw new Error(`Never: ${what}.`);
    await realStep();
  }
}

/** Moves time on in small steps until `work` is done, for work that waits on timers of the clock. */
export async function whileTimePasses<Result>(
  clock: PassingClock,
  work: Promise<Result>,
): Promise<Result> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  // Whoever awaits the answer learns of its failure.
  done.catch(() => {});
  while (!isDone) {
    await clock.advance(STEP_MS);
    // Slow enough that no time limit of a call on loopback runs out.
    if (!isDone) await realStep();
  }
  return done;
}

function realStep(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, REAL_STEP_MS));
}

async function turnLoop(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((done) => setImmediate(done));
}
