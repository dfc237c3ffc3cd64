import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { claimFolder } from './data-folder.ts';

test('a folder has one owner at a time, in a private file', () => {
  const folder = makeTestFolder('claim');
  const first = claimFolder(folder);
  expect(first.isOurs).toBe(true);
  expect(statSync(join(folder, 'running.lock')).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['running.lock']);
  expect(claimFolder(folder).isOurs).toBe(false);
  first.release();
  const second = claimFolder(folder);
  expect(second.isOurs).toBe(true);
  second.release();
});

test('a process that is killed leaves its folder to the next one', async () => {
  const folder = makeTestFolder('claim');
  const script = `
    const { claimFolder } = await import(${JSON.stringify(join(import.meta.dirname, 'data-folder.ts'))});
    globalThis.claim = claimFolder(${JSON.stringify(folder)});
    console.log(claim.isOurs);
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  const [said] = await once(child.stdout, 'data');
  expect(String(said).trim()).toBe('true');
  expect(claimFolder(folder).isOurs).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const next = claimFolder(folder);
  expect(next.isOurs).toBe(true);
  next.release();
});
