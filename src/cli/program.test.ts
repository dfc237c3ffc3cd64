import { expect, test } from 'vitest';
import { createProgram } from './program.ts';

/** What the program says to the words before it ends; it never comes to serving. */
async function refusal(...words: string[]): Promise<string> {
  const program = createProgram(
    () => undefined,
    () => undefined,
  );
  const said: string[] = [];
  const families = [program, ...program.commands];
  for (const command of new Set(families.flatMap((family) => [family, ...family.commands]))) {
    command.exitOverride().configureOutput({ writeErr: (text) => void said.push(text) });
  }
  await expect(program.parseAsync(words, { from: 'user' })).rejects.toThrow();
  return said.join('');
}

test.each([['key'], ['account', 'list'], ['account', 'list', '--json'], ['nope', '--url', 'x']])(
  'a word that is no command is named, with the way to those there are, whatever flags follow: %s %s %s',
  async (...words) => {
    expect(await refusal(...words)).toBe(
      `error: there is no command '${words[0]}'; isthmus --help lists those there are\n`,
    );
  },
);

test('help on a word that is no command names it', async () => {
  const said = "error: there is no command 'nope'; isthmus --help lists those there are\n";
  expect(await refusal('help', 'nope', '--json')).toBe(said);
});

test.each([
  ['keys', 'nope'],
  ['keys', 'nope', '--nope'],
  ['keys', 'help', 'nope'],
])(
  'a word behind a family of commands that is none of them is named too: %s %s %s',
  async (...words) => {
    expect(await refusal(...words)).toBe(
      "error: there is no command 'keys nope'; isthmus keys --help lists those there are\n",
    );
  },
);

test.each([
  ['secret', 'nope'],
  ['keys', ''],
])('so is one of a family that does nothing alone: %s %s', async (...words) => {
  expect(await refusal(...words)).toBe(
    `error: there is no command '${words.join(' ')}'; isthmus ${words[0]} --help lists those there are\n`,
  );
});

test('a family that does nothing alone says that a command is missing', async () => {
  expect(await refusal('secret')).toBe(
    'error: a command is missing; isthmus secret --help lists those there are\n',
  );
});

test.each([
  ['serve', 'now'],
  ['keys', 'list', 'now'],
  ['status', 'now'],
])('a word that a command does not take is refused: %s %s %s', async (...words) => {
  expect(await refusal(...words)).toMatch(/^error: too many arguments/);
});

test('a flag that cannot be used is refused with the reason', async () => {
  expect(await refusal('--port', '80x')).toMatch(/--port <number>.*whole number/);
});

test.each([
  ['serve', '--data-dir'],
  ['backup', '--data-dir'],
  ['status', '--data-dir'],
  ['status', '--url'],
])('an empty value, as of a variable that is not set, is refused: %s %s', async (command, flag) => {
  expect(await refusal(command, flag, '')).toMatch(`argument '' is invalid. It is empty.`);
});
