// `WORKERS`: several processes on one port. The parent starts them, ends them, and keeps what they share.

import cluster, { type ClusterSettings, type Worker } from 'node:cluster';
import { hostname } from 'node:os';
import { isSea } from 'node:sea';
import { Hub } from '../cluster/memory.ts';
import { type Channel, serveWorker } from '../cluster/parent.ts';
import { type Flags, resolveDataDir } from '../config/effective.ts';
import { readEnvironment } from '../config/env.ts';
import { createSystemClock } from '../lib/clock.ts';
import { claimFolder, makeDataDir, SHARED_FOLDER } from './data-folder.ts';
import { outliveOutput } from './log.ts';
import type { RunningServer } from './serve.ts';
import { isReport, reportReplaced, tell } from './worker.ts';
import { createHandover } from './worker-connections.ts';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** A worker that served this long did not end because of how it started. */
const STABLE_MS = 60_000;

interface Running {
  readonly worker: Worker;
  readonly listening: Promise<void>;
}

/** Starts the workers one by one and ends with the first. SIGHUP replaces them without losing requests. */
export function serveWithWorkers(count: number, flags: Flags): RunningServer {
  outliveOutput();
  const clock = createSystemClock();
  const hub = new Hub(clock);
  const handover = createHandover(clock);
  const running = new Map<number, Running>();
  let failures = 0;
  let closing: Promise<void> | undefined;
  let replacing: Promise<void> = Promise.resolve();
  const environment = readEnvironment();
  const dataDir = resolveDataDir(flags, environment);
  makeDataDir(dataDir);
  const claim = claimFolder(dataDir);
  if (!claim.isOurs) process.stderr.write(`${SHARED_FOLDER}\n`);
  cluster.setupPrimary(wordsOfWorkers(process.argv));

  const start = (place: number): Running => {
    const name = `${environment.replicaName ?? hostname()}/${place}`;
    const worker = cluster.fork({ ISTHMUS_REPLICA_NAME: name, ISTHMUS_REPLICA_NAME_FILE: '' });
    const leave = serveWorker(hub, channelTo(worker));
    handover.serve(worker, () => {
      process.stderr.write(`Worker ${place} does not answer and is ended.\n`);
      worker.process.kill('SIGKILL');
    });
    const startedAt = clock.monotonic();
    const listening = new Promise<void>((resolve, reject) => {
      worker.on('message', (message: unknown) => {
        if (isReport(message)) resolve();
      });
      worker.once('exit', (code, signal) => {
        leave();
        reject(new Error(`A worker ended with ${signal ?? code} before it listened.`));
        if (running.get(place)?.worker === worker)
          onDeath(place, startedAt, signal ?? String(code));
      });
    });
    // The rejection is handled by those that wait for it.
    listening.catch(() => undefined);
    const started = { worker, listening };
    running.set(place, started);
    return started;
  };

  const onDeath = (place: number, startedAt: number, how: string): void => {
    running.delete(place);
    if (closing !== undefined) return;
    const isStable = clock.monotonic() - startedAt >= STABLE_MS;
    failures = isStable ? 1 : failures + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
    process.stderr.write(
      `Worker ${place} ended with ${how}; another takes its place in ${pauseMs} ms.\n`,
    );
    setTimeout(() => {
      if (closing === undefined && !running.has(place)) start(place);
    }, pauseMs);
  };

  /** False when the old one serves on: what is new may be what is wrong. */
  const replace = async (place: number): Promise<boolean> => {
    const old = running.get(place);
    try {
      await start(place).listening;
    } catch (error) {
      if (closing !== undefined) return false;
      process.stderr.write(`${error instanceof Error ? error.message : error} The workers stay.\n`);
      if (old !== undefined && !old.worker.isDead()) running.set(place, old);
      return false;
    }
    if (old !== undefined) await ended(old.worker, reportReplaced);
    return true;
  };

  const replaceAll = async (): Promise<void> => {
    for (let place = 1; place <= count && closing === undefined; place += 1) {
      if (!(await replace(place))) return;
    }
  };
  // A terminal that closes sends it too, and means the end.
  if (process.stdout.isTTY !== true) {
    process.on('SIGHUP', () => {
      replacing = replacing.then(replaceAll);
    });
  }

  return {
    async listen() {
      const first = start(1);
      await first.listening;
      const others = Array.from({ length: count - 1 }, (_, index) => start(index + 2));
      await Promise.allSettled(others.map(({ listening }) => listening));
    },
    close() {
      const ends = [...running.values()].map(({ worker }) =>
        ended(worker, (one) => one.process.kill('SIGTERM')),
      );
      handover.end();
      closing ??= Promise.all([...ends, replacing]).then(() => claim.release());
      return closing;
    },
  };
}

/** @param end lets it end without a request lost. @returns what resolves when it is gone */
function ended(worker: Worker, end: (worker: Worker) => void): Promise<void> {
  if (worker.isDead()) return Promise.resolve();
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    end(worker);
  });
}

function channelTo(worker: Worker): Channel {
  return {
    send: (message) => tell(worker, message),
    listen(listener) {
      worker.on('message', listener);
      return () => void worker.off('message', listener);
    },
  };
}

/** A single executable is its own script: node hands it the name of one, and its flags, as words of the program. */
function wordsOfWorkers([, script, ...words]: readonly string[]): ClusterSettings {
  if (!isSea()) return { exec: script, args: words };
  const [exec = 'serve', ...args] = words;
  return { execArgv: [], exec, args };
}
