// The update check against a real package registry of this machine, verdaccio, to which packages are published with npm.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFakeTerminal } from '../../src/cli/fake-terminal.test-support.ts';
import { PUBLISHED } from '../../src/cli/package-name.ts';
import { createAnswer } from '../../src/cli/terminal.ts';
import { openUpdateCheck, sayNewest } from '../../src/cli/update-check.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { type ServerProgram, startProgram } from '../support/server-program.ts';

/** The registry of packages may lack the tag by which a part of it names node-fetch. */
const VERDACCIO = {
  dependencies: { verdaccio: '6.10.4' },
  overrides: { 'node-fetch': '2.7.0' },
};
const SETTINGS = `
storage: ./storage
auth: { htpasswd: { file: ./htpasswd } }
uplinks: {}
packages: { '**': { access: $all, publish: $anonymous } }
log: { type: stdout, format: pretty, level: warn }
`;

let folder: string;
let registry: ServerProgram;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-registry-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify(VERDACCIO));
  await npm('install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund');
  writeFileSync(join(folder, 'config.yaml'), SETTINGS);
  const program = join(folder, 'node_modules/verdaccio/bin/verdaccio');
  registry = await startProgram(process.execPath, {
    args: (port) => [program, '--config', 'config.yaml', '--listen', `127.0.0.1:${port}`],
    environment: {},
    folder,
    ready: /http address/,
  });
}, 300_000);
afterAll(async () => {
  await registry?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function npm(...words: readonly string[]): Promise<void> {
  await promisify(execFile)('npm', words, { shell: process.platform === 'win32' });
}

async function publish(version: string, ...flags: readonly string[]): Promise<void> {
  const source = join(folder, `package-${version}`);
  mkdirSync(source);
  const engines = { node: '>=24.7' };
  const manifest = { name: PUBLISHED.name, version, engines };
  writeFileSync(join(source, 'package.json'), JSON.stringify(manifest));
  // npm publishes with some token alone; this registry takes any.
  const { host } = new URL(registry.url);
  writeFileSync(join(source, '.npmrc'), `registry=${registry.url}/\n//${host}/:_authToken=any\n`);
  const userConfig = ['--userconfig', join(source, '.npmrc')];
  await npm(
    'publish',
    source,
    '--registry',
    registry.url,
    '--access',
    'public',
    ...userConfig,
    ...flags,
  );
}

test('what is published is found, by the command and by the check; a preview is not the newest', async () => {
  const options = { fetch, published: { ...PUBLISHED, registry: registry.url } };
  const run = async (current: string) => {
    const terminal = createFakeTerminal();
    await sayNewest({ terminal, answer: createAnswer(terminal, true) }, { ...options, current });
    return JSON.parse(terminal.printed.join());
  };
  await expect(run('1.0.0')).rejects.toThrow(`knows no ${PUBLISHED.name}`);
  await publish('1.0.0');
  expect(await run('1.0.0')).toMatchObject({ latest: '1.0.0', isNewer: false });
  await publish('1.1.0');
  await publish('2.0.0-beta.1', '--tag', 'next');
  expect(await run('1.0.0')).toMatchObject({ latest: '1.1.0', isNewer: true, node: '>=24.7' });

  const found: string[] = [];
  const clock = createFakeClock();
  const check = await openUpdateCheck({
    ...{ ...options, dataDir: folder, clock, current: '1.0.0' },
    onNewer: (version) => void found.push(version),
  });
  check.start();
  await clock.advance(0);
  await expect.poll(() => found).toEqual(['1.1.0']);
  check.close();
}, 120_000);
