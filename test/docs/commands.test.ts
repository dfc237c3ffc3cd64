// docs/commands.md and the man page are what the program says; their examples are command lines that it takes.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { VERSION } from '../../src/cli/package-name.ts';
import { createProgram } from '../../src/cli/program.ts';
import { splitWords } from '../../src/cli/run-command.test-support.ts';
import { startApp } from '../support/app.ts';
import { runGateway } from '../support/run-program.ts';
import { writeCommandsPage } from './commands.ts';
import { describeCommands } from './describe-commands.ts';
import { writeManPage } from './man-page.ts';

const ROOT = join(import.meta.dirname, '../..');
const nothing = (): void => undefined;
const program = () => createProgram(nothing, nothing);

test('docs/commands.md is what the commands say', () => {
  checkFile('docs/commands.md', writeCommandsPage(program()));
});

test('the man page is what the commands say', () => {
  checkFile('docs/isthmus.1', writeManPage(program(), VERSION));
});

test.skipIf(spawnSync('groff', ['--version']).status !== 0)(
  'groff reads the man page without a complaint',
  () => {
    const page = join(ROOT, 'docs/isthmus.1');
    const { stderr } = spawnSync('groff', ['-man', '-z', '-ww', page], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const text = execFileSync('groff', ['-man', '-Tascii', page], { encoding: 'utf8' });
    // Printed twice at one place is bold.
    expect(text.replaceAll(/.[\b]/g, '')).toContain('isthmus keys add <name>');
  },
);

test('every command takes --json but serve, and has a description and an example unless it is older than these', () => {
  const leaves = describeCommands(program()).filter(({ subcommands }) => subcommands.length === 0);
  const without = leaves.filter(({ options }) => !options.some(({ long }) => long === '--json'));
  expect(without.map(({ path }) => path)).toEqual(['serve']);
  for (const { path, description } of leaves) expect(description, path).not.toBe('');
});

const examples = describeCommands(program()).flatMap(({ examples: list, path }) =>
  list.map(([line]) => ({ line, path })),
);

test.each(examples)('isthmus $line is a command line that is taken', async ({ line, path }) => {
  const [words = ''] = line.split(' > ');
  const whole = program();
  const found = describeCommands(whole).find((one) => one.path === path);
  let wasRun = false;
  found?.command.action(() => {
    wasRun = true;
  });
  await whole.parseAsync(splitWords(words), { from: 'user' });
  expect(wasRun).toBe(true);
});

test('the variables of an SDK go into a file that is not there yet', async () => {
  const app = await startApp();
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-variables-'));
  const file = join(folder, '.env');
  const words = ['connect', 'sdk-openai', '--variables-file', file, '--yes', '--url', app.url];
  await runGateway(words, { HOME: folder });
  expect(readFileSync(file, 'utf8')).toContain(`OPENAI_BASE_URL=${app.url}/v1`);
  rmSync(folder, { recursive: true });
  await app.close();
});

test('every argument of a command is on its page', () => {
  const page = readFileSync(join(ROOT, 'docs/commands.md'), 'utf8');
  for (const word of ['[client]', '[more...]', '[arguments...]']) {
    expect(page).toContain(`| \`${word}\` |`);
  }
});

test('a wrong command line is said in JSON where that is wanted', async () => {
  const run = runGateway(['route', '--json']);
  await expect(run).rejects.toThrow(/ended with 2:\n\{\s+"error": \{\s+"reason": "usage"/);
});

function checkFile(name: string, text: string): void {
  const path = join(ROOT, name);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(path, text);
  expect(readFileSync(path, 'utf8')).toBe(text);
}
