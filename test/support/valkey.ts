// A real Valkey or Redis server for tests: on loopback, in a temporary folder, without a file.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled } from './debian-packages.ts';
import { freePort } from './free-port.ts';

const PROGRAMS = ['valkey-server', 'redis-server'];

const isThere = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

/** The program that is installed; undefined, and said loudly, where there is none. */
export const VALKEY = findProgram();

function findProgram(): string | undefined {
  // Debian 12 has Redis alone.
  if (isInstalled(() => PROGRAMS.some(isThere), ['valkey-server'], ['redis-server']))
    return PROGRAMS.find(isThere);
  console.warn(
    'NEITHER valkey-server NOR redis-server IS INSTALLED: nothing of replicas is tried. Run apt-get install redis-server.',
  );
  return undefined;
}

export interface ValkeyServer {
  readonly url: string;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>;
  /** Stops answering without closing connections, and goes on. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

/** @throws Error when it does not start */
export async function startValkey(): Promise<ValkeyServer> {
  const program = VALKEY;
  if (program === undefined) throw new Error('Neither Valkey nor Redis is installed.');
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-valkey-'));
  const port = await freePort();
  let child = await start(program, folder, port);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    async restart() {
      await kill();
      child = await start(program, folder, port);
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function start(program: string, folder: string, port: number): Promise<ChildProcess> {
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const child = spawn(program, [...words, '--save', '', '--appendonly', 'no'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('Ready to accept connections')) resolve(child);
    });
    child.once('error', reject);
    child.once('exit', (status) => reject(new Error(`${program} ended with ${status}:\n${said}`)));
  });
}
