// The one connection to a database file: whole transactions in turn, waiting for locks without blocking.

import { StoreError } from '../../accounts/account-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { told } from '../../lib/told.ts';
import { createSession, type Queries, type Survives } from './session.ts';
import { isBusy, toStoreError } from './sqlite-fault.ts';
import type { OpenHandle } from './sqlite-handle.ts';

export interface SqliteConnection {
  /** One consistent state. @throws StoreError */
  read<Result>(work: (queries: Queries) => Result): Promise<Result>;
  /** All of it or nothing, in the order of the calls; `work` may run again. @throws StoreError */
  write<Result>(survives: Survives, work: (queries: Queries) => Result): Promise<Result>;
  /** Brings the log into the database file and empties it, unless another process reads from it. @throws StoreError */
  emptyLog(): Promise<void>;
  /** Lets a file nothing was written to yet become smaller again later. @throws StoreError */
  makeShrinkable(): Promise<void>;
  /** After the writes under way; those that wait for a lock wait their time. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly path: string;
  /** What messages call it, where that is not its path. */
  readonly name?: string | undefined;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly open: OpenHandle;
}

const BUSY_WAIT_MS = 5000;
const BUSY_STEP_MS = 20;

export function createConnection(options: ConnectionOptions): SqliteConnection {
  const { path, name = path, clock, open } = options;
  const ended = new AbortController();
  const session = createSession(path, open);
  let lastWrite: Promise<unknown> = Promise.resolve();

  const attempt = async <Result>(until: number, work: () => Result): Promise<Result> => {
    for (;;) {
      if (ended.signal.aborted) {
        throw new StoreError('unavailable', told`The database ${name} is closed.`);
      }
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || clock.monotonic() >= until) throw toStoreError(error, name);
      }
      await clock.sleep(BUSY_STEP_MS, ended.signal).catch(() => undefined);
    }
  };

  const inTurn = <Result>(work: () => Result): Promise<Result> => {
    const until = clock.monotonic() + BUSY_WAIT_MS;
    const turn = lastWrite.then(() => attempt(until, work));
    lastWrite = turn.catch(() => undefined);
    return turn;
  };

  return {
    read: (work) => attempt(clock.monotonic() + BUSY_WAIT_MS, () => session.read(work)),
    write: (survives, work) => inTurn(() => session.write(survives, work)),
    emptyLog: () => inTurn(() => session.emptyLog()),
    makeShrinkable: () => inTurn(() => session.makeShrinkable()),
    async close() {
      await lastWrite;
      ended.abort();
      session.end();
    },
  };
}
