// The command line's entry: argv → command, signals → shutdown, errors → exit status.

import { Command, InvalidArgumentError } from 'commander';
import { VERSION } from './app.ts';
import { type RunningServer, serve } from './cli/serve.ts';
import { AUTH_MODES, LOG_LEVELS, readHost, readPort, readWord } from './config/values.ts';

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
  .action(async (flags) => stopOnSignal(await serve(flags)));

try {
  await program.parseAsync();
} catch (error) {
  console.error(describe(error));
  process.exit(1);
}

function stopOnSignal(server: RunningServer): void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(describe(error));
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
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

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return `${error.message}\nAnother program listens there. Choose another port with --port or PORT.`;
  }
  return error.message;
}
