// Bodies of every size and kind in containers of little memory: each is answered, refused or told to wait, beside
// streams that notice nothing, and the process never dies.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { buildStale } from '../../scripts/build.mjs';
import { NODE_ENVIRONMENT, nodeFlags } from '../../scripts/node-flags.mjs';
import {
  FITS_256_MEGABYTES,
  loadWithBodies,
  loadWithCalls,
  startPacedUpstream,
} from '../support/body-load.ts';
import { makeMemoryGroup, mayLimitMemory } from '../support/memory-group.ts';

const MEGABYTE = 1_048_576;
const ROOT = join(import.meta.dirname, '../..');
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const mayGroup = mayLimitMemory();
if (!mayGroup)
  console.error('*** SKIPPED: test/slow/memory, as no memory cgroup may be made here. ***');

interface Contained {
  readonly url: string;
  readonly child: ChildProcess;
}

async function startContained(megabytes: number, upstreamUrl: string): Promise<Contained> {
  const limit = megabytes * MEGABYTE;
  const group = makeMemoryGroup(limit);
  if (group === undefined) throw new Error('There is no cgroup.');
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-memory-'));
  const node = [process.execPath, ...nodeFlags(limit), 'lib/main.js', 'serve', '--port', '0'];
  const script = `echo $$ > ${group}/cgroup.procs && exec ${node.join(' ')}`;
  const child = spawn('sh', ['-c', script], {
    cwd: ROOT,
    env: {
      ...NODE_ENVIRONMENT,
      ...{ PATH: process.env.PATH, HOME: folder, ISTHMUS_DATA_DIR: folder },
      ...{ UPSTREAM_PROFILE: 'gemini-api', UPSTREAM_BASE_URL: upstreamUrl },
      UPSTREAM_API_KEYS: 'one,two',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  closers.push(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
    await expect.poll(() => rmdirSync(group)).toBeUndefined();
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (data: Buffer) => {
      text += data;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`It ended with ${code}.`)));
  });
  return { url, child };
}

test.runIf(process.env.ISTHMUS_SLOW === '1' && mayGroup).each([
  [256, 50],
  [256, 200],
  [512, 50],
  [1024, 50],
])(
  'A3: in a container of %s MB no body takes anything from %s streams, nor do ten at once',
  { timeout: 600_000 },
  async (megabytes, streams) => {
    expect(buildStale('server')).toBe(true);
    const upstream = await startPacedUpstream();
    closers.push(upstream.close);
    const { url, child } = await startContained(megabytes, upstream.url);
    const { unfair, taken, cut, isOneOfManyTaken } = await loadWithBodies(url, streams);
    expect(unfair).toEqual([]);
    expect(cut).toEqual([]);
    expect(child.exitCode ?? child.signalCode).toBeNull();
    expect(taken).toEqual(expect.arrayContaining(FITS_256_MEGABYTES));
    expect(isOneOfManyTaken).toBe(true);
  },
);

test.runIf(process.env.ISTHMUS_SLOW === '1' && mayGroup).each([
  [10, 6],
  [20, 6],
  [60, 0],
])(
  'A3: in a container of 256 MB arguments of %s MB take nothing from 50 streams, and %s answers of six are whole',
  { timeout: 300_000 },
  async (megabytes, most) => {
    expect(buildStale('server')).toBe(true);
    const upstream = await startPacedUpstream();
    closers.push(upstream.close);
    const { url, child } = await startContained(256, upstream.url);
    const { unfair, whole, cut } = await loadWithCalls(url, 50, megabytes);
    expect(unfair).toEqual([]);
    expect(cut).toEqual([]);
    expect(child.exitCode ?? child.signalCode).toBeNull();
    expect(whole).toBe(most);
  },
);
