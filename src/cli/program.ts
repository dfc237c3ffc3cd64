// The command line: commands, their flags, and what each runs.

import { Option } from 'commander';
import { readEnvironment } from '../config/env.ts';
import { AUTH_MODES, LOG_LEVELS, readHost, readPort } from '../config/values.ts';
import { createSystemClock } from '../lib/clock.ts';
import { addAccountCommands } from './accounts.ts';
import { createConnect } from './admin-client.ts';
import type { BackupFlags, RestoreFlags } from './backup.ts';
import { addBudgetCommands } from './budgets.ts';
import { addClientCommands } from './clients/commands.ts';
import { thisMachine } from './clients/place.ts';
import {
  type AddCommand,
  CA,
  CliCommand,
  type CommandParts,
  checked,
  localCommand,
  oneOf,
  refuseUnknownWords,
} from './command.ts';
import { addCompletionCommands } from './completion.ts';
import type { DoctorFlags } from './doctor/doctor.ts';
import { addKeyCommands } from './keys.ts';
import { addModels, addRoute } from './models.ts';
import { VERSION } from './package-name.ts';
import type { RunningServer } from './serve.ts';
import { addStatusCommand } from './status.ts';
import { createTerminal, type Said } from './terminal.ts';
import { addUsageCommand } from './usage.ts';
import { channelToParent } from './worker.ts';

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
    .option('--data-dir <folder>', 'folder of all data that the gateway stores')
    .action(async (flags) => {
      const { workers: count = 1 } = readEnvironment();
      const isParent = count > 1 && channelToParent() === undefined;
      // Loaded here: no other command needs the gateway.
      const server = isParent
        ? (await import('./workers.ts')).serveWithWorkers(count, flags)
        : await (await import('./serve.ts')).serve(flags);
      onServer(server);
      await server.listen();
      onReady();
    });
  refuseUnknownWords(program);
  addCommands(program, {
    connect: createConnect(readEnvironment),
    terminal: createTerminal(),
    clock: createSystemClock(),
  });
  return program;
}

const DATA_DIR = new Option('--data-dir <folder>', 'the data folder');

const addHealth: AddCommand = localCommand<Said<'dataDir', string>>({
  name: 'health',
  description: 'check whether the gateway of this machine accepts requests',
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

const addDoctor: AddCommand = localCommand<DoctorFlags>({
  name: 'doctor',
  description: 'check machine, settings, gateway and clients, and say how to fix what is wrong',
  options: [
    new Option('--generate', 'also request a one-token response of each account, which uses quota'),
    new Option('--url <address>', 'address of the gateway'),
    CA,
    new Option('--password-file <file>', 'file of the console password'),
    new Option('--data-dir <folder>', 'folder whose settings name the gateway'),
  ],
  examples: [
    ['doctor', 'Ends with 1 when it finds an error, with 5 when it finds a warning.'],
    ['doctor --generate --json', 'With a real request to each account, for a script.'],
  ],
  load: async () => {
    const [{ examine }, { findClients }] = await Promise.all([
      import('./doctor/doctor.ts'),
      import('./doctor/checks.ts'),
    ]);
    const found = () => findClients(thisMachine());
    return (context, _argument, flags) =>
      examine({ ...context, readEnvironment, fetch, findClients: found }, flags);
  },
});

const addBackup = localCommand<BackupFlags>({
  name: 'backup',
  description:
    'write database, settings and secret key of a data folder into one file, also while the gateway runs',
  argument: ['[file]', 'a new file, named by the time when absent; - is the standard output'],
  options: [
    DATA_DIR,
    new Option(
      '--passphrase-file <file>',
      'file of a passphrase that seals secret key and settings',
    ),
    new Option('--plain', 'leave secret key and settings unencrypted').conflicts('passphraseFile'),
    new Option('--without-secret-key', 'leave the secret key out'),
    new Option('--force', 'overwrite the file if it exists'),
  ],
  examples: [
    ['backup isthmus.tar.gz --passphrase-file passphrase.txt', 'For a job that runs at night.'],
    ['backup - --plain', 'To the standard output, such as out of a container.'],
  ],
  load: async () => {
    const { makeBackup } = await import('./backup.ts');
    return (context, file, flags) =>
      makeBackup({ ...context, environment: readEnvironment() }, file, flags);
  },
});

const addRestore = localCommand<RestoreFlags>({
  name: 'restore',
  description: 'put a backup into an empty data folder, after checking all of it',
  argument: ['<file>', 'a file of isthmus backup; - is the standard input'],
  options: [
    DATA_DIR,
    new Option('--passphrase-file <file>', 'file of the passphrase that sealed it'),
    new Option('--force', 'replace what is in the data folder, and keep a copy of it there'),
    new Option('--check', 'only check the backup, change nothing'),
  ],
  examples: [
    ['restore isthmus.tar.gz --data-dir ~/restored', 'Into a folder of its own.'],
    [
      'restore isthmus.tar.gz --check --passphrase-file passphrase.txt',
      'Whether it could be restored.',
    ],
  ],
  load: async () => {
    const { restoreBackup } = await import('./backup.ts');
    return (context, file, flags) =>
      restoreBackup({ ...context, environment: readEnvironment() }, file, flags);
  },
});

const addSecretRotate: AddCommand = localCommand<Said<'dataDir' | 'oldKeyFile', string>>({
  name: 'rotate',
  description: 'replace the secret key; no gateway may run',
  options: [
    new Option(
      '--old-key-file <file>',
      'file of the previous key, if ISTHMUS_SECRET_KEY is the new one',
    ),
    DATA_DIR,
  ],
  examples: [['secret rotate', 'Makes a new key in the data folder and seals everything with it.']],
  load: async () => {
    const { rotateSecretKey } = await import('./rotate-secret.ts');
    return ({ terminal, clock, answer }, _argument, flags) =>
      rotateSecretKey({ environment: readEnvironment(), ...flags, clock, terminal, answer });
  },
});

const addUpdate: AddCommand = localCommand<Said<'dataDir', string>>({
  name: 'update',
  description: 'say whether a newer version is published, and how to get it; changes nothing',
  options: [
    new Option('--data-dir <folder>', 'folder whose settings name the proxy to go through'),
  ],
  examples: [
    ['update', 'Ends with 5 when there is a newer version, with 0 when this is the newest.'],
  ],
  load: async () => {
    const { readProxyChoice, sayNewest } = await import('./update-check.ts');
    const { createOutboundFetch } = await import('../compose/outbound.ts');
    return async (context, _argument, flags) => {
      const proxyFor = await readProxyChoice(flags, readEnvironment(), context.terminal);
      await sayNewest(context, { fetch: createOutboundFetch(proxyFor) });
    };
  },
});

const addMigrateStore: AddCommand = localCommand<Said<'dataDir', string>>({
  name: 'migrate-store',
  description: 'copy what a data folder holds into the PostgreSQL of DATABASE_URL',
  options: [
    new Option('--from <store>', 'where the data is').choices(['sqlite']).default('sqlite'),
    new Option('--to <store>', 'where it is copied to').choices(['postgres']).default('postgres'),
    DATA_DIR,
  ],
  load: async () => {
    const { migrateStore } = await import('./migrate-store.ts');
    return (context, _argument, { dataDir }) =>
      migrateStore({ ...context, environment: readEnvironment(), dataDir });
  },
});

/** The commands beside `serve`. */
export function addCommands(program: CliCommand, parts: CommandParts): void {
  addAccountCommands(program, parts);
  addModels(program, parts);
  addRoute(program, parts);
  addClientCommands(program, parts);
  addStatusCommand(program, parts);
  addHealth(program, parts);
  addDoctor(program, parts);
  addKeyCommands(program, parts);
  addBudgetCommands(program, parts);
  addUsageCommand(program, parts);
  addBackup(program, parts);
  addRestore(program, parts);
  addUpdate(program, parts);
  addMigrateStore(program, parts);
  addCompletionCommands(program, parts);
  const secret = program.command('secret').description('the key that seals stored credentials');
  // It has no default one, which words that are no command arrive at.
  secret.on('command:*', ([word]: readonly string[]) => secret.refuse(word));
  addSecretRotate(secret, parts);
}
