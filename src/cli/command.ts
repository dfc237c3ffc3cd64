// How a command is declared: its words, flags and examples, and what it runs, which is loaded when it is given.

import { Command, type HelpContext, InvalidArgumentError, Option } from 'commander';
import { readWord } from '../config/values.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/localized-message.ts';
import type { AdminClient, Connect, ConnectFlags } from './admin-client.ts';
import { exitReasonOf } from './exit-codes.ts';
import { createAnswer, type Said, type Terminal } from './terminal.ts';

/** A command with examples, for its help, docs/commands.md and the man page. */
export class CliCommand extends Command {
  readonly examples: (readonly [line: string, what: string])[] = [];

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** An empty value is what a shell makes of a variable that is not set: as a folder it would be the current one. */
  override addOption(option: Option): this {
    if (option.required && option.parseArg === undefined) option.argParser(readSomething);
    return super.addOption(option);
  }

  /** @param line as somebody types it, without `isthmus` */
  example(line: string, what: string): this {
    if (this.examples.length === 0) this.addHelpText('after', () => this.writeExamples());
    this.examples.push([line, what]);
    return this;
  }

  /** An error is a command that is missing, or help asked on a word that is none: what help there is would not name it. */
  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context === 'object' && context.error) this.refuse(this.args[1]);
    return super.help(context as HelpContext);
  }

  /** @throws always */
  refuse(word: string | undefined): never {
    const path = this.parent === null ? '' : `${this.name()} `;
    const what =
      word === undefined ? 'a command is missing' : `there is no command '${path}${word}'`;
    return this.error(`error: ${what}; isthmus ${path}--help lists those there are`);
  }

  private writeExamples(): string {
    const lines = this.examples.map(([line, what]) => `  isthmus ${line}\n      ${what}`);
    return ['', 'Examples:', ...lines].join('\n');
  }
}

function readSomething(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

/** What is no command arrives at the default one, which would complain of flags that it does not have. */
export function refuseUnknownWords(family: CliCommand): void {
  family.hook('preSubcommand', ({ args: [word = '-'] }, command) => {
    if (word.startsWith('-') || word === command.name()) return;
    family.refuse(word);
  });
}

export interface CommandParts {
  readonly connect: Connect;
  readonly terminal: Terminal;
  readonly clock: Clock;
}

export interface Context {
  readonly client: AdminClient;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly answer: ReturnType<typeof createAnswer>;
}

/** A command that works without the admin API, or opens it itself. */
export interface LocalContext extends Omit<Context, 'client'> {
  readonly connect: Connect;
}

interface CommandRow<Work> {
  readonly name: string;
  readonly description: string;
  readonly isDefault?: boolean;
  readonly argument?: readonly [name: string, description: string];
  /** What may follow the argument. */
  readonly rest?: readonly [name: string, description: string];
  readonly options?: readonly Option[];
  readonly examples?: readonly (readonly [line: string, what: string])[];
  /** What the command does, with its argument, or '' without one. */
  load(): Promise<Work>;
}

type Work<Given, Flags> = (
  context: Given,
  argument: string,
  flags: Flags,
  rest: readonly string[],
) => Promise<void>;

export type AddCommand = (parent: CliCommand, parts: CommandParts) => void;

type JsonFlag = Said<'json', boolean>;

export function gatewayCommand<Flags extends object>(
  row: CommandRow<Work<Context, Flags & ConnectFlags>>,
): AddCommand {
  return (parent, { connect, terminal, clock }) => {
    const command = addGatewayFlags(declare(parent, row));
    command.action(async () => {
      const flags = command.opts<Flags & ConnectFlags & JsonFlag>();
      await withJsonErrors(terminal, flags, async (answer) => {
        const client: AdminClient = await connect(flags);
        try {
          const run = await row.load();
          const [argument = '', ...rest] = command.args;
          await run({ client, terminal, clock, answer }, argument, flags, rest);
        } finally {
          await client.close();
        }
      });
    });
  };
}

/** A command that needs no gateway, or finds out about one by itself. */
export function localCommand<Flags extends object>(
  row: CommandRow<Work<LocalContext, Flags>>,
): AddCommand {
  return (parent, { connect, terminal, clock }) => {
    const command = declare(parent, row);
    command.action(async () => {
      const flags = command.opts<Flags & JsonFlag>();
      await withJsonErrors(terminal, flags, async (answer) => {
        const run = await row.load();
        const [argument = '', ...rest] = command.args;
        await run({ connect, terminal, clock, answer }, argument, flags, rest);
      });
    });
  };
}

function declare(parent: CliCommand, row: CommandRow<unknown>): CliCommand {
  const { name, description, isDefault = false, argument, rest } = row;
  const command = new CliCommand(name).copyInheritedSettings(parent).description(description);
  parent.addCommand(command, { isDefault });
  if (isDefault) refuseUnknownWords(parent);
  if (argument !== undefined) command.argument(...argument);
  if (rest !== undefined) command.argument(...rest);
  for (const option of row.options ?? []) command.addOption(option);
  for (const example of row.examples ?? []) command.example(...example);
  return command.option('--json', 'answer as JSON');
}

export const CA = new Option('--ca <file>', 'CA certificate for the HTTPS of the gateway, in PEM');

function addGatewayFlags(command: CliCommand): CliCommand {
  return command
    .option('--url <address>', 'address of the gateway')
    .addOption(CA)
    .option('--password-file <file>', 'file of the console password')
    .option('--data-dir <folder>', 'folder whose settings name the gateway')
    .option('--local', 'work on the data folder without a running gateway');
}

/** With `--json` a failure is JSON too, on the standard output; the error output has it in words either way. */
async function withJsonErrors(
  terminal: Terminal,
  { json = false }: JsonFlag,
  work: (answer: Context['answer']) => Promise<void>,
): Promise<void> {
  try {
    await work(createAnswer(terminal, json));
  } catch (error) {
    const message = messageOf(error);
    const reason = exitReasonOf(error);
    if (json) terminal.print(JSON.stringify({ error: { reason, message } }, null, 2));
    throw error;
  }
}

// Readers of flag values: numbers, times and spans of time.

export function readWholeNumber(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A span such as `12h`, `7d` or `4w`, in milliseconds. */
export function readSpan(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(text.trim()) ?? [];
  const unitMs = UNITS_MS[unit];
  if (count === undefined || unitMs === undefined || Number(count) === 0) {
    throw new InvalidArgumentError('It must be a span such as 12h, 7d or 4w.');
  }
  return Number(count) * unitMs;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/** A day, which begins at midnight of this machine, or a time, of its zone where none is named; since the epoch. */
export function readTime(text: string): number {
  const given = text.trim();
  const isKnown = DAY.test(given) || TIME.test(given);
  const at = Date.parse(DAY.test(given) ? `${given}T00:00` : given.replace(' ', 'T'));
  if (isKnown && !Number.isNaN(at)) return at;
  throw new InvalidArgumentError('It must be a day or a time such as 2026-12-31T18:00.');
}

/** The reader of a flag from one whose errors begin with a verb. */
export function checked<Value>(read: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      throw new InvalidArgumentError(`It ${error instanceof Error ? error.message : 'is wrong'}.`);
    }
  };
}

export function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word {
  return checked((text) => readWord(text, words));
}

/** The time zone of this machine, for flags that name none. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
