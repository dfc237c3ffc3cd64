import cluster from 'node:cluster';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { tell } from './worker.ts';

test('telling something to a worker that was killed a moment ago ends nobody else', async () => {
  const folder = makeTestFolder('worker');
  const script = join(folder, 'worker.mjs');
  writeFileSync(script, `process.on('message', () => process.send('heard'));`);
  cluster.setupPrimary({ exec: script });
  const worker = cluster.fork();
  onTestFinished(() => void worker.process.kill('SIGKILL'));
  tell(worker, { kind: 'first' });
  await once(worker, 'message');
  worker.process.kill('SIGKILL');
  // Without a turn of the event loop, in which this process would hear of it.
  while (!isGone(worker.process.pid ?? 0));
  expect(worker.isConnected()).toBe(true);
  const ended = once(worker, 'exit');
  tell(worker, { kind: 'second' });
  expect(await ended).toEqual([null, 'SIGKILL']);
});

/** All its threads ended, so that its channel is closed. */
function isGone(pid: number): boolean {
  const isOver = / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return isOver && readdirSync(`/proc/${pid}/task`).length === 1;
}
