// What commands on the gateway's own machine show it in place of a password they cannot know.

import type { Settings } from '../config/effective.ts';
import { createMachineToken } from '../door/door.ts';
import { isPasswordHash } from '../door/password-hash.ts';
import { loadSecretKey } from '../sealing/secret-key.ts';

/**
 * The console password, or a token of the secret key where only its hash is known.
 * @throws Error when the secret key of the data folder cannot be read
 */
export function machineCredential({
  consolePassword,
  dataDir,
  secretKey: environmentKey,
}: Pick<Settings, 'consolePassword' | 'dataDir' | 'secretKey'>): string | undefined {
  if (consolePassword === undefined || !isPasswordHash(consolePassword)) return consolePassword;
  const { derive } = loadSecretKey({ dataDir, environmentKey });
  return createMachineToken(derive);
}
