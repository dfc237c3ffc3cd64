// A program that serves HTTP on loopback until it is stopped.

import { type ChildProcess, spawn } from 'node:child_process';
import { freePort } from './free-port.ts';

export interface ServerProgram {
  /** Without a slash at the end. */
  readonly url: string;
  /** Everything it printed so far. */
  output(): string;
  stop(): Promise<void>;
}

interface StartOptions {
  /** The words of the command line, with the port it is to listen on. */
  readonly args: (port: number) => readonly string[];
  /** Of the environment of the tests it gets PATH alone. */
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** What it prints when it takes requests. */
  readonly ready: RegExp;
}

/** @throws Error with what it printed, when it ends before it is ready. */
export async function startProgram(file: string, options: StartOptions): Promise<ServerProgram> {
  const { args, environment, folder, ready } = options;
  const port = await freePort();
  const child = spawn(file, args(port), {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  await new Promise<void>((resolve, reject) => {
    const collect = (data: Buffer): void => {
      text += data;
      if (ready.test(text)) resolve();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}:\n${text}`)));
  });
  return { url: `http://127.0.0.1:${port}`, output: () => text, stop: () => stop(child) };
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
