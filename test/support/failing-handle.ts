// A database handle whose chosen call fails, to see that everything around it holds.

import { type OpenHandle, openSqliteFile } from '../../src/stores/sqlite/session.ts';

export interface FailingHandle {
  readonly open: OpenHandle;
  /** From now on the `turn`th call to SQLite fails, once; 0 lets all pass. */
  failAt(turn: number, failure?: Failure): void;
  /** Calls since `failAt`. */
  readonly calls: number;
}

export interface Failure {
  /** SQLite's extended result code. */
  readonly code: number;
  /** `after` fails a call that was carried out: its outcome is unknown to the caller. */
  readonly when: 'before' | 'after';
}

export const FSYNC_FAILS: Failure = { code: 1034, when: 'before' };

/** Which of so many calls are worth failing: most of those between are steps of a database's shape, which are alike. */
export function callsToFail(calls: number): readonly number[] {
  const all = Array.from({ length: calls }, (_, nth) => nth + 1);
  return all.filter((call) => call <= 10 || call > calls - 20 || call % 7 === 0);
}

export function createFailingHandle(): FailingHandle {
  let calls = 0;
  let failing = 0;
  let failure = FSYNC_FAILS;
  const pass = <Result>(work: () => Result): Result => {
    calls += 1;
    if (calls !== failing) return work();
    if (failure.when === 'after') work();
    throw Object.assign(new Error('made to fail'), { errcode: failure.code });
  };
  return {
    get calls() {
      return calls;
    },
    failAt(turn, next = FSYNC_FAILS) {
      calls = 0;
      failing = turn;
      failure = next;
    },
    open(path) {
      const handle = pass(() => openSqliteFile(path));
      return {
        get isTransaction() {
          return handle.isTransaction;
        },
        exec: (sql) => pass(() => handle.exec(sql)),
        prepare(sql) {
          const statement = pass(() => handle.prepare(sql));
          return {
            all: (...values) => pass(() => statement.all(...values)),
            run: (...values) => pass(() => statement.run(...values)),
            columns: () => statement.columns(),
            setReturnArrays: (enabled) => statement.setReturnArrays(enabled),
          };
        },
        close: () => handle.close(),
      };
    },
  };
}
