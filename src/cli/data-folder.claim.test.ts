import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { claimFolder } from './data-folder.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-claim-'));
  folders.push(folder);
  return folder;
}

test('a folder has one owner at a time, in a private file', () => {
  const folder = createFolder();
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
  const folder = createFolder();
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
