// The man page of `isthmus`, written from its commands.

import type { CliCommand } from '../../src/cli/command.ts';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { type DescribedCommand, describeCommands } from './describe-commands.ts';

/** In the macros of man(7). Without a date, so that two builds are the same. */
export function writeManPage(program: CliCommand, version: string): string {
  const [whole, ...commands] = describeCommands(program);
  const lines = [
    `.TH ISTHMUS 1 "" "isthmus ${version}" "User Commands"`,
    '.SH NAME',
    `isthmus \\- ${toRoff(whole?.description ?? '')}`,
    '.SH SYNOPSIS',
    '.B isthmus',
    '[\\fIcommand\\fR] [\\fIoptions\\fR]',
    '.SH DESCRIPTION',
    'A gateway between model clients and model services: it speaks the protocols of the clients, chooses an account, and translates. Without a command it serves.',
    '.SH COMMANDS',
    ...commands.filter(({ subcommands }) => subcommands.length === 0).flatMap(writeCommand),
    '.SH EXIT STATUS',
    ...Object.values(EXIT_CODES).flatMap(({ code, meaning }) => [
      '.TP',
      `.B ${code}`,
      toRoff(meaning.replaceAll('`', '')),
    ]),
    '.SH ENVIRONMENT',
    'Every setting of the gateway has a variable; docs/configuration.md of the project lists them.',
    '.SH FILES',
    '.TP',
    '.I ~/.isthmus',
    'The data folder: settings, database, secret key, logs.',
  ];
  return `${lines.join('\n')}\n`;
}

function writeCommand({ path, description, words, options, examples }: DescribedCommand): string[] {
  return [
    `.SS isthmus ${toRoff([path, ...words.map(({ name }) => name)].join(' '))}`,
    toRoff(sentence(description)),
    ...words
      .filter(({ description: text }) => text !== '')
      .flatMap(({ name, description: text }) => [
        '.TP',
        `.I ${toRoff(name)}`,
        toRoff(sentence(text)),
      ]),
    ...options.flatMap(({ flags, description: text, argChoices }) => [
      '.TP',
      `.B ${toRoff(flags)}`,
      toRoff(sentence(argChoices === undefined ? text : `${text} (${argChoices.join(', ')})`)),
    ]),
    ...examples.flatMap(([line, what]) => [
      '.PP',
      toRoff(what),
      '.PP',
      '.RS',
      '.nf',
      toRoff(`isthmus ${line}`),
      '.fi',
      '.RE',
    ]),
  ];
}

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

/** What roff(7) would take for a request or an escape; other characters than ASCII by their numbers. */
function toRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('~', '\\(ti')
    .replace(/^([.'])/, '\\&$1')
    .replace(
      /[^\x20-\x7e]/gu,
      (character) =>
        `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}
