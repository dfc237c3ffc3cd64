// Programs that are started at once set the checkout up one after another.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const MODULE = pathToFileURL(join(import.meta.dirname, '../../scripts/one-at-a-time.mjs')).href;
const folder = mkdtempSync(join(tmpdir(), 'isthmus-set-up-'));
const LOCK = join(folder, 'lock');
const COUNT = join(folder, 'count');

/** Loses a count when two do it at once. */
const WORKER = `
  import { spawnSync } from 'node:child_process';
  import { existsSync, readFileSync, writeFileSync } from 'node:fs';
  import { oneAtATime } from ${JSON.stringify(MODULE)};
  oneAtATime(() => {
    const count = Number(readFileSync(${JSON.stringify(COUNT)}, 'utf8'));
    spawnSync(process.execPath, ['-e', '0']);
    writeFileSync(${JSON.stringify(COUNT)}, String(count + 1));
    if (process.argv[1] === 'fails') process.exit(3);
  }, ${JSON.stringify(LOCK)});
`;

async function work(how = 'ends'): Promise<unknown> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WORKER, how], {
    stdio: ['ignore', 'inherit', 'ignore'],
  });
  const [status] = await once(child, 'exit');
  return status;
}

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('what several processes set up is set up one after another, also behind one that failed or was killed', async () => {
  writeFileSync(COUNT, '0');
  const killed = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    stdio: 'ignore',
  });
  writeFileSync(LOCK, String(killed.pid));
  const works = [work(), work('fails'), work()];
  killed.kill('SIGKILL');
  expect(await Promise.all(works)).toEqual([0, 3, 0]);
  expect(readFileSync(COUNT, 'utf8')).toBe('3');
});
