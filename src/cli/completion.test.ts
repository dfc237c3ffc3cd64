import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runCommand } from './run-command.test-support.ts';

async function complete(...words: string[]): Promise<readonly string[]> {
  const connect = async () => ({
    async call(_method: string, path: string) {
      if (path === '/api/accounts') return { accounts: [{ label: 'ada@example.com' }] };
      if (path === '/api/keys') return { keys: [{ name: 'ci' }, { name: 'laptop' }] };
      return { models: [{ id: 'alpha-3-flash' }] };
    },
    close: async () => undefined,
  });
  const line = words.map((word) => (word === '' ? '""' : word)).join(' ');
  const { printed } = await runCommand(`complete-words -- ${line}`, { connect });
  return printed.join('\n').split('\n');
}

test('commands, their commands and flags are completed', async () => {
  expect(await complete('ke')).toEqual(['keys']);
  expect(await complete('keys', '')).toEqual(
    expect.arrayContaining(['list', 'add', 'edit', 'remove']),
  );
  expect(await complete('keys', 'add', '--t')).toEqual(['--team', '--tags', '--tokens-per-minute']);
  expect(await complete('usage', '--by', 'm')).toEqual(['model']);
  expect(await complete('usage', '--by', '=', 'm')).toEqual(['model']);
  expect(await complete('usage', '--by', '=')).toContain('model');
  expect(await complete('usage', '--by=m')).toEqual(['--by=model']);
  expect(await complete('')).not.toContain('complete-words');
});

test('accounts, keys and models come from the running gateway', async () => {
  expect(await complete('accounts', 'test', 'a')).toEqual(['ada@example.com']);
  expect(await complete('keys', 'remove', '--yes', '')).toEqual(['ci', 'laptop']);
  expect(await complete('route', 'al')).toEqual(['alpha-3-flash']);
});

test('clients are those that the command knows', async () => {
  expect(await complete('connect', 'sdk')).toEqual(['sdk-openai', 'sdk-anthropic', 'sdk-google']);
  expect(await complete('launch', 'c')).toEqual([
    ...['claude-code', 'codex', 'copilot', 'cline', 'continue'],
  ]);
  expect(await complete('launch', 'sdk')).toEqual(['']);
});

test('flags that name one of them are completed too, and every client that may follow', async () => {
  expect(await complete('connect', 'codex', '--model', 'al')).toEqual(['alpha-3-flash']);
  expect(await complete('usage', '--account', 'a')).toEqual(['ada@example.com']);
  expect(await complete('budgets', 'add', '1', '--key', 'c')).toEqual(['ci']);
  expect(await complete('connect', 'codex', 'gem')).toEqual(['gemini-cli']);
  // This one is a secret.
  expect(await complete('connect', 'codex', '--key', 'c')).toEqual(['']);
});

test('where no gateway runs there is no word to offer, and no error', async () => {
  const { printed } = await runCommand('complete-words -- keys remove ""');
  expect(printed).toEqual([]);
});

test.each(['bash', 'zsh', 'fish'])('there is a script for %s', async (shell) => {
  const { printed } = await runCommand(`completion ${shell}`);
  expect(printed.join()).toContain('isthmus complete-words --');
});

test('another shell is refused', async () => {
  await expect(runCommand('completion tcsh')).rejects.toMatchObject({ reason: 'usage' });
});

const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

/** Says what it is given as one of two words, of which one is to be quoted. */
const PROGRAM = 'isthmus() { local IFS=" "; printf "%s\\n" "Claude Code" "got:$*"; }';

async function scriptOf(shell: string): Promise<string> {
  const { printed } = await runCommand(`completion ${shell}`);
  return printed.join('\n');
}

test.skipIf(!isThere('bash'))('bash runs its script, and quotes what it offers', async () => {
  const asked = 'COMP_WORDS=(isthmus keys remove Cl); COMP_CWORD=3; _isthmus';
  const shown = `printf "%s\\n" "\${COMPREPLY[@]}"; complete -p isthmus`;
  const lines = [PROGRAM, await scriptOf('bash'), asked, shown].join('\n');
  const printed = execFileSync('bash', ['--norc', '-euc', lines], { encoding: 'utf8' });
  expect(printed.trim().split('\n')).toEqual([
    'Claude\\ Code',
    'got:complete-words\\ --\\ keys\\ remove\\ Cl',
    'complete -F _isthmus isthmus',
  ]);
});

test.skipIf(!isThere('fish'))('fish runs its script', async () => {
  const program = 'function isthmus; echo "Claude Code"; echo "got:$argv"; end';
  const lines = [program, await scriptOf('fish'), 'complete -C "isthmus keys remove "'].join('\n');
  const printed = execFileSync('fish', ['--no-config', '-c', lines], { encoding: 'utf8' });
  expect(printed).toBe('Claude Code\ngot:complete-words -- keys remove \n');
});

test.skipIf(!isThere('zsh'))('zsh runs its script', async () => {
  // Its completion works at a prompt alone: what it would add is printed in place of that.
  const stand = 'compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- "$@"; }';
  const asked = 'words=(isthmus keys remove Cl); CURRENT=4; _isthmus';
  const lines = [stand, PROGRAM, await scriptOf('zsh'), asked].join('\n');
  const printed = execFileSync('zsh', ['-f', '-c', lines], { encoding: 'utf8' });
  expect(printed.trim().split('\n')).toEqual([
    'Claude Code',
    'got:complete-words -- keys remove Cl',
  ]);
});
