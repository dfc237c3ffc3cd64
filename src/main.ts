// The process: compiled code from a cache, signals → shutdown, errors → exit status.

import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { isSea } from 'node:sea';
import { missingEnvironment, NODE_FLAGS } from '../scripts/node-flags.mjs';
import type { RunningServer } from './cli/serve.ts';

startWithFlags();

// Reading the source as JavaScript is a good part of the start; where the folder cannot be written,
// node goes on without the cache.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/isthmus'));
const { createProgram } = await import('./cli/program.ts');
const { EXIT_CODES, exitReasonOf, isPrinted } = await import('./cli/exit-codes.ts');

/** A terminal or a service manager signals every process, and `npm start` passes its signal on too. */
const ONE_SIGNAL_MS = 500;

let server: RunningServer | undefined;
let stoppingSince: number | undefined;
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
process.stdout.on('error', failCommand);

try {
  const onServer = (started: RunningServer): void => {
    server = started;
  };
  await createProgram(onServer, flushCompileCache).parseAsync();
} catch (error) {
  const reason = exitReasonOf(error);
  if (!isPrinted(error)) console.error(describe(error));
  else if (reason === 'usage' && process.argv.includes('--json')) {
    // Commander has said it in words alone.
    const message = describe(error).replace(/^error: /, '');
    console.log(JSON.stringify({ error: { reason, message } }, null, 2));
  }
  process.exit(EXIT_CODES[reason].code);
}

/**
 * The process that serves begins again with what `npm start` gives, unless it has that: allocator and heap read their
 * flags at the start alone. It stays the same process to whoever started it. Windows has no such call, and serves without.
 */
function startWithFlags(): void {
  const [word = 'serve'] = process.argv.slice(2);
  const isServing = word === 'serve' || word.startsWith('-');
  const environment = missingEnvironment();
  if (!isServing || environment === undefined || process.platform === 'win32') return;
  // Of node's permission model, which would refuse it.
  if (process.permission?.has('child') === false) return;
  if (isSea()) {
    // It hands the program all its words, and reads flags of node from the environment alone.
    const allowed = NODE_FLAGS.filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));
    environment.NODE_OPTIONS = [...allowed, environment.NODE_OPTIONS ?? ''].join(' ').trim();
    process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], environment);
  }
  const words = [process.execPath, ...NODE_FLAGS, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, words, environment);
}

/** The first signal drains; a later one, or one before there is anything to drain, ends at once. */
function stop(signal: NodeJS.Signals): void {
  if (stoppingSince !== undefined) {
    if (performance.now() - stoppingSince < ONE_SIGNAL_MS) return;
    process.exit(1);
  }
  if (server === undefined) process.exit(signal === 'SIGINT' ? EXIT_CODES.interrupted.code : 0);
  stoppingSince = performance.now();
  server.close().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(describe(error));
      process.exit(1);
    },
  );
}

/** An answer that was lost is no answer, unless its reader has read enough; a gateway serves without its output. */
function failCommand(error: NodeJS.ErrnoException): void {
  if (server !== undefined || error.code === 'EPIPE') return;
  console.error(`The output cannot be written: ${error.message}`);
  process.exitCode = EXIT_CODES.failed.code;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
