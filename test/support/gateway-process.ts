// Starts the real gateway as a child process on a free port, with a data folder of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GATEWAY_MAIN } from './run-program.ts';

export interface RunningGateway {
  readonly url: string;
  readonly pid: number;
  /** Everything it printed so far. */
  output(): string;
  /** Calls back whenever something was printed; the answer ends it. */
  onOutput(listener: () => void): () => void;
  signal(name: NodeJS.Signals): void;
  /** The status it ends with; it is not asked to. */
  readonly ended: Promise<number | null>;
  stop(): Promise<number | null>;
}

export function startGateway(
  environment: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
  nodeFlags: readonly string[] = [],
  main: string = GATEWAY_MAIN,
): Promise<RunningGateway> {
  return startGatewayProgram(process.execPath, [...nodeFlags, main], { environment, flags });
}

interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

/** @param words what stands before `serve`, where the program is not the gateway itself */
export async function startGatewayProgram(
  program: string,
  words: readonly string[],
  { environment = {}, flags = [] }: StartOptions = {},
): Promise<RunningGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-gateway-'));
  const child = spawn(program, [...words, 'serve', '--port', '0', ...flags], {
    env: { PATH: process.env.PATH, HOME: folder, ISTHMUS_DATA_DIR: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const listeners = new Set<() => void>();
  const collect = (data: Buffer): void => {
    text += data;
    for (const listener of listeners) listener();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const url = await readUrl(child, () => text);
  return {
    url,
    pid: child.pid ?? 0,
    output: () => text,
    onOutput(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    signal: (name) => void child.kill(name),
    ended: new Promise((resolve) => child.on('exit', resolve)),
    stop: async () => {
      const code = await stop(child);
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}

function readUrl(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      const url = /https?:\/\/(?:127\.0\.0\.1|\[::1\]):\d+/.exec(output())?.[0];
      if (url !== undefined) resolve(url);
    });
    child.on('exit', (code) => reject(new Error(`The gateway ended with ${code}:\n${output()}`)));
  });
}

function stop(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
    child.on('exit', (code) => resolve(code));
    child.kill('SIGTERM');
  });
}
