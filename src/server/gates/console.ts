// Lets a request into the admin API: with the console password, or from this machine while none is set.

import { GatewayError } from '../../canonical/error.ts';
import { createKeyRing } from './credentials.ts';
import { classifyPeer, type PeerInput } from './locality.ts';

export interface ConsoleInput {
  /** Undefined while neither a console password nor an API key is configured. */
  readonly password: string | undefined;
  readonly credentials: readonly string[];
  readonly peer: PeerInput;
}

/** The mode of model requests does not matter here: with a password it is asked for in every mode. */
export function authenticateConsole({ password, credentials, peer }: ConsoleInput): void {
  if (password === undefined) {
    if (classifyPeer(peer) === 'local') return;
    throw refused('Set WEB_PASSWORD where the gateway runs to use the admin API from elsewhere.');
  }
  const ring = createKeyRing([{ id: 'console', key: password }]);
  if (ring.find(credentials) !== undefined) return;
  throw refused('The admin API needs "Authorization: Bearer <console password>".');
}

function refused(message: string): GatewayError {
  return new GatewayError({ kind: 'unauthenticated', source: 'client', message });
}
