// The commands of README.md that install nothing: a home folder without anything gets three clients on one gateway.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { splitWords } from '../../src/cli/run-command.test-support.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { runGateway } from '../support/run-program.ts';
import { readCodeBlocks } from './code-blocks.ts';
import { describeCommands } from './describe-commands.ts';

const CONNECT = 'isthmus connect claude-code codex gemini-cli';
const nothing = (): void => undefined;

/** Without the variables before a command. */
const lines = readCodeBlocks()
  .filter(({ place, language }) => place.startsWith('README.md') && language === 'sh')
  .flatMap(({ code }) => code.split('\n'))
  .map((line) => line.replace(/^(?:[A-Z_]+=(?:<[^>]*>|\S+) )+/, ''))
  .filter((line) => line.startsWith('isthmus'));

let app: TestApp;
let home: string;
beforeAll(async () => {
  app = await startApp();
  home = mkdtempSync(join(tmpdir(), 'isthmus-readme-'));
});
afterAll(async () => {
  await app.close();
  rmSync(home, { recursive: true, force: true });
});

test('the command that connects three clients does so, and --undo leaves none of their files', async () => {
  expect(lines).toContain(CONNECT);
  const files = ['.claude/settings.json', '.codex/config.toml', '.gemini/.env'];
  await run(CONNECT);
  for (const file of files) expect(readFileSync(join(home, file), 'utf8')).toContain(app.url);
  for (const client of ['claude-code', 'codex', 'gemini-cli']) {
    await run(`isthmus connect ${client} --undo`);
  }
  for (const file of files) expect(existsSync(join(home, file))).toBe(false);
});

test('an unknown client among several is told before anything is written', async () => {
  await expect(run('isthmus connect claude-code no-such')).rejects.toThrow('no client "no-such"');
  expect(existsSync(join(home, '.claude'))).toBe(false);
});

test.each(lines)('%s is a command line that is taken', async (line) => {
  const words = splitWords(line).slice(1);
  const whole = createProgram(nothing, nothing);
  const path = line === 'isthmus' ? 'serve' : line.split(' ').slice(1, 3).join(' ');
  const found = describeCommands(whole).find(
    (one) =>
      path === one.path ||
      (path.startsWith(`${one.path} `) && one.path !== '' && one.subcommands.length === 0),
  );
  let wasRun = false;
  found?.command.action(() => {
    wasRun = true;
  });
  await whole.parseAsync(words, { from: 'user' });
  expect(wasRun).toBe(true);
});

function run(line: string): Promise<string> {
  const words = [...splitWords(line).slice(1), '--yes', '--url', app.url];
  return runGateway(words, { HOME: home });
}
