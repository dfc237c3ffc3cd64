// What commands read where there is no terminal.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFakeTerminal } from './fake-terminal.test-support.ts';
import { confirm, readSecretLine } from './terminal.ts';

test.each([
  ['a line', 'the code\n', 'the code'],
  ['a line without an end', 'the code', 'the code'],
  ['nothing', '', ''],
])('an input that ends after %s is an answer, and the command goes on', (_what, input, answer) => {
  const program =
    `import { createTerminal } from ${JSON.stringify(join(import.meta.dirname, 'terminal.ts'))};` +
    `console.log(JSON.stringify(await createTerminal().ask('? ')));`;
  const flags = ['--input-type=module', '--eval', program];
  const { status, stdout } = spawnSync(process.execPath, flags, { input, encoding: 'utf8' });
  expect([status, stdout.trim()]).toEqual([0, JSON.stringify(answer)]);
});

test.each(['ask', 'askSecret'] as const)('%s: Ctrl-C at a question is an interruption', (ask) => {
  const program =
    `import { createTerminal } from ${JSON.stringify(join(import.meta.dirname, 'terminal.ts'))};` +
    `Object.defineProperty(process.stdin, 'isTTY', { value: true });` +
    `await createTerminal().${ask}('? ').catch((error) => console.log(error.reason));`;
  const flags = ['--input-type=module', '--eval', program];
  const { stdout } = spawnSync(process.execPath, flags, { input: '\x03', encoding: 'utf8' });
  expect(stdout.trim()).toBe('interrupted');
});

test('where nobody can be asked, a flag is missing, and the command line is wrong', async () => {
  const terminal = createFakeTerminal({ input: '' });
  await expect(confirm(terminal, { question: 'Remove it?' })).rejects.toMatchObject({
    reason: 'usage',
    message: 'There is no terminal to ask at: add --yes to continue.',
  });
  const source = { file: undefined, question: 'Key: ', flag: '--key-file' };
  await expect(readSecretLine(terminal, source)).rejects.toMatchObject({ reason: 'usage' });
  const empty = { ...source, file: '-' };
  await expect(readSecretLine(terminal, empty)).rejects.toMatchObject({ reason: 'failed' });
});
