// Keeps the browser in that sets another console password; all others have to sign in anew.

import type { Door } from '../../door/door.ts';
import type { AdminAnswer, AdminCaller } from '../../server/admin-route.ts';
import { writeSessionCookie } from '../../server/gates/session-cookie.ts';

/**
 * A change that ends the session of its author, or begins to ask for a password, answers with a session of the
 * new password. Scripts, which show the password, get none.
 */
export async function keepSignedIn(
  door: Pick<Door, 'login'> | undefined,
  caller: AdminCaller,
  change: () => Promise<AdminAnswer>,
): Promise<AdminAnswer> {
  if (door === undefined) return change();
  const { login } = door;
  const isIn = (): boolean =>
    !login.needsPassword || (caller.cookie !== undefined && login.hasSession(caller.cookie));
  const wasIn = isIn();
  const answer = await change();
  if (!wasIn || isIn() || answer.kind !== 'json') return answer;
  const { secret } = await login.goOn(caller);
  return { ...answer, cookie: writeSessionCookie(login.cookieTag, secret, caller.isSecure) };
}
