// A process of several on one port: its channel to the parent, and its report that it listens (its connections are told
// in `worker-connections.ts`, shared state in `src/cluster/parent.ts`).

import type { Worker } from 'node:cluster';
import { type Channel, isMarked } from '../cluster/parent.ts';

const MARK = 'isthmus-worker';

/** Not loaded where nobody started this process to talk to it, which is nearly everywhere. */
const cluster = process.send === undefined ? undefined : process.getBuiltinModule('node:cluster');

/** The channel to the parent; undefined in a process that is no worker. */
export function channelToParent(): Channel | undefined {
  if (cluster?.isWorker !== true) return undefined;
  return {
    send: (message) => void process.send?.(message),
    listen(listener) {
      process.on('message', listener);
      return () => void process.off('message', listener);
    },
  };
}

/** True for the first that starts, and for a process that is no worker: it says what a person at the terminal wants to know. */
export function isSpokesman(): boolean {
  return cluster?.worker === undefined || cluster.worker.id === 1;
}

/** To be called in a worker that listens. @param onReplaced called when another has taken its place */
export function reportListening(onReplaced: () => void): void {
  if (cluster?.isWorker !== true) return;
  process.on('message', (message) => {
    if (isReport(message)) onReplaced();
  });
  process.send?.({ mark: MARK });
}

/** Of the parent, to a worker whose place is taken. */
export function reportReplaced(worker: Worker): void {
  tell(worker, { mark: MARK });
}

/** Of the parent. A worker may end while it is told something; `exit` tells of that. */
export function tell(worker: Worker, message: object): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}

export function isReport(message: unknown): boolean {
  return isMarked(message, MARK);
}
