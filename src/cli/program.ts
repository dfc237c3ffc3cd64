// The command line: commands, their flags, and what each runs.

import { Command, InvalidArgumentError, Option } from 'commander';
import { readEnvironment } from '../config/env.ts';
import { AUTH_MODES, LOG_LEVELS, readHost, readPort, readWord } from '../config/values.ts';
import { createSystemClock } from '../lib/clock.ts';
import type { AddFlags, ExportFlags, ImportFlags, RemoveFlags } from './admin-commands.ts';
import type { Connect, ConnectFlags } from './connect.ts';
import { VERSION } from './package-name.ts';
import { type RunningServer, serve } from './serve.ts';
import { type Context, createTerminal, type Said } from './terminal.ts';
import { channelToParent, countWorkers } from './worker.ts';
import { serveWithWorkers } from './workers.ts';

/**
 * @param onServer given the server as soon as it can be stopped, before it listens
 * @param onReady called when the server listens
 */
export function createProgram(onServer: (server: RunningServer) => void, onReady: () => void) {
  const program = new Command('isthmus')
    .description('One local address for every model client.')
    .version(VERSION);
  program
    .command('serve', { isDefault: true })
    .description('run the gateway')
    .option('--host <address>', 'address to listen on', checked(readHost))
    .option('--port <number>', 'port to listen on; 0 takes a free one', checked(readPort))
    .option('--auth-mode <mode>', AUTH_MODES.join(' | '), oneOf(AUTH_MODES))
    .option('--log-level <level>', LOG_LEVELS.join(' | '), oneOf(LOG_LEVELS))
    .option('--data-dir <folder>', 'folder of all that the gateway stores')
    .allowExcessArguments()
    .action(async (flags, { args: [word] }: Command) => {
      // It is the default command: what is no command at all arrives here.
      if (word !== undefined) {
        program.error(`error: there is no command '${word}'; isthmus --help lists those there are`);
      }
      const count = countWorkers(readEnvironment().workers ?? 1);
      const isParent = count > 1 && channelToParent() === undefined;
      const server = isParent ? serveWithWorkers(count, flags) : await serve(flags);
      onServer(server);
      await server.listen();
      onReady();
    });
  addMigrateStore(program);
  addAdminCommands(program, {
    connect: async (flags) => (await import('./connect.ts')).createConnect(readEnvironment)(flags),
    terminal: createTerminal(),
    clock: createSystemClock(),
  });
  return program;
}

function addMigrateStore(program: Command): void {
  program
    .command('migrate-store')
    .description('copy what a data folder holds into the PostgreSQL of DATABASE_URL')
    .addOption(new Option('--from <store>').choices(['sqlite']).default('sqlite'))
    .addOption(new Option('--to <store>').choices(['postgres']).default('postgres'))
    .option('--data-dir <folder>', 'the data folder')
    .option('--json', 'answer as JSON')
    .action(async ({ dataDir, json = false }: { readonly dataDir?: string; json?: boolean }) => {
      const { migrateStore } = await import('./migrate-store.ts');
      const parts = { clock: createSystemClock(), terminal: createTerminal() };
      await migrateStore({ environment: readEnvironment(), dataDir, json, ...parts });
    });
}

function checked<Value>(read: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      throw new InvalidArgumentError(`It ${error instanceof Error ? error.message : 'is wrong'}.`);
    }
  };
}

function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word {
  return checked((text) => readWord(text, words));
}

export interface AdminCommandOptions extends Pick<Context, 'terminal' | 'clock'> {
  readonly connect: Connect;
}

/** What a command takes, as commander hands it over: flags by their names. */
type Flags = ConnectFlags &
  AddFlags &
  RemoveFlags &
  ImportFlags &
  ExportFlags &
  Said<'json', boolean>;

/** A command that works on a gateway through its admin API. */
interface AdminCommand {
  readonly name: string;
  readonly description: string;
  readonly isDefault?: boolean;
  readonly argument?: readonly [name: string, description: string];
  readonly options?: readonly Option[];
  /** What the command does, with its argument. */
  load(): Promise<(context: Context, name: string, flags: Flags) => Promise<void>>;
}

/** Loaded when one is given: `serve` needs none of them. */
const commands = () => import('./admin-commands.ts');

const ACCOUNT = ['<account>', 'id or label of the account'] as const;
const GENERATE = new Option('--generate', 'also ask for a one-token answer, which costs that');
const FORMATS = ['export', 'refresh-tokens', 'service-accounts'] as const;

const ACCOUNT_COMMANDS: readonly AdminCommand[] = [
  {
    name: 'list',
    description: 'list the accounts with their state',
    isDefault: true,
    load: async () => (await commands()).listAccounts,
  },
  {
    name: 'add',
    description: 'add an account; asks for an API key unless another way is named',
    options: [
      new Option('--upstream <id>', 'the upstream; may be left out when there is one'),
      new Option('--key-file <file>', 'file of the API key; - is the standard input'),
      GENERATE,
      new Option('--add-anyway', 'store a key also when the upstream refuses it'),
      new Option('--oauth', 'sign in in a browser'),
      new Option('--manual', 'with --oauth: paste the answer, wait for no callback'),
      new Option('--account <name>', 'with --oauth: sign this account in again'),
      new Option('--service-account <file>', 'key file of a service account'),
      new Option('--refresh-token-file <file>', 'file of a refresh token; - is the standard input'),
      new Option('--label <text>', 'name of the account'),
      new Option('--project <id>', 'project of the account'),
      new Option('--tier <tier>').choices(['ultra', 'pro', 'free']),
      new Option('--priority <number>', 'higher goes first').argParser(readWholeNumber),
      new Option('--notes <text>', 'for people'),
      new Option('--proxy-file <file>', 'file of the proxy address of the account'),
    ],
    load: async () => (await commands()).addAccount,
  },
  {
    name: 'test',
    description: 'try credential, model list and quota of an account',
    argument: ACCOUNT,
    options: [GENERATE],
    load: async () => (await commands()).testAccount,
  },
  {
    name: 'enable',
    description: 'let an account serve again',
    argument: ACCOUNT,
    load: async () => (await commands()).switchAccount('enable'),
  },
  {
    name: 'disable',
    description: 'take an account out',
    argument: ACCOUNT,
    load: async () => (await commands()).switchAccount('disable'),
  },
  {
    name: 'remove',
    description: 'remove an account and its credential',
    argument: ACCOUNT,
    options: [
      new Option('--revoke', 'also take its grant back at the provider'),
      new Option('-y, --yes', 'do not ask'),
    ],
    load: async () => (await commands()).removeAccount,
  },
  {
    name: 'import',
    description: 'add many accounts at once',
    argument: ['<file>', 'the file; - is the standard input'],
    options: [
      new Option('--format <format>').choices(FORMATS).default('export'),
      new Option('--upstream <id>', 'where they belong; an export knows it itself'),
      new Option('--passphrase-file <file>', 'file of the passphrase of a sealed export'),
    ],
    load: async () => (await commands()).importAccounts,
  },
  {
    name: 'export',
    description: 'write the stored accounts, sealed with a passphrase',
    argument: ['<file>', 'a new file; - is the standard output'],
    options: [
      new Option('--passphrase-file <file>', 'file of the passphrase'),
      new Option('--force', 'replace the file when it is there'),
    ],
    load: async () => (await commands()).exportAccounts,
  },
];

const ROOT_COMMANDS: readonly AdminCommand[] = [
  {
    name: 'models',
    description: 'list the models clients may ask for',
    load: async () => (await commands()).listModels,
  },
  {
    name: 'route',
    description: 'explain where a model name goes',
    argument: ['<name>', 'a model name as a client would send it'],
    load: async () => (await commands()).explainRoute,
  },
];

export function addAdminCommands(program: Command, options: AdminCommandOptions): void {
  const accounts = program
    .command('accounts')
    .description('list, add, test and remove accounts of upstreams');
  for (const row of ACCOUNT_COMMANDS) addCommand(accounts, row, options);
  for (const row of ROOT_COMMANDS) addCommand(program, row, options);
}

function addCommand(parent: Command, row: AdminCommand, options: AdminCommandOptions): void {
  const { name, description, isDefault = false, argument } = row;
  const command = parent.command(name, { isDefault }).description(description);
  if (argument !== undefined) command.argument(...argument);
  for (const option of row.options ?? []) command.addOption(option);
  command
    .option('--json', 'answer as JSON')
    .option('--url <address>', 'address of the gateway')
    .option('--password-file <file>', 'file of the console password')
    .option('--data-dir <folder>', 'folder whose settings name the gateway')
    .option('--local', 'work on the data folder without a running gateway');
  command.action(async () => {
    const { connect, terminal, clock } = options;
    const flags = command.opts<Flags>();
    const client = await connect(flags);
    try {
      const answer: Context['answer'] = (body, sayInWords) =>
        flags.json ? terminal.print(JSON.stringify(body, null, 2)) : sayInWords();
      const run = await row.load();
      await run({ client, terminal, clock, answer }, command.args[0] ?? '', flags);
    } finally {
      await client.close();
    }
  });
}

function readWholeNumber(text: string): number {
  if (/^-?\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
