// Says at the start when the system lets the gateway open too few files for the streams it is made for.

import { readFileSync } from 'node:fs';

/** A thousand streams, each with a socket to its client and one to its upstream, and what the gateway has open itself. */
const ENOUGH = 2200;

export interface OpenFilesOptions {
  readonly openFiles: number | undefined;
  readonly log: { warn(fields: object, message: string): void };
}

/** Node has raised the limit as far as it may by now. */
export function warnOfFewFiles({ openFiles, log }: OpenFilesOptions): void {
  if (openFiles === undefined || openFiles >= ENOUGH) return;
  log.warn(
    { openFiles },
    `The system lets this process open ${openFiles} files, and a stream takes two: beyond that, connections wait or fail. Raise it with "ulimit -Hn 4096", or LimitNOFILE= of the service.`,
  );
}

/** How many files the kernel lets this process have open (proc(5)); undefined where it says nothing. */
export function readOpenFiles(limits: string | undefined = readLimits()): number | undefined {
  const [, soft] = /^Max open files\s+(\d+)\s/m.exec(limits ?? '') ?? [];
  return soft === undefined ? undefined : Number(soft);
}

function readLimits(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
}
