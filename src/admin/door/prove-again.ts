// Asks a signed-in browser for the password once more, before what a found cookie must not do.

import { GatewayError, invalidRequest } from '../../canonical/error.ts';
import type { Door } from '../../door/door.ts';
import { told } from '../../lib/told.ts';
import type { AdminCaller } from '../../server/admin-route.ts';

type Prover = Pick<AdminCaller, 'address' | 'hasShownPassword' | 'passwordAgain'>;

/**
 * Scripts show the password with every request, and have proved themselves by it.
 * @param password where the body has it; else it comes in a header
 * @throws GatewayError invalid-request while it is missing, forbidden when it is wrong, rate-limited
 */
export async function proveAgain(
  door: Pick<Door, 'login'> | undefined,
  { address, hasShownPassword, passwordAgain }: Prover,
  password = passwordAgain,
): Promise<void> {
  if (!door?.login.needsPassword || hasShownPassword) return;
  if (password === undefined) {
    throw invalidRequest(
      'password',
      told`password: is needed again from a browser that is signed in. Nothing was done.`,
      'missing-field',
    );
  }
  if (await door.login.isPassword(password, address)) return;
  // Not 401: the session goes on.
  throw new GatewayError({
    kind: 'forbidden',
    source: 'client',
    field: 'password',
    message: told`password: that is not the console password.`,
  });
}
