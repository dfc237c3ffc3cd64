// What the machine may lack for a gateway to start well: open files, and an address to listen on; each with the way out.

import { readFileSync } from 'node:fs';
import type { Settings } from '../config/effective.ts';
import { codeOf } from '../lib/localized-message.ts';
import type { Log } from '../server/settings.ts';

/** A thousand streams, each with a socket to its client and one to its upstream, and what the gateway has open itself. */
const ENOUGH = 2200;

/** Node has raised the limit as far as it may by now. */
export function warnOfFewFiles(openFiles: number | undefined, log: Pick<Log, 'warn'>): void {
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

type Listening = Pick<Settings, 'host' | 'port'>;

/** The error of a listening socket with the way out behind its message; any other error as it is. */
export function explainListening(error: unknown, { host, port }: Listening): unknown {
  if (!(error instanceof Error)) return error;
  const wayOuts: Readonly<Record<string, string>> = {
    EADDRINUSE: 'Another program listens there. Choose another port with --port or PORT.',
    EACCES: `Port ${port} is kept for the administrator of this machine. Choose one from 1024 on with --port or PORT.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. ${CHOOSE_HOST}`,
    ENOTFOUND: `The name ${host} leads to no address. ${CHOOSE_HOST}`,
    EAI_AGAIN: `The name ${host} leads to no address. ${CHOOSE_HOST}`,
  };
  const wayOut = wayOuts[codeOf(error) ?? ''];
  return wayOut === undefined ? error : new Error(`${error.message}\n${wayOut}`, { cause: error });
}

const CHOOSE_HOST =
  'Set HOST, or proxy.host in gui_config.json, to 127.0.0.1 for this machine alone, to 0.0.0.0 for all networks, or to an address of this machine.';
