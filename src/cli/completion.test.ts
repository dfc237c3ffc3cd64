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
  expect(await complete('keys', 'add', '--daily')).toEqual(['--daily-tokens', '--daily-images']);
  expect(await complete('usage', '--by', 'm')).toEqual(['model']);
  expect(await complete('')).not.toContain('complete-words');
});

test('accounts, keys and models come from the running gateway', async () => {
  expect(await complete('accounts', 'test', 'a')).toEqual(['ada@example.com']);
  expect(await complete('keys', 'remove', '--yes', '')).toEqual(['ci', 'laptop']);
  expect(await complete('route', 'al')).toEqual(['alpha-3-flash']);
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
