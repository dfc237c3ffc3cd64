// The command line: commands, their flags, and what each runs.

import { Command, InvalidArgumentError, Option } from 'commander';
import { VERSION } from '../app.ts';
import { readEnvironment } from '../config/env.ts';
import { AUTH_MODES, LOG_LEVELS, readHost, readPort, readWord } from '../config/values.ts';
import { type Clock, createSystemClock } from '../lib/clock.ts';
import type { AddFlags } from './add-account.ts';
import type { Connect, ConnectFlags } from './connect.ts';
import { type RunningServer, serve } from './serve.ts';
import { type CommandContext, createTerminal, type Terminal } from './terminal.ts';

export interface ProgramOptions {
  /** Given the server as soon as it can be stopped, before it listens. */
  readonly onServer: (server: RunningServer) => void;
  /** Called when the server listens. */
  readonly onReady: () => void;
}

export function createProgram({ onServer, onReady }: ProgramOptions): Command {
  const program = new Command('isthmus')
    .description('One local address for every model client.')
    .version(VERSION);
  program
    .command('serve', { isDefault: true })
    .description('run the gateway')
    .option('--host <address>', 'address to listen on', checked(readHost))
    .option('--port <number>', 'port to listen on; 0 takes a free one', checked(readPort))
    .option(
      '--auth-mode <mode>',
      AUTH_MODES.join(' | '),
      checked((text) => readWord(text, AUTH_MODES)),
    )
    .option(
      '--log-level <level>',
      LOG_LEVELS.join(' | '),
      checked((text) => readWord(text, LOG_LEVELS)),
    )
    .option('--data-dir <folder>', 'folder of all that the gateway stores')
    .allowExcessArguments()
    .action(async (flags, { args: [word] }: Command) => {
      // It is the default command: what is no command at all arrives here.
      if (word !== undefined) program.error(unknownCommand(word));
      const server = await serve(flags);
      onServer(server);
      await server.listen();
      onReady();
    });
  addAdminCommands(program, {
    connect: async (flags) => (await import('./connect.ts')).createConnect(readEnvironment)(flags),
    terminal: createTerminal(),
    clock: createSystemClock(),
  });
  return program;
}

function unknownCommand(word: string): string {
  return `error: there is no command '${word}'; isthmus --help lists those there are`;
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

export interface AdminCommandOptions {
  readonly connect: Connect;
  readonly terminal: Terminal;
  readonly clock: Clock;
}

interface SharedFlags extends ConnectFlags {
  readonly json?: boolean | undefined;
}

/** What each command does is loaded when it is called: `serve` needs none of it. */
export function addAdminCommands(program: Command, options: AdminCommandOptions): void {
  const accounts = program
    .command('accounts')
    .description('list, add, test and remove accounts of upstreams');
  addAccountCommands(accounts, options);
  addTransferCommands(accounts, options);
  onGateway(program.command('models').description('list the models clients may ask for')).action(
    (flags: SharedFlags) =>
      run(options, flags, async (context) => (await import('./models.ts')).listModels(context)),
  );
  onGateway(
    program
      .command('route')
      .argument('<name>', 'a model name as a client would send it')
      .description('explain where a model name goes'),
  ).action((name: string, flags: SharedFlags) =>
    run(options, flags, async (context) =>
      (await import('./models.ts')).explainRoute(context, name),
    ),
  );
}

function addAccountCommands(accounts: Command, options: AdminCommandOptions): void {
  onGateway(
    accounts.command('list', { isDefault: true }).description('list the accounts with their state'),
  ).action((flags: SharedFlags) =>
    run(options, flags, async (context) => (await import('./accounts.ts')).listAccounts(context)),
  );
  addAddCommand(accounts, options);
  onAccount(accounts, 'test', 'try credential, model list and quota of an account')
    .option('--generate', 'also ask for a one-token answer, which costs that')
    .action((name: string, flags: SharedFlags & { generate?: boolean }) =>
      run(options, flags, async (context) =>
        (await import('./accounts.ts')).testAccount(context, name, flags),
      ),
    );
  for (const action of ['enable', 'disable'] as const) {
    const what = action === 'enable' ? 'let an account serve again' : 'take an account out';
    onAccount(accounts, action, what).action((name: string, flags: SharedFlags) =>
      run(options, flags, async (context) =>
        (await import('./accounts.ts')).switchAccount(context, name, action),
      ),
    );
  }
  onAccount(accounts, 'remove', 'remove an account and its credential')
    .option('--revoke', 'also take its grant back at the provider')
    .option('-y, --yes', 'do not ask')
    .action((name: string, flags: SharedFlags & { revoke?: boolean; yes?: boolean }) =>
      run(options, flags, async (context) =>
        (await import('./accounts.ts')).removeAccount(context, name, flags),
      ),
    );
}

function addAddCommand(accounts: Command, options: AdminCommandOptions): void {
  onGateway(
    accounts
      .command('add')
      .description('add an account; asks for an API key unless another way is named')
      .option('--upstream <id>', 'the upstream; may be left out when there is one')
      .option('--key-file <file>', 'file of the API key; - is the standard input')
      .option('--generate', 'also ask for a one-token answer, which costs that')
      .option('--add-anyway', 'store a key also when the upstream refuses it')
      .option('--oauth', 'sign in in a browser')
      .option('--manual', 'with --oauth: paste the answer, wait for no callback')
      .option('--account <name>', 'with --oauth: sign this account in again')
      .option('--service-account <file>', 'key file of a service account')
      .option('--refresh-token-file <file>', 'file of a refresh token; - is the standard input')
      .option('--label <text>', 'name of the account')
      .option('--project <id>', 'project of the account')
      .addOption(new Option('--tier <tier>').choices(['ultra', 'pro', 'free']))
      .option('--priority <number>', 'higher goes first', readWholeNumber)
      .option('--notes <text>', 'for people')
      .option('--proxy-file <file>', 'file of the proxy address of the account'),
  ).action((flags: SharedFlags & AddFlags) =>
    run(options, flags, async (context) =>
      (await import('./add-account.ts')).addAccount(context, flags),
    ),
  );
}

function addTransferCommands(accounts: Command, options: AdminCommandOptions): void {
  const formats = ['export', 'refresh-tokens', 'service-accounts'] as const;
  onGateway(
    accounts
      .command('import')
      .argument('<file>', 'the file; - is the standard input')
      .description('add many accounts at once')
      .addOption(new Option('--format <format>').choices(formats).default('export'))
      .option('--upstream <id>', 'where they belong; an export knows it itself')
      .option('--passphrase-file <file>', 'file of the passphrase of a sealed export'),
  ).action(
    (
      file: string,
      flags: SharedFlags & {
        format: (typeof formats)[number];
        upstream?: string;
        passphraseFile?: string;
      },
    ) =>
      run(options, flags, async (context) =>
        (await import('./transfer-accounts.ts')).importAccounts(context, file, flags),
      ),
  );
  onGateway(
    accounts
      .command('export')
      .argument('<file>', 'a new file; - is the standard output')
      .description('write the stored accounts, sealed with a passphrase')
      .option('--passphrase-file <file>', 'file of the passphrase')
      .option('--force', 'replace the file when it is there'),
  ).action((file: string, flags: SharedFlags & { passphraseFile?: string; force?: boolean }) =>
    run(options, flags, async (context) =>
      (await import('./transfer-accounts.ts')).exportAccounts(context, file, flags),
    ),
  );
}

function onAccount(accounts: Command, name: string, description: string): Command {
  return onGateway(
    accounts
      .command(name)
      .argument('<account>', 'id or label of the account')
      .description(description),
  );
}

function onGateway(command: Command): Command {
  return command
    .option('--json', 'answer as JSON')
    .option('--url <address>', 'address of the gateway')
    .option('--password-file <file>', 'file of the console password')
    .option('--data-dir <folder>', 'folder whose settings name the gateway')
    .option('--local', 'work on the data folder without a running gateway');
}

async function run(
  { connect, terminal, clock }: AdminCommandOptions,
  flags: SharedFlags,
  command: (context: CommandContext) => Promise<void>,
): Promise<void> {
  const client = await connect(flags);
  try {
    await command({ client, terminal, clock, isJson: flags.json === true });
  } finally {
    await client.close();
  }
}

function readWholeNumber(text: string): number {
  if (/^-?\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
