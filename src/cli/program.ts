// The command line: commands, their flags, and what each runs.

import { Command, InvalidArgumentError } from 'commander';
import { VERSION } from '../app.ts';
import { readEnvironment } from '../config/env.ts';
import { AUTH_MODES, LOG_LEVELS, readHost, readPort, readWord } from '../config/values.ts';
import { createSystemClock } from '../lib/clock.ts';
import { addAdminCommands } from './admin-commands.ts';
import { type RunningServer, serve } from './serve.ts';
import { createTerminal } from './terminal.ts';

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
