// A Prometheus of its own for a test file: on loopback, in a temporary folder, gone with the test.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { isInstalled } from './debian-packages.ts';
import { freePort } from './free-port.ts';

const isThere = (): boolean =>
  ['prometheus', 'promtool'].every(
    (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
  );

/** Said loudly where it is not. */
export const HAS_PROMETHEUS = findPrograms();

function findPrograms(): boolean {
  if (isInstalled(isThere, ['prometheus'])) return true;
  console.warn(
    'PROMETHEUS IS NOT INSTALLED: dashboard and alert rules are not run. Run apt-get install prometheus.',
  );
  return false;
}

export function promtool(words: readonly string[], folder: string): string {
  return execFileSync('promtool', words, { cwd: folder, encoding: 'utf8' });
}

/** @throws when the page of metrics cannot be read, or is named against the customs */
export function checkPage(page: string): void {
  execFileSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' });
}

const ANSWER = z.object({
  status: z.literal('success'),
  data: z.object({ result: z.array(z.unknown()) }),
});

export interface RunningPrometheus {
  /** The series an expression gives now. @throws when it is refused */
  query(expression: string): Promise<number>;
  close(): Promise<void>;
}

/** @param config the text of its file; the paths in it are absolute */
export async function startPrometheus(config: string): Promise<RunningPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-prometheus-'));
  const path = join(folder, 'prometheus.yaml');
  writeFileSync(path, config);
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${path}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    async query(expression) {
      const url = `http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`;
      const response = await fetch(url);
      const text = await response.text();
      if (!response.ok) throw new Error(`${expression}: ${text}`);
      return ANSWER.parse(JSON.parse(text)).data.result.length;
    },
    async close() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
