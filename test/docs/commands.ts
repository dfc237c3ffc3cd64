// Writes docs/commands.md from the commands themselves.

import type { CliCommand } from '../../src/cli/command.ts';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { type DescribedCommand, describeCommands } from './describe-commands.ts';
import { code, NOTE, table } from './generate.ts';

/** docs/commands.md */
export function writeCommandsPage(program: CliCommand): string {
  const [, ...commands] = describeCommands(program);
  const leaves = commands.filter(({ subcommands }) => subcommands.length === 0);
  return [
    '# Commands',
    '',
    NOTE,
    '',
    '`isthmus` without a command is `isthmus serve`. In a copy of the repository, `npm run isthmus -- …` runs the commands.',
    'Commands ask questions only at a terminal, and each question has a flag. `--json` prints the result as JSON on the standard',
    'output, also a failure: `{"error": {"reason", "message"}}`. Messages for people go to the standard error.',
    '',
    'Commands that connect to a gateway find it by the settings of this machine; `--url` names another one. The console password',
    'comes from the settings, `WEB_PASSWORD` or `--password-file`; without any, the secret key of the data folder is used.',
    '',
    table(
      ['Command', 'What it does'],
      leaves.map(({ path, description }) => [
        `[${code(path)}](#isthmus-${path.replaceAll(' ', '-')})`,
        description,
      ]),
    ),
    '',
    '## Exit codes',
    '',
    table(
      ['Code', 'Reason', 'Meaning'],
      Object.entries(EXIT_CODES).map(([reason, row]) => [
        String(row.code),
        code(reason),
        row.meaning,
      ]),
    ),
    '',
    ...leaves.flatMap(writeCommand),
  ].join('\n');
}

function writeCommand(described: DescribedCommand): string[] {
  const { path, description, words, options, examples, isDefault } = described;
  const rows = [
    ...words.map(({ name, description: text }) => [code(name), text]),
    ...options.map(({ flags, description: text, argChoices }) => [
      code(flags.replaceAll('|', '\\|')),
      cell(argChoices === undefined ? text : `${text} (${argChoices.map(code).join(', ')})`),
    ]),
  ];
  const sentence = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
  return [
    `## isthmus ${path}`,
    '',
    isDefault && path.includes(' ')
      ? `${sentence} \`isthmus ${path.split(' ')[0]}\` alone does the same.`
      : sentence,
    '',
    table(['Argument or flag', 'What'], rows),
    '',
    ...examples.flatMap(([line, what]) => [what, '', '```sh', `isthmus ${line}`, '```', '']),
  ];
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
