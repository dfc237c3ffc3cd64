// Asks a signed-in browser for the password once more, before what a found cookie must not take.

import { GatewayError, invalidRequest } from '../../canonical/error.ts';
import type { Door } from '../../door/door.ts';
import type { AdminCaller } from '../../server/admin-route.ts';

/**
 * Scripts show the password with every request, and have proved themselves by it.
 * @throws GatewayError invalid-request while it is missing, forbidden when it is wrong, rate-limited
 */
export async function proveAgain(
  door: Pick<Door, 'login'> | undefined,
  { address, cookie }: Pick<AdminCaller, 'address' | 'cookie'>,
  password: string | undefined,
): Promise<void> {
  if (!door?.login.needsPassword) return;
  const { login } = door;
  if (cookie === undefined || !login.hasSession(cookie)) return;
  if (password === undefined) {
    throw invalidRequest(
      'password',
      'password: is needed again from a browser that is signed in.',
      'missing-field',
    );
  }
  if (await login.isPassword(password, address)) return;
  // Not 401: the session goes on.
  throw new GatewayError({
    kind: 'forbidden',
    source: 'client',
    field: 'password',
    message: 'password: that is not the console password.',
  });
}
