// The process: compiled code from a cache, signals → shutdown, errors → exit status.

import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import type { RunningServer } from './cli/serve.ts';

// Reading the source as JavaScript is a good part of the start; where the folder cannot be written,
// node goes on without the cache.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/isthmus'));
const { createProgram } = await import('./cli/program.ts');

/** A terminal or a service manager signals every process, and `npm start` passes its signal on too. */
const ONE_SIGNAL_MS = 500;

let server: RunningServer | undefined;
let stoppingSince: number | undefined;
process.on('SIGTERM', stop);
process.on('SIGINT', stop);

try {
  const onServer = (started: RunningServer): void => {
    server = started;
  };
  await createProgram({ onServer, onReady: () => flushCompileCache() }).parseAsync();
} catch (error) {
  console.error(describe(error));
  process.exit(1);
}

/** The first signal drains; a later one, or one before there is anything to drain, ends at once. */
function stop(): void {
  if (stoppingSince !== undefined) {
    if (performance.now() - stoppingSince < ONE_SIGNAL_MS) return;
    process.exit(1);
  }
  if (server === undefined) process.exit(0);
  stoppingSince = performance.now();
  server.close().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(describe(error));
      process.exit(1);
    },
  );
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
