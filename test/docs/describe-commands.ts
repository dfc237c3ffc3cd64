// What a program's commands are, in one list, for docs/commands.md and the man page.

import { CliCommand } from '../../src/cli/command.ts';

export interface DescribedCommand {
  /** Such as `accounts list`; '' for the program itself. */
  readonly path: string;
  readonly command: CliCommand;
  readonly description: string;
  readonly isDefault: boolean;
  /** Such as `<name>` and `[more...]`, as the help writes them. */
  readonly words: readonly { readonly name: string; readonly description: string }[];
  readonly options: CliCommand['options'];
  readonly examples: CliCommand['examples'];
  readonly subcommands: readonly string[];
}

/** Every command but hidden ones, in the order of the help, each before those it is made of. */
export function describeCommands(program: CliCommand): readonly DescribedCommand[] {
  return describe(program, '', false);
}

function describe(command: CliCommand, path: string, isDefault: boolean): DescribedCommand[] {
  const help = command.createHelp();
  const below = help
    .visibleCommands(command)
    .filter((one): one is CliCommand => one instanceof CliCommand && one.name() !== 'help');
  const own: DescribedCommand = {
    ...{ path, command, isDefault, description: command.description() },
    words: command.registeredArguments.map((argument) => {
      const name = argument.variadic ? `${argument.name()}...` : argument.name();
      return {
        name: argument.required ? `<${name}>` : `[${name}]`,
        description: argument.description,
      };
    }),
    options: command.options.filter(({ hidden }) => !hidden),
    examples: command.examples,
    subcommands: below.map((one) => one.name()),
  };
  const fallback = defaultOf(command);
  return [
    own,
    ...below.flatMap((one) =>
      describe(one, `${path} ${one.name()}`.trim(), one.name() === fallback),
    ),
  ];
}

/** The command that is run where none is named. */
function defaultOf(command: CliCommand): string | undefined {
  const { _defaultCommandName: name } = command as { readonly _defaultCommandName?: unknown };
  return typeof name === 'string' ? name : undefined;
}
