// A real nginx or HAProxy for tests, on the configuration that `deploy/` gives operators.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled } from './debian-packages.ts';
import { freePort } from './free-port.ts';

export type BalancerName = 'nginx' | 'haproxy';

const DEPLOY = join(import.meta.dirname, '../../deploy');

interface Program {
  readonly config: string;
  /** The line of a gateway in it; the others are removed. */
  readonly server: RegExp;
  writeServer(port: number, index: number): string;
  args(config: string, folder: string): readonly string[];
}

const PROGRAMS: Readonly<Record<BalancerName, Program>> = {
  nginx: {
    config: 'nginx.conf',
    server: /^ *server [\d.]+:8045(.*);\n/gm,
    writeServer: (port) => `    server 127.0.0.1:${port} max_fails=0;\n`,
    args: (config, folder) => ['-e', 'stderr', '-p', folder, '-c', config, '-g', 'daemon off;'],
  },
  haproxy: {
    config: 'haproxy.cfg',
    server: /^ *server [\w-]+ [\d.]+:8045\n/gm,
    writeServer: (port, index) => `  server gateway-${index} 127.0.0.1:${port}\n`,
    args: (config) => ['-db', '-f', config],
  },
};

export function hasBalancer(name: BalancerName): boolean {
  return isInstalled(() => spawnSync(name, ['-v'], { stdio: 'ignore' }).status === 0, [name]);
}

export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Balances over gateways on these ports of loopback.
 * @param change what a test wants different in the configuration
 */
export async function startBalancer(
  name: BalancerName,
  gateways: readonly number[],
  change: (config: string) => string = (config) => config,
): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), `isthmus-${name}-`));
  const program = PROGRAMS[name];
  const port = await freePort();
  const servers = gateways.map((gateway, index) => program.writeServer(gateway, index));
  let isFirst = true;
  const text = readFileSync(join(DEPLOY, program.config), 'utf8')
    .replace(program.server, () => {
      const lines = isFirst ? servers.join('') : '';
      isFirst = false;
      return lines;
    })
    .replace(/(listen |bind :)8080/, (_all, word: string) =>
      word.startsWith('bind') ? `bind 127.0.0.1:${port}` : `listen 127.0.0.1:${port}`,
    )
    .replace('/tmp/nginx.pid', join(folder, 'nginx.pid'));
  const config = join(folder, program.config);
  writeFileSync(config, change(text));
  const child = spawn(name, program.args(config, folder), { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  while (!(await isOpen(port))) {
    if (isOver()) throw new Error(`${name} ended with ${child.exitCode}:\n${said}`);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      if (!isOver()) child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
