// Saves what gathers in memory from time to time, never waited for by requests.

import type { Clock, Timer } from '../lib/clock.ts';

export interface Batch {
  /** Says that there is something to save. */
  touch(): void;
  /** Saves what is left, once; resolves also when that fails. */
  close(): Promise<void>;
}

export interface BatchOptions {
  readonly clock: Pick<Clock, 'startTimer'>;
  /** What is saved, for the log. */
  readonly title: string;
  /** Takes what has gathered; when it throws it has put it back, and is called again later. */
  save(): Promise<void>;
  readonly log?: DoorLog | undefined;
}

export interface DoorLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const GATHER_MS = 1_000;
const AFTER_FAILURE_MS = 5_000;

export function createBatch({ clock, title, save, log }: BatchOptions): Batch {
  let timer: Timer | undefined;
  let saving: Promise<void> | undefined;
  let isTouched = false;
  let isFailing = false;
  let isClosed = false;

  const run = async (): Promise<void> => {
    isTouched = false;
    try {
      await save();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log?.warn({ error }, `${title} cannot be saved; requests go on without it.`);
      isFailing = true;
      isTouched = true;
    }
  };
  const schedule = (): void => {
    if (isClosed || timer !== undefined || saving !== undefined) return;
    timer = clock.startTimer(isFailing ? AFTER_FAILURE_MS : GATHER_MS, () => {
      timer = undefined;
      saving = run().finally(() => {
        saving = undefined;
        if (isTouched) schedule();
      });
    });
  };

  return {
    touch() {
      isTouched = true;
      schedule();
    },
    async close() {
      isClosed = true;
      timer?.cancel();
      await saving;
      if (isTouched) await run();
    },
  };
}
