// Brings the log of a database into its file on a thread of its own: the disk takes a while to flush, and all requests
// would wait for it.

import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

/**
 * In megabytes. The thread needs four; one that cannot have what it needs ends the whole process, also while it starts.
 */
const THREAD_MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 1 };

/** All of the thread: only its text gets there, so that it uses nothing from around it. */
function checkpointWhenAsked(): void {
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  parentPort?.on('message', (address: string) => {
    const database = new DatabaseSync(new URL(address));
    // Never waits for anybody: what a reader still needs stays in the log until the next time.
    database.exec('pragma wal_checkpoint(passive)');
    database.close();
    parentPort.postMessage('done');
  });
}

/** The thread is started for the first checkpoint, which many gateways that are little used never come to. */
export class Checkpoints {
  readonly #address: string;
  #worker: Worker | undefined;
  #isBroken = false;

  constructor(path: string) {
    const address = pathToFileURL(path);
    address.searchParams.set('mode', 'rw');
    this.#address = address.href;
  }

  /**
   * Resolves when the log was brought into the file as far as nobody reads from it. A thread that fails is not started
   * again: SQLite then does its work within a commit, once the log is several times as long.
   */
  run(): Promise<void> {
    if (this.#isBroken) return Promise.resolve();
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve) => {
      const end = (): void => {
        worker.off('message', end).off('exit', end);
        resolve();
      };
      worker.on('message', end).on('exit', end);
      worker.postMessage(this.#address);
    });
  }

  /** Call when no run is under way. */
  async close(): Promise<void> {
    this.#isBroken = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(`(${checkpointWhenAsked})()`, {
      eval: true,
      resourceLimits: THREAD_MEMORY,
      execArgv: [],
    });
    worker.unref();
    worker.on('error', () => {
      this.#isBroken = true;
    });
    return worker;
  }
}
