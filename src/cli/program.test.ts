import { expect, test } from 'vitest';
import { createProgram } from './program.ts';

/** What the program says to the words before it ends; it never comes to serving. */
async function refusal(...words: string[]): Promise<string> {
  const program = createProgram(
    () => undefined,
    () => undefined,
  );
  const said: string[] = [];
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ writeErr: (text) => void said.push(text) });
  }
  await expect(program.parseAsync(words, { from: 'user' })).rejects.toThrow();
  return said.join('');
}

test.each([['key'], ['account', 'list'], ['serve', 'now']])(
  'a word that is no command is named, with the way to those there are: %s',
  async (...words) => {
    const unknown = words[0] === 'serve' ? 'now' : words[0];
    expect(await refusal(...words)).toBe(
      `error: there is no command '${unknown}'; isthmus --help lists those there are\n`,
    );
  },
);

test('a word behind a family of commands that is none of them is named too', async () => {
  expect(await refusal('keys', 'nope')).toBe(
    "error: there is no command 'keys nope'; isthmus keys --help lists those there are\n",
  );
});

test('a flag that cannot be used is refused with the reason', async () => {
  expect(await refusal('--port', '80x')).toMatch(/--port <number>.*whole number/);
});
