// Says at the start when the system lets the gateway open too few files for the streams it is made for.

import { readFileSync } from 'node:fs';

/** A thousand streams, each with a socket to its client and one to its upstream, and what the gateway has open itself. */
const ENOUGH = 2200;

export interface OpenFilesOptions {
  /** What the kernel says of the limits of this process; undefined where it says nothing. */
  readonly limits: string | undefined;
  readonly log: { warn(fields: object, message: string): void };
}

/** Node has raised the limit as far as it may by now. */
export function warnOfFewFiles({ limits, log }: OpenFilesOptions): void {
  const [, soft] = /^Max open files\s+(\d+)\s/m.exec(limits ?? '') ?? [];
  if (soft === undefined || Number(soft) >= ENOUGH) return;
  log.warn(
    { openFiles: Number(soft) },
    `The system lets this process open ${soft} files, and a stream takes two: beyond that, connections wait or fail. Raise it with "ulimit -Hn 4096", or LimitNOFILE= of the service.`,
  );
}

/** The text of `/proc/self/limits` (proc(5)); undefined on systems without it. */
export function readLimits(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
}
