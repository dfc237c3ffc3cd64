// Child processes of the bench: start, wait until they listen, stop.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { pinned } from './kernel.ts';

export interface Child {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from spawn until it said, or was seen, to listen. */
  readonly startMs: number;
  stop(): Promise<void>;
}

export interface ChildOptions {
  readonly program?: string;
  readonly arguments: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The port it was told to use; without it the child must print `http://127.0.0.1:<port>`. */
  readonly port?: number;
  /** Any where it is not said. */
  readonly core?: number;
}

const START_LIMIT_MS = 15_000;
const STOP_LIMIT_MS = 3_000;

/** @throws Error with the child's output when it ends or does not listen within 15 s. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const startedAt = performance.now();
  const program = options.program ?? process.execPath;
  const command = [program, ...options.arguments];
  const [file = program, ...args] =
    options.core === undefined ? command : pinned(options.core, command);
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...options.environment },
  });
  // Never outlives the bench, however that ends.
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const port = await untilListening(child, options.port);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    startMs: performance.now() - startedAt,
    stop: () => stop(child),
  };
}

/** A port nobody listens on, for a program that cannot choose one itself. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

async function untilListening(child: ChildProcess, port: number | undefined): Promise<number> {
  let output = '';
  const printedPort = new Promise<number>((resolve) => {
    const collect = (chunk: Buffer): void => {
      output = (output + chunk).slice(-10_000);
      const printed = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (printed !== undefined) resolve(Number(printed));
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
  });
  const limit = new AbortController();
  const failed = async (reason: Promise<string>): Promise<never> => {
    const text = await reason;
    child.kill('SIGKILL');
    throw new Error(`${child.spawnargs.join(' ')} ${text}:\n${output}`);
  };
  try {
    return await Promise.race([
      port === undefined ? printedPort : untilAccepting(port, limit.signal),
      failed(once(child, 'error').then(([error]) => `could not start (${error})`)),
      failed(once(child, 'exit').then(([code]) => `ended with ${code}`)),
      failed(wait(START_LIMIT_MS, 'did not listen in time', { signal: limit.signal })),
    ]);
  } finally {
    limit.abort();
  }
}

async function untilAccepting(port: number, signal: AbortSignal): Promise<number> {
  while (!signal.aborted) {
    const socket = connect({ port, host: '127.0.0.1' });
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) break;
    await wait(10);
  }
  return port;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(timer);
}
