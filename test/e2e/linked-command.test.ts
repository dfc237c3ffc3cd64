// The command that `npm link` makes of a checkout.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'isthmus-linked-')));
const CHECKOUT = join(folder, 'checkout');

function place(path: string, text: string): void {
  mkdirSync(dirname(join(CHECKOUT, path)), { recursive: true });
  writeFileSync(join(CHECKOUT, path), text);
}

/** One that is set up, and whose program says where it runs and with what. */
function makeCheckout(): void {
  for (const part of ['bin', 'scripts']) {
    const isOurs = (path: string): boolean => !path.includes('node_modules');
    cpSync(join(ROOT, part), join(CHECKOUT, part), { recursive: true, filter: isOurs });
  }
  for (const path of ['package.json', 'package-lock.json', 'scripts/node/package-lock.json']) {
    place(path, '{}');
  }
  place('node_modules/.isthmus-lock-hash', createHash('sha256').update('{}{}').digest('hex'));
  const program = 'console.log(JSON.stringify([process.cwd(), ...process.argv.slice(2)]));';
  place(
    'node_modules/vite/bin/vite.js',
    `const fs = require('node:fs'); fs.mkdirSync('lib'); fs.writeFileSync('lib/main.js', ${JSON.stringify(program)});`,
  );
  const node = `scripts/node/node_modules/node-${process.platform}-${process.arch}/bin/node`;
  mkdirSync(dirname(join(CHECKOUT, node)), { recursive: true });
  symlinkSync(process.execPath, join(CHECKOUT, node));
}

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('a linked command runs where it is called, with the files and the project that are there', () => {
  makeCheckout();
  const project = join(folder, 'project');
  const link = join(folder, 'isthmus');
  mkdirSync(project);
  symlinkSync(join(CHECKOUT, 'bin/isthmus.mjs'), link);
  const said = execFileSync(process.execPath, [link, 'backup', 'copy.tar.gz'], {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(JSON.parse(said)).toEqual([project, 'backup', 'copy.tar.gz']);
});
