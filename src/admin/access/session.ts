// `/api/session` and `/sign-in`: signing in and out, and asking for the password again.

import type { AccessControl } from '../../access/access.ts';
import { TIME } from '../../access/access-log.ts';
import { clientError, invalidRequest } from '../../canonical/error.ts';
import { told } from '../../lib/localized-message.ts';
import { named, object, optional } from '../../lib/object-schema.ts';
import {
  type AdminCaller,
  type AdminRoute,
  clearSessionCookie,
  writeSessionCookie,
} from '../../server/admin-route.ts';
import { type Notice, writeNotice } from '../notice-page.ts';
import { type ApiRoute, answerJson, defineRoute } from '../route.ts';

export const SESSION_SCHEMA = named('ConsoleSession', {
  signedIn: { type: 'boolean' },
  needsPassword: { type: 'boolean', description: 'Whether any password is configured.' },
  expiresAt: optional({ ...TIME, description: 'If nothing more comes from this browser.' }),
});

const PASSWORD_SCHEMA = object({ password: { type: 'string', minLength: 1, maxLength: 1024 } });

const SIGNED_IN_SCHEMA = named('SignedIn', { expiresAt: TIME });

const PATH = '/api/session';

export function createConsoleSessionRoutes({
  login,
  accessLog,
}: AccessControl): readonly ApiRoute[] {
  return [
    defineRoute({
      at: `GET ${PATH}`,
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
      at: `POST ${PATH}`,
      // Signing in stands in the access log.
      changes: false,
      access: 'public',
      title: 'signs a browser in with the console password',
      body: PASSWORD_SCHEMA,
      answers: { 200: { description: 'Its cookie is set.', schema: SIGNED_IN_SCHEMA } },
      async run({ body, caller }) {
        const { secret, expiresAt } = await login.signIn(body.password, caller);
        accessLog.add({ ...signedIn(caller), reason: told`With the console password.` });
        const cookie = writeSessionCookie(login.cookieTag, secret, caller.isSecure);
        return { kind: 'json', status: 200, body: { expiresAt }, cookie };
      },
    }),
    defineRoute({
      at: `DELETE ${PATH}`,
      shows: 'nothing',
      title: 'signs every browser out',
      answers: { 204: { description: 'No session is left.' } },
      async run({ caller }) {
        await login.endAllSessions();
        return { kind: 'empty', cookie: clearSessionCookie(login.cookieTag, caller.isSecure) };
      },
    }),
  ];
}

function signedIn({ address }: AdminCaller) {
  return { verdict: 'signed-in', address, method: 'POST', path: PATH, keyId: undefined } as const;
}

const SIGN_IN_PATH = '/sign-in';

const NOT_SIGNED_IN: Notice = {
  tone: 'bad',
  words: {
    en: {
      title: 'Not signed in',
      text:
        'This link was used already, is older than ten minutes, or was opened on another machine than ' +
        'the gateway’s. Restart the gateway for a new one, or <a href="/">sign in with the console password</a>.',
    },
    zh: {
      title: '未登录',
      text:
        '此链接已用过、已超过十分钟，或不是在网关所在的机器上打开的。' +
        '请重新启动网关以取得新的链接，或<a href="/">用控制台密码登录</a>。',
    },
  },
};

/** Public, as the link is what the browser proves itself with; whatever goes wrong looks the same. */
export function createSignInRoute({ login, accessLog }: AccessControl): AdminRoute {
  return {
    method: 'GET',
    path: SIGN_IN_PATH,
    access: 'public',
    title: 'signs a browser of this machine in by a one-time link',
    async run({ query, caller, isHead }) {
      const [token, ...others] = query.getAll('token');
      // What only looks, or fetches ahead, must not use the link up.
      const isMeant = !isHead && !caller.isPrefetch && caller.isLocal;
      const isAsked = isMeant && token !== undefined && others.length === 0;
      const session = isAsked ? await login.redeemLink(token, caller) : undefined;
      if (session === undefined) return writeNotice(NOT_SIGNED_IN, caller.language);
      const entry = { ...signedIn(caller), method: 'GET', path: SIGN_IN_PATH };
      accessLog.add({ ...entry, reason: told`With a one-time link.` });
      const cookie = writeSessionCookie(login.cookieTag, session.secret, caller.isSecure);
      return { kind: 'redirect', location: '/', cookie };
    },
  };
}

type Reauthentication = Pick<AdminCaller, 'address' | 'hasShownPassword' | 'passwordAgain'>;

/**
 * Scripts show the password with every request, and have proved themselves by it.
 * @param password where the body has it; else it comes in a header
 * @throws GatewayError invalid-request while it is missing, forbidden when it is wrong, rate-limited
 */
export async function requireReauthentication(
  access: Pick<AccessControl, 'login'> | undefined,
  { address, hasShownPassword, passwordAgain }: Reauthentication,
  password = passwordAgain,
): Promise<void> {
  if (!access?.login.needsPassword || hasShownPassword) return;
  if (password === undefined) {
    throw invalidRequest(
      'password',
      told`password: is needed again from a browser that is signed in. Nothing was done.`,
      'missing-field',
    );
  }
  if (await access.login.isPassword(password, address)) return;
  // Not 401: the session goes on.
  const message = told`password: that is not the console password.`;
  throw clientError('forbidden', message, { field: 'password' });
}
