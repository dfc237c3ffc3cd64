// An output that takes nothing, as a file on a full disk: requests are served, the gateway ends when it is told to, and a
// command fails that could not say what it was asked for.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { GATEWAY_MAIN } from '../support/run-program.ts';
import { makeTestFolder } from '../support/test-folder.ts';

/** Linux has a file whose disk is always full. */
test.skipIf(process.platform !== 'linux').each(['1', '2'])(
  'a full disk of standard output and error harms no request, with WORKERS=%s',
  async (workers) => {
    const folder = makeTestFolder('deaf-');
    const port = await freePort();
    const full = openSync('/dev/full', 'w');
    const gateway = spawn(process.execPath, [GATEWAY_MAIN, 'serve', '--port', String(port)], {
      env: { PATH: process.env.PATH, HOME: folder, ISTHMUS_DATA_DIR: folder, WORKERS: workers },
      stdio: ['ignore', full, full],
    });
    closeSync(full);
    const ended = once(gateway, 'exit');
    const ask = async (): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({
          model: 'alpha-3-flash',
          messages: [{ role: 'user', content: 'Hi' }],
        }),
      });
      await answer.text();
      return answer.status;
    };
    await expect.poll(() => ask().catch(() => 0), { timeout: 30_000 }).toBe(200);
    // Longer than lines are gathered.
    const until = performance.now() + 600;
    while (performance.now() < until) expect(await ask()).toBe(200);
    gateway.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  },
  60_000,
);

/** A command, with its standard output there; what it says besides, and its exit code. */
function runInto(path: string, words: readonly string[]) {
  const file = openSync(path, 'w');
  const { stderr, status } = spawnSync(process.execPath, [GATEWAY_MAIN, ...words], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', file, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(file);
  return { said: stderr, code: status };
}

test.skipIf(process.platform !== 'linux')(
  'a command whose answer finds no room fails, and says why',
  () => {
    const words = ['completion', 'bash'];
    expect(runInto('/dev/null', words)).toEqual({ said: '', code: 0 });
    const { said, code } = runInto('/dev/full', words);
    expect(said).toBe('The output cannot be written: ENOSPC: no space left on device, write\n');
    expect(code).toBe(1);
  },
);

test('a command whose reader has read enough has done its work', async () => {
  const command = spawn(process.execPath, [GATEWAY_MAIN, 'completion', 'bash'], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  command.stdout.destroy();
  const [said, [code]] = await Promise.all([text(command.stderr), once(command, 'close')]);
  expect({ said, code }).toEqual({ said: '', code: 0 });
});
