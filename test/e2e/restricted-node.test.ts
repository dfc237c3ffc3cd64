// A node that the operator restricts with its permission model.

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { GATEWAY_MAIN } from '../support/run-program.ts';
import { makeTestFolder } from '../support/test-folder.ts';

test('a start that may read files but begin no process says what it may not do, in words', () => {
  const folder = makeTestFolder('restricted-');
  const flags = ['--permission', '--allow-fs-read=*'];
  const { stderr, status } = spawnSync(process.execPath, [...flags, GATEWAY_MAIN, '--port', '0'], {
    env: { PATH: process.env.PATH, HOME: folder, ISTHMUS_DATA_DIR: `${folder}/data` },
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/^The data folder .* cannot be made: .*--allow-fs-write/);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(status).toBe(1);
});
