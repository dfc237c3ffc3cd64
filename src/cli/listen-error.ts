// Says what to do when the gateway cannot listen where it is told to.

import type { Settings } from '../config/effective.ts';

/** The error of a listening socket with the way out behind its message; any other error as it is. */
export function explainListening(
  error: unknown,
  { host, port }: Pick<Settings, 'host' | 'port'>,
): unknown {
  const wayOut = wayOutOf(error, { host, port });
  if (!(error instanceof Error) || wayOut === undefined) return error;
  return new Error(`${error.message}\n${wayOut}`, { cause: error });
}

function wayOutOf(
  error: unknown,
  { host, port }: Pick<Settings, 'host' | 'port'>,
): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return 'Another program listens there. Choose another port with --port or PORT.';
    case 'EACCES':
      return `Port ${port} is kept for the administrator of this machine. Choose one from 1024 on with --port or PORT.`;
    case 'EADDRNOTAVAIL':
      return `This machine has no address ${host}. ${CHOOSE_HOST}`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The name ${host} leads to no address. ${CHOOSE_HOST}`;
    default:
      return undefined;
  }
}

const CHOOSE_HOST =
  'Set HOST, or proxy.host in gui_config.json, to 127.0.0.1 for this machine alone, to 0.0.0.0 for all networks, or to an address of this machine.';
