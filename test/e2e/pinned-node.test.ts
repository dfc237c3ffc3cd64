// The node that npm brings runs before it is relied on, or its user is told what it lacks.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeRunnable } from '../../scripts/pinned-node.mjs';

const LACKING = 'error while loading shared libraries: libatomic.so.1';

const folder = mkdtempSync(join(tmpdir(), 'isthmus-node-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function programOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** What `makeRunnable` answers, says, and how often it installs. */
function tryNode(path: string, install: () => boolean = () => false) {
  const said: string[] = [];
  let installs = 0;
  const isRunning = makeRunnable(path, {
    install: () => {
      installs += 1;
      return install();
    },
    say: (text) => said.push(text),
  });
  return { isRunning, said: said.join('\n'), installs };
}

test('a node that runs is taken as it is', () => {
  expect(tryNode(process.execPath)).toEqual({ isRunning: true, said: '', installs: 0 });
});

test('a node without its library runs once that is installed', () => {
  const path = programOf(
    'mended',
    `[ -e ${folder}/library ] && exit 0; echo '${LACKING}' >&2; exit 127`,
  );
  const install = (): boolean => {
    writeFileSync(join(folder, 'library'), '');
    return true;
  };
  expect(tryNode(path, install)).toEqual({ isRunning: true, said: '', installs: 1 });
});

test('where the library cannot be installed, what is missing and its package are named', () => {
  const found = tryNode(programOf('lacking', `echo '${LACKING}' >&2; exit 127`));
  expect(found).toMatchObject({ isRunning: false, installs: 1 });
  expect(found.said).toContain(LACKING);
  expect(found.said).toContain('libatomic1');
});

test.each([
  ['is not there', join(folder, 'nowhere'), 'ENOENT'],
  ['breaks', programOf('broken', 'echo broken >&2; exit 1'), 'broken'],
])('of a node that %s the reason is told, and nothing is installed', (_what, path, reason) => {
  const found = tryNode(path);
  expect(found).toMatchObject({ isRunning: false, installs: 0 });
  expect(found.said).toContain(reason);
});
