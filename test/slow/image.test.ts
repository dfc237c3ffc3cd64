// The image of the Dockerfile: built without a daemon, and run read-only, by a user without rights, in little memory.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { FITS_256_MEGABYTES, loadWithBodies, startPacedUpstream } from '../support/body-load.ts';
import {
  buildImage,
  type Container,
  type ContainerOptions,
  type Image,
  NO_IMAGE_BECAUSE,
  startContainer,
} from '../support/container-image.ts';
import { freePort } from '../support/free-port.ts';
import { mayLimitMemory } from '../support/memory-group.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';

const MEGABYTE = 1_048_576;
const MAX_IMAGE_BYTES = 190_000_000;
const STREAMS = 200;
/** What makes a request one of another machine. */
const FOREIGN = { 'x-forwarded-for': '203.0.113.9' };
const IN_FLIGHT = /^isthmus_requests_in_flight(?:\{.*\})? 1$/m;

const [CHAT] = PROTOCOL_CALLS;
if (CHAT === undefined) throw new Error('There is no protocol.');

const mayLimit = mayLimitMemory();
if (NO_IMAGE_BECAUSE !== undefined) {
  console.error(`*** SKIPPED: the image is neither built nor run, as ${NO_IMAGE_BECAUSE}. ***`);
} else if (!mayLimit) {
  console.error(
    '*** SKIPPED: the image is run without a limit of memory: no cgroup may be made. ***',
  );
}

describe.runIf(NO_IMAGE_BECAUSE === undefined)('the image', { timeout: 600_000 }, () => {
  let image: Image;
  const closers: (() => unknown)[] = [];
  beforeAll(async () => {
    image = await buildImage();
  }, 3_000_000);
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  afterAll(() => image?.close());

  const makeData = (): string => {
    const data = mkdtempSync(join(tmpdir(), 'isthmus-image-data-'));
    closers.push(() => rmSync(data, { recursive: true, force: true }));
    return data;
  };

  const start = async (options: Partial<ContainerOptions> = {}): Promise<Container> => {
    const data = options.data ?? makeData();
    const PORT = String(await freePort());
    const environment = { PORT, ...options.environment };
    const container = await startContainer(image, { ...options, data, environment });
    closers.push(async () => {
      if (container.isRunning()) await container.signal('KILL');
      await container.ended;
    });
    return container;
  };

  test('is small, and has node and the gateway but no shell, package manager or compiler', () => {
    const files = listFiles(image.root);
    const bytes = files.reduce((sum, path) => sum + statSync(join(image.root, path)).size, 0);
    console.log(`The image has ${(bytes / 1e6).toFixed(1)} MB in ${files.length} files.`);
    expect(bytes).toBeLessThan(MAX_IMAGE_BYTES);
    const isProgram = (path: string): boolean =>
      (statSync(join(image.root, path)).mode & 0o111) !== 0 && !/\.so(?:\.|$)/.test(path);
    expect(files.filter(isProgram)).toEqual(['usr/local/bin/isthmus', 'usr/local/bin/node']);
    expect(files.filter((path) => (statSync(join(image.root, path)).mode & 0o6002) !== 0)).toEqual(
      [],
    );
  });

  test('answers in each protocol, shows the console, and says that it is healthy', async () => {
    const { url, exec } = await start();
    expect(await exec('isthmus', 'health')).toContain('takes requests');
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const page = await fetch(`${url}/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
    for (const call of PROTOCOL_CALLS) {
      expect([call.name, (await send(url, call)).status]).toEqual([call.name, 200]);
      const stream = await send(url, call, { stream: true });
      expect([call.name, call.isComplete(stream.text)]).toEqual([call.name, true]);
    }
  });

  test('serves nobody on the network without a key: the first start makes one, which stays', async () => {
    const data = makeData();
    const first = await start({ data });
    expect(first.output()).toContain('a new key was made');
    const { api_key: key } = JSON.parse(await readFile(join(data, 'gui_config.json'), 'utf8'));
    await first.signal('TERM');
    expect(await first.ended).toBe(0);
    const { url, output } = await start({ data });
    expect(output()).not.toContain('a new key was made');
    const ask = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await fetch(`${url}/v1/models`, { headers: { ...FOREIGN, ...headers } })).status;
    expect(await ask({})).toBe(401);
    expect(await ask({ authorization: 'Bearer sk-wrong' })).toBe(401);
    expect(await ask({ authorization: `Bearer ${key}` })).toBe(200);
  });

  test('lets a running stream end after SIGTERM, and is not healthy meanwhile', async () => {
    const { url, signal, ended, exec } = await start({ environment: { ISTHMUS_DRAIN_DELAY: '1' } });
    const answer = send(url, CHAT, {
      stream: true,
      text: 'UPSTREAM-SLOW 200 UPSTREAM-WORDS 30 Hello',
    });
    await expect
      .poll(() => fetch(`${url}/metrics`).then((metrics) => metrics.text()))
      .toMatch(IN_FLIGHT);
    await signal('TERM');
    await expect(exec('isthmus', 'health')).rejects.toThrow(/no requests|No gateway/);
    expect(CHAT.isComplete((await answer).text)).toBe(true);
    expect(await ended).toBe(0);
  });

  test('serves with several processes', async () => {
    const { url, signal, ended, exec } = await start({ environment: { WORKERS: '2' } });
    expect((await send(url, CHAT)).status).toBe(200);
    expect(await exec('isthmus', 'health')).toContain('takes requests');
    await signal('TERM');
    expect(await ended).toBe(0);
  });

  test(`lives in 256 MB with ${STREAMS} streams, bodies up to the limit, and health checks`, async () => {
    const upstream = await startPacedUpstream();
    closers.push(upstream.close);
    const container = await start({
      memory: mayLimit ? 256 * MEGABYTE : undefined,
      environment: {
        ...{ UPSTREAM_PROFILE: 'gemini-api', UPSTREAM_BASE_URL: upstream.url },
        UPSTREAM_API_KEYS: 'one,two',
      },
    });
    let isOver = false;
    const checks: string[] = [];
    const checking = (async () => {
      while (!isOver) {
        const isHealthy = container.exec('isthmus', 'health').then(
          () => 'healthy',
          (error: Error) => error.message,
        );
        checks.push(await isHealthy);
      }
    })();
    const { unfair, taken, cut } = await loadWithBodies(container.url, STREAMS);
    isOver = true;
    await checking;
    expect(unfair).toEqual([]);
    expect(cut).toEqual([]);
    expect(container.isRunning()).toBe(true);
    expect(taken).toEqual(expect.arrayContaining(FITS_256_MEGABYTES));
    // On a machine with much else to do, some of them wait longer than they may.
    const healthy = checks.filter((check) => check === 'healthy');
    expect(healthy.length).toBeGreaterThan(checks.length / 2);
    expect(await container.exec('isthmus', 'health')).toContain('takes requests');
  });
});

/** Files by their paths, without symbolic links. */
function listFiles(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}
