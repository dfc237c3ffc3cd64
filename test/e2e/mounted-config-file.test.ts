// The config file of a container that is mounted by itself instead of with its folder.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTestFolder } from '../support/test-folder.ts';

const NAMESPACE = ['--user', '--map-root-user', '--mount'];
const MODULE = JSON.stringify(import.meta.resolve('../../src/config/file.ts'));

const mayMount = spawnSync('unshare', [...NAMESPACE, 'true']).status === 0;
if (!mayMount) {
  console.error('*** SKIPPED: the config file is not mounted, as no namespaces may be made. ***');
}

test.runIf(mayMount)('a config file that nothing can replace is written in place', () => {
  const folder = makeTestFolder('mounted-config');
  const path = join(folder, 'gui_config.json');
  const mounted = join(folder, 'data', 'gui_config.json');
  mkdirSync(join(folder, 'data'));
  writeFileSync(path, '{"theme": "a longer text than the next one"}');
  writeFileSync(mounted, '');
  const script = `
    const { fileSource } = await import(${MODULE});
    const source = fileSource({ path: process.argv[1], clock: undefined });
    await source.write({ theme: 'dark' }, await source.read());`;
  const program = 'mount --bind "$1" "$2" && exec "$3" --input-type=module -e "$4" "$2"';
  const words = [...NAMESPACE, 'sh', '-ec', program, 'sh', path, mounted, process.execPath, script];
  const { status, stderr } = spawnSync('unshare', words, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(readFileSync(path, 'utf8')).toBe('{\n  "theme": "dark"\n}\n');
  expect(readdirSync(join(folder, 'data'))).toEqual(['gui_config.json']);
});
