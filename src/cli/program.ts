// The command line: commands, their flags, and what each runs.

import { type Command, Option } from 'commander';
import { readEnvironment } from '../config/env.ts';
import { AUTH_MODES, LOG_LEVELS, readHost, readPort } from '../config/values.ts';
import { createSystemClock } from '../lib/clock.ts';
import { addAccountCommands } from './accounts.ts';
import { addBackupCommands } from './backup-commands.ts';
import { addBudgetCommands } from './budgets.ts';
import { addClientCommands } from './clients/commands.ts';
import { type AddCommand, CliCommand, type CommandParts, localCommand } from './command.ts';
import { addCompletionCommands } from './completion.ts';
import { addDoctorCommand } from './doctor/command.ts';
import { checked, oneOf } from './flag-values.ts';
import { addKeyCommands } from './keys.ts';
import { addModelCommands } from './models.ts';
import { VERSION } from './package-name.ts';
import type { RunningServer } from './serve.ts';
import { addStatusCommand } from './status.ts';
import { createTerminal, type Said } from './terminal.ts';
import { addUpdateCommand } from './update.ts';
import { addUsageCommand } from './usage.ts';
import { channelToParent, countWorkers } from './worker.ts';

/**
 * @param onServer given the server as soon as it can be stopped, before it listens
 * @param onReady called when the server listens
 */
export function createProgram(onServer: (server: RunningServer) => void, onReady: () => void) {
  const program = new CliCommand('isthmus')
    .description('One local address for every model client.')
    .version(VERSION)
    .exitOverride();
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
      // Loaded here: no other command needs the gateway.
      const server = isParent
        ? (await import('./workers.ts')).serveWithWorkers(count, flags)
        : await (await import('./serve.ts')).serve(flags);
      onServer(server);
      await server.listen();
      onReady();
    });
  addCommands(program, {
    connect: async (flags) => (await import('./connect.ts')).createConnect(readEnvironment)(flags),
    terminal: createTerminal(),
    clock: createSystemClock(),
  });
  return program;
}

const addHealth: AddCommand = localCommand<Said<'dataDir', string>>({
  name: 'health',
  description: 'say whether the gateway of this machine takes requests, for health checks',
  options: [new Option('--data-dir <folder>', 'folder whose settings name the gateway')],
  examples: [
    ['health', 'Ends with 0 when it takes requests, with 1 when it does not or nothing answers.'],
  ],
  load: async () => {
    const { checkHealth } = await import('./health.ts');
    return async ({ answer, terminal }, _argument, flags) => {
      const { text, ...health } = await checkHealth({ environment: readEnvironment(), flags });
      answer(health, () => terminal.print(text));
      if (!health.isReady) terminal.setFailed();
    };
  },
});

const addSecretRotate: AddCommand = localCommand<Said<'dataDir' | 'oldKeyFile', string>>({
  name: 'rotate',
  description: 'put another secret key in the place of the one in use; no gateway may run',
  options: [
    new Option('--old-key-file <file>', 'key until now, where ISTHMUS_SECRET_KEY is the next'),
    new Option('--data-dir <folder>', 'the data folder'),
  ],
  examples: [['secret rotate', 'Makes a new key in the data folder and seals everything with it.']],
  load: async () => {
    const { rotateSecretKey } = await import('./rotate-secret.ts');
    return ({ terminal, clock, answer }, _argument, flags) =>
      rotateSecretKey({ environment: readEnvironment(), ...flags, clock, terminal, answer });
  },
});

const addMigrateStore: AddCommand = localCommand<Said<'dataDir', string>>({
  name: 'migrate-store',
  description: 'copy what a data folder holds into the PostgreSQL of DATABASE_URL',
  options: [
    new Option('--from <store>', 'where it is').choices(['sqlite']).default('sqlite'),
    new Option('--to <store>', 'where it goes').choices(['postgres']).default('postgres'),
    new Option('--data-dir <folder>', 'the data folder'),
  ],
  load: async () => {
    const { migrateStore } = await import('./migrate-store.ts');
    return (context, _argument, { dataDir }) =>
      migrateStore({ ...context, environment: readEnvironment(), dataDir });
  },
});

/** The commands beside `serve`; each file has one of them, or a family. */
export function addCommands(program: CliCommand, parts: CommandParts): void {
  addAccountCommands(program, parts);
  addModelCommands(program, parts);
  addClientCommands(program, parts);
  addStatusCommand(program, parts);
  addHealth(program, parts);
  addDoctorCommand(program, parts);
  addKeyCommands(program, parts);
  addBudgetCommands(program, parts);
  addUsageCommand(program, parts);
  addBackupCommands(program, parts);
  addUpdateCommand(program, parts);
  addMigrateStore(program, parts);
  addCompletionCommands(program, parts);
  const secret = program.command('secret').description('the key that seals stored credentials');
  addSecretRotate(secret, parts);
}
