// An output that takes nothing, as a file on a full disk: requests are served, and the gateway ends when it is told to.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
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
