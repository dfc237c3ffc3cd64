// The gateway as one file: made for this platform, unpacked where there is neither node nor the project, and run.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { startGatewayProgram } from '../support/gateway-process.ts';
import { PROTOCOL_CALLS, send } from '../support/protocol-calls.ts';
import { runProgram } from '../support/run-program.ts';

const NAME = `isthmus-${manifest.version}-${process.platform}-${process.arch}`;
const ARCHIVE = join(import.meta.dirname, '../../archives', `${NAME}.tar.gz`);

describe.runIf(process.env.ISTHMUS_SLOW === '1')('the archive', { timeout: 600_000 }, () => {
  let folder: string;
  let program: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'isthmus-archive-test-'));
    await runProgram(process.execPath, ['scripts/archive.mjs']);
    execFileSync('tar', ['--extract', '--gzip', '--file', ARCHIVE, '--directory', folder]);
    program = join(folder, NAME, 'isthmus');
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  const start = async (environment: Readonly<Record<string, string>> = {}) => {
    const gateway = await startGatewayProgram(program, [], {
      environment: { PATH: '/nowhere', ...environment },
    });
    closers.push(() => gateway.stop());
    return gateway;
  };

  test('is small, has its checksum beside it, and the papers, the man page and the service inside', () => {
    const megabytes = [program, ARCHIVE].map((path) => statSync(path).size / 1e6);
    console.log(
      `The program has ${megabytes[0]?.toFixed(1)} MB, packed ${megabytes[1]?.toFixed(1)} MB.`,
    );
    expect(megabytes[1]).toBeLessThan(60);
    const digest = createHash('sha256').update(readFileSync(ARCHIVE)).digest('hex');
    expect(readFileSync(`${ARCHIVE}.sha256`, 'utf8')).toBe(`${digest}  ${NAME}.tar.gz\n`);
    expect(readdirSync(join(folder, NAME))).toEqual(
      expect.arrayContaining(['LICENSE', 'NOTICES.txt', 'isthmus', 'isthmus.1']),
    );
  });

  test('answers in each protocol and shows the console', async () => {
    const { url } = await start();
    const page = await fetch(`${url}/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
    for (const call of PROTOCOL_CALLS) {
      expect([call.name, (await send(url, call)).status]).toEqual([call.name, 200]);
      const stream = await send(url, call, { stream: true });
      expect([call.name, call.isComplete(stream.text)]).toEqual([call.name, true]);
    }
  });

  test('has its commands, which take words as ever', async () => {
    const { url } = await start();
    expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toBe(
      `${manifest.version}\n`,
    );
    const environment = { PORT: new URL(url).port, ISTHMUS_DATA_DIR: folder };
    expect(await runProgram(program, ['health'], environment)).toContain('takes requests');
    expect(await runProgram(program, ['models', '--url', url], environment)).toContain('alpha-3');
    await expect(runProgram(program, ['serve', 'now'])).rejects.toThrow('too many arguments');
  });

  test('runs with the flags that npm start gives, with several processes too, and ends when told to', async () => {
    for (const WORKERS of ['1', '2']) {
      const { url, pid, stop } = await start({ WORKERS });
      for (const call of PROTOCOL_CALLS) expect((await send(url, call)).status).toBe(200);
      if (process.platform === 'linux') {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        expect(environment).toContain('NODE_OPTIONS=--max-semi-space-size=');
        expect(environment).toContain('MALLOC_TRIM_THRESHOLD_=');
      }
      expect(await stop()).toBe(0);
    }
  });
});
