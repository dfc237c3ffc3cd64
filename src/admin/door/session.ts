// `/api/session`: signing a browser in and out.

import type { Door } from '../../door/door.ts';
import { told } from '../../lib/told.ts';
import type { AdminCaller } from '../../server/admin-route.ts';
import { clearSessionCookie, writeSessionCookie } from '../../server/gates/session-cookie.ts';
import { type ApiRoute, answerJson, defineRoute } from '../api-route.ts';
import { PASSWORD_SCHEMA, SESSION_SCHEMA, SIGNED_IN_SCHEMA } from './schemas.ts';

const PATH = '/api/session';

export function createSessionRoutes({
  login,
  accessLog,
}: Pick<Door, 'login' | 'accessLog'>): readonly ApiRoute[] {
  const noteSignIn = ({ address }: AdminCaller): void =>
    accessLog.add({
      verdict: 'signed-in',
      address,
      method: 'POST',
      path: PATH,
      keyId: undefined,
      reason: told`With the console password.`,
    });
  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      access: 'public',
      title: 'says whether this browser is signed in',
      answers: { 200: { description: 'The session.', schema: SESSION_SCHEMA } },
      async run({ caller }) {
        const { needsPassword } = login;
        // Without a password every program of this machine is let in.
        if (!needsPassword) return answerJson({ signedIn: caller.isLocal, needsPassword });
        const session = caller.cookie === undefined ? undefined : login.findSession(caller.cookie);
        return answerJson({ signedIn: session !== undefined, needsPassword, ...session });
      },
    }),
    defineRoute({
      method: 'POST',
      path: PATH,
      access: 'public',
      title: 'signs a browser in with the console password',
      body: PASSWORD_SCHEMA,
      answers: { 200: { description: 'Its cookie is set.', schema: SIGNED_IN_SCHEMA } },
      async run({ body, caller }) {
        const { secret, expiresAt } = await login.signIn(body.password, caller);
        noteSignIn(caller);
        const cookie = writeSessionCookie(login.cookieTag, secret, caller.isSecure);
        return { kind: 'json', status: 200, body: { expiresAt }, cookie };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: PATH,
      title: 'signs every browser out',
      answers: { 204: { description: 'No session is left.' } },
      async run({ caller }) {
        await login.endAllSessions();
        return { kind: 'empty', cookie: clearSessionCookie(login.cookieTag, caller.isSecure) };
      },
    }),
  ];
}
