// `GET /sign-in`: takes a browser of this machine in by a one-time link.

import type { Door } from '../../door/door.ts';
import { told } from '../../lib/told.ts';
import type { AdminRoute } from '../../server/admin-route.ts';
import { writeSessionCookie } from '../../server/gates/session-cookie.ts';
import { type Notice, writeNotice } from '../notice-page.ts';

const PATH = '/sign-in';

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
export function createSignInRoute({
  login,
  accessLog,
}: Pick<Door, 'login' | 'accessLog'>): AdminRoute {
  return {
    method: 'GET',
    path: PATH,
    access: 'public',
    title: 'signs a browser of this machine in by a one-time link',
    async run({ query, caller, isHead }) {
      const [token, ...others] = query.getAll('token');
      // What only looks, or fetches ahead, must not use the link up.
      const isMeant = !isHead && !caller.isPrefetch && caller.isLocal;
      const isAsked = isMeant && token !== undefined && others.length === 0;
      const session = isAsked ? await login.redeemLink(token, caller) : undefined;
      if (session === undefined) return writeNotice(NOT_SIGNED_IN, caller.language);
      accessLog.add({
        verdict: 'signed-in',
        address: caller.address,
        method: 'GET',
        path: PATH,
        keyId: undefined,
        reason: told`With a one-time link.`,
      });
      const cookie = writeSessionCookie(login.cookieTag, session.secret, caller.isSecure);
      return { kind: 'redirect', location: '/', cookie };
    },
  };
}
